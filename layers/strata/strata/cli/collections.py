"""``strata collections``: policies and registrations."""

import click

from strata.cli.connection import connected
from strata.cli.output import show
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
@connected
def put(
    client: MemoryClient,
    collection: str,
    *,
    readers: tuple[str, ...],
    writers: tuple[str, ...],
    types: tuple[str, ...],
    reject: bool,
) -> None:
    """Create a collection or change its policy."""
    body = {
        "read_agents": list(readers) or None,
        "write_agents": list(writers) or None,
        "memory_types": list(types) or None,
        "conflict_policy": "reject" if reject else "last_writer_wins",
    }
    show(client.call("PUT", collection_path(collection), body))


@collections.command()
@click.argument("collection")
@connected
def get(client: MemoryClient, collection: str) -> None:
    """Show a policy."""
    show(client.call("GET", collection_path(collection)))


@collections.command()
@click.argument("collection")
@connected
def delete(client: MemoryClient, collection: str) -> None:
    """Delete a collection without live memories."""
    show(client.call("DELETE", collection_path(collection)))


@collections.command()
@click.argument("collection")
@click.argument("agent_id")
@click.option("--read/--no-read", default=True, show_default=True)
@click.option("--write/--no-write", default=False, show_default=True)
@click.option("--type", "types", multiple=True, help="Memory type; repeat. None = every type allowed there.")
@connected
def register(
    client: MemoryClient, collection: str, agent_id: str, *, read: bool, write: bool, types: tuple[str, ...]
) -> None:
    """Register an agent."""
    body = {"read": read, "write": write, "memory_types": list(types) or None}
    show(client.call("PUT", f"{collection_path(collection)}/registrations/{quoted(agent_id)}", body))


@collections.command()
@click.argument("collection")
@click.argument("agent_id")
@connected
def unregister(client: MemoryClient, collection: str, agent_id: str) -> None:
    """Revoke a registration."""
    show(client.call("DELETE", f"{collection_path(collection)}/registrations/{quoted(agent_id)}"))
