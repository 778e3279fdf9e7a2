"""``strata agents``: profiles and keys."""

from typing import Any

import click

from strata.cli.connection import as_json, connected
from strata.cli.output import show, show_or_table
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
