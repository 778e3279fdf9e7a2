"""``strata collections``: policies and registrations."""

from datetime import datetime

import click

from strata.cli.connection import as_json, connected
from strata.cli.output import INSTANT, show_record
from strata.client import MemoryClient
from strata.client.transport import collection_path, quoted


@click.group()
def collections() -> None:
    """Policies of collections and registrations."""


@collections.command()
@click.argument("collection")
@click.option("--read", "readers", multiple=True, help="Agent that may register to read; repeat. None = every agent.")
@click.option("--write", "writers", multiple=True, help="Agent that may register to write; repeat.")
@click.option("--type", "types", multiple=True, help="Memory type that may be kept there; repeat.")
@click.option("--reject", is_flag=True, help="Refuse outdated updates instead of letting the last writer win.")
@as_json
@connected
def put(
    client: MemoryClient,
    collection: str,
    *,
    readers: tuple[str, ...],
    writers: tuple[str, ...],
    types: tuple[str, ...],
    reject: bool,
    as_json: bool,
) -> None:
    """Create a collection or change its policy."""
    body = {
        "read_agents": list(readers) or None,
        "write_agents": list(writers) or None,
        "memory_types": list(types) or None,
        "conflict_policy": "reject" if reject else "last_writer_wins",
    }
    show_record(client.call("PUT", collection_path(collection), body), json_=as_json)


@collections.command()
@click.argument("collection")
@as_json
@connected
def get(client: MemoryClient, collection: str, *, as_json: bool) -> None:
    """Show a policy."""
    show_record(client.call("GET", collection_path(collection)), json_=as_json)


@collections.command()
@click.argument("collection")
@as_json
@connected
def delete(client: MemoryClient, collection: str, *, as_json: bool) -> None:
    """Delete a collection without live memories."""
    show_record(client.call("DELETE", collection_path(collection)), json_=as_json)


@collections.command()
@click.argument("collection")
@click.argument("agent_id")
@click.option("--read/--no-read", default=True, show_default=True)
@click.option("--write/--no-write", default=False, show_default=True)
@click.option("--type", "types", multiple=True, help="Memory type; repeat. None = every type allowed there.")
@click.option("--until", type=INSTANT, help="When the grant ends, e.g. 2026-03-10T08:00:00+08:00.")
@as_json
@connected
def register(  # noqa: PLR0913 one for each option
    client: MemoryClient,
    *,
    collection: str,
    agent_id: str,
    read: bool,
    write: bool,
    types: tuple[str, ...],
    until: datetime | None,
    as_json: bool,
) -> None:
    """Register an agent."""
    ends = until.isoformat() if until else None
    body = {"read": read, "write": write, "memory_types": list(types) or None, "expires_at": ends}
    show_record(
        client.call("PUT", f"{collection_path(collection)}/registrations/{quoted(agent_id)}", body), json_=as_json
    )


@collections.command()
@click.argument("collection")
@click.argument("agent_id")
@as_json
@connected
def unregister(client: MemoryClient, collection: str, agent_id: str, *, as_json: bool) -> None:
    """Revoke a registration."""
    show_record(client.call("DELETE", f"{collection_path(collection)}/registrations/{quoted(agent_id)}"), json_=as_json)
