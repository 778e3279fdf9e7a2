"""``strata agents``: profiles and keys."""

from datetime import datetime
from typing import Any

import click

from strata.cli.connection import as_json, connected
from strata.cli.operator import access, product
from strata.cli.output import show, show_or_table, table
from strata.client import MemoryClient
from strata.client.transport import quoted

COLUMNS = ("agent_id", "target_id", "long_memory_provider", "open_long_memory", "context_rounds", "role")


@click.group()
def agents() -> None:
    """Agents, their profiles and keys."""


@agents.command()
@click.argument("agent_id")
@click.option("--target", "target_id", default="", help="Model the agent is bound to; empty = no long memory.")
@click.option("--provider", default="MEMOS", type=click.Choice(["MEMOS", "MYSQL", "MEM0"]), show_default=True)
@click.option("--open/--closed", "open_long_memory", default=False, help="Switch the long memory on.")
@click.option("--rounds", default=10, show_default=True, help="Rounds of history in a context.")
@click.option("--role", default="agent", type=click.Choice(["agent", "admin"]), show_default=True)
@connected
def put(client: MemoryClient, agent_id: str, provider: str, rounds: int, **fields: Any) -> None:  # noqa: ANN401
    """Create or replace an agent."""
    body = {**fields, "long_memory_provider": provider, "context_rounds": rounds}
    show(client.call("PUT", f"/v1/agents/{quoted(agent_id)}", body))


@agents.command()
@click.argument("agent_id")
@connected
def get(client: MemoryClient, agent_id: str) -> None:
    """Show a profile."""
    show(client.call("GET", f"/v1/agents/{quoted(agent_id)}"))


@agents.command("list")
@as_json
@connected
def list_agents(client: MemoryClient, *, as_json: bool) -> None:
    """List profiles."""
    found = client.call("GET", "/v1/agents", query={"limit": 500})
    show_or_table(found, found["agents"], COLUMNS, json_=as_json)


@agents.command()
@click.argument("agent_id")
@click.option("--role", type=click.Choice(["agent", "admin"]))
@connected
def key(client: MemoryClient, agent_id: str, role: str | None) -> None:
    """Make a key; it is shown this once."""
    show(client.call("POST", f"/v1/agents/{quoted(agent_id)}/keys", {"role": role}, safe=False))


@agents.command()
@click.argument("agent_id")
@click.argument("key_id")
@connected
def revoke(client: MemoryClient, agent_id: str, key_id: str) -> None:
    """Revoke a key."""
    show(client.call("DELETE", f"/v1/agents/{quoted(agent_id)}/keys/{quoted(key_id)}"))


@agents.command()
@click.argument("agent_id")
@click.option("--since", required=True, help="Instant with an offset, e.g. 2026-03-10T08:00:00+08:00.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def undo(agent_id: str, since: str, *, yes: bool) -> None:
    """Show what an agent wrote since an instant, ask, and take it back as new versions."""
    with product() as runtime:
        plan = runtime.undo.of_agent(access(runtime), agent_id, datetime.fromisoformat(since))
        rows = [
            {"memory_id": step.memory_id, "change": step.change.value, "from": step.from_version, "to": step.to_version}
            for step in plan.steps
        ]
        table(rows, ("memory_id", "change", "from", "to"))
        if not yes:
            click.confirm(f"Take back {len(rows)} memories?", abort=True, err=True)
        done = runtime.undo.of_agent(access(runtime), agent_id, datetime.fromisoformat(since), dry_run=False)
    click.echo(f"{done.applied} taken back, {len(done.kept)} left as they are")
