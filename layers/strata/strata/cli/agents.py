"""``strata agents``: profiles and keys."""

from datetime import datetime
from typing import Any

import click

from strata.cli.connection import as_json, connected
from strata.cli.operator import access, product
from strata.cli.output import INSTANT, show_or_table, show_record, table
from strata.client import MemoryClient
from strata.client.transport import quoted
from strata.sharing.undo import UndoPlan

COLUMNS = ("agent_id", "target_id", "long_memory_provider", "open_long_memory", "context_rounds", "role")
KEY_COLUMNS = ("key_id", "role", "created_at", "revoked_at")
STEP_COLUMNS = ("memory_id", "change", "from", "to")


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
@as_json
@connected
def put(client: MemoryClient, agent_id: str, provider: str, rounds: int, *, as_json: bool, **fields: Any) -> None:  # noqa: ANN401
    """Create or replace an agent."""
    body = {**fields, "long_memory_provider": provider, "context_rounds": rounds}
    show_record(client.call("PUT", f"/v1/agents/{quoted(agent_id)}", body), json_=as_json)


@agents.command()
@click.argument("agent_id")
@as_json
@connected
def get(client: MemoryClient, agent_id: str, *, as_json: bool) -> None:
    """Show a profile."""
    show_record(client.call("GET", f"/v1/agents/{quoted(agent_id)}"), json_=as_json)


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
@as_json
@connected
def key(client: MemoryClient, agent_id: str, role: str | None, *, as_json: bool) -> None:
    """Make a key; it is shown this once."""
    made = client.call("POST", f"/v1/agents/{quoted(agent_id)}/keys", {"role": role}, safe=False)
    show_record(made, json_=as_json)


@agents.command()
@click.argument("agent_id")
@as_json
@connected
def keys(client: MemoryClient, agent_id: str, *, as_json: bool) -> None:
    """List an agent's keys, without their secrets."""
    found = client.call("GET", f"/v1/agents/{quoted(agent_id)}/keys")
    show_or_table(found, found["keys"], KEY_COLUMNS, json_=as_json)


@agents.command()
@click.argument("agent_id")
@click.argument("key_id")
@as_json
@connected
def revoke(client: MemoryClient, agent_id: str, key_id: str, *, as_json: bool) -> None:
    """Revoke a key, and list what the agent has."""
    found = client.call("DELETE", f"/v1/agents/{quoted(agent_id)}/keys/{quoted(key_id)}")
    show_or_table(found, found["keys"], KEY_COLUMNS, json_=as_json)


@agents.command()
@click.argument("agent_id")
@click.option("--since", required=True, type=INSTANT, help="Instant with an offset, e.g. 2026-03-10T08:00:00+08:00.")
@click.option("--dry-run", is_flag=True, help="Only show what would be taken back.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json
def undo(agent_id: str, since: datetime, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Show what an agent wrote since an instant, ask, and take it back as new versions."""
    with product() as runtime:
        plan = runtime.undo.of_agent(access(runtime), agent_id, since)
        if not (dry_run or (as_json and yes)):
            table(_steps(plan), STEP_COLUMNS)
            click.echo(f"{len(plan.leaving)} copies at providers, {len(plan.kept)} memories left as they are")
        if not dry_run and not yes:
            click.confirm(f"Take back {len(plan.steps)} memories?", abort=True, err=True)
        if not dry_run:
            plan = runtime.undo.of_agent(access(runtime), agent_id, since, dry_run=False)
    document = {"steps": _steps(plan), "left": plan.left, "leaving": plan.leaving, "applied": plan.applied}
    if as_json or dry_run:
        show_or_table(document, _steps(plan), STEP_COLUMNS, json_=as_json)
    else:
        click.echo(f"{plan.applied} taken back, {len(plan.kept)} left as they are")


def _steps(plan: UndoPlan) -> list[dict[str, Any]]:
    return [
        {"memory_id": step.memory_id, "change": step.change.value, "from": step.from_version, "to": step.to_version}
        for step in plan.steps
    ]
