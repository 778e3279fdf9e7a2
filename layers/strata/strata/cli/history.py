"""``strata history``: versions of a memory."""

import difflib
from dataclasses import asdict

import click

from strata.cli.connection import as_json, connected
from strata.cli.output import show, show_or_table, show_record, table
from strata.client import MemoryClient

COLUMNS = ("version", "change", "content", "agent_id", "reason", "conflict", "created_at")
OF_MEMORY = (
    click.option("--collection", required=True, help="Collection of the memory."),
    click.option("--memory-id", required=True, help="The memory."),
)


@click.group()
def history() -> None:
    """Versions of a memory."""


@history.command()
@OF_MEMORY[0]
@OF_MEMORY[1]
@as_json
@connected
def get(client: MemoryClient, collection: str, memory_id: str, *, as_json: bool) -> None:
    """List every version, oldest first."""
    rows = [asdict(version) for version in client.history(collection, memory_id)]
    show_or_table(rows, rows, COLUMNS, json_=as_json)


@history.command()
@OF_MEMORY[0]
@OF_MEMORY[1]
@click.option("--version", required=True, type=int, help="Version whose content comes back.")
@click.option("--reason", default="", help="Why.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json
@connected
def rollback(
    client: MemoryClient, collection: str, memory_id: str, version: int, reason: str, *, yes: bool, as_json: bool
) -> None:
    """Show who has read what would be replaced, ask, and bring a version back as a new one."""
    shown = client.rollback(collection, memory_id, version, dry_run=True)
    if not as_json:
        click.echo(f"{len(shown.readers)} deliveries of later versions:")
        table([asdict(reader) for reader in shown.readers], ("agent_id", "version", "session_id", "read_at"))
    if not yes:
        click.confirm(f"Roll {memory_id} back to version {version}?", abort=True, err=True)
    done = client.rollback(collection, memory_id, version, reason=reason)
    now = {"memory_id": done.memory.memory_id, "version": done.memory.version, "content": done.memory.content}
    show_record({**now, "readers": len(done.readers)}, json_=as_json)


@history.command()
@OF_MEMORY[0]
@OF_MEMORY[1]
@click.option("--version", type=int, help="Only readers of this version.")
@as_json
@connected
def reads(client: MemoryClient, collection: str, memory_id: str, version: int | None, *, as_json: bool) -> None:
    """List who was given the memory, newest first."""
    rows = [asdict(read) for read in client.reads(collection, memory_id, version=version)]
    show_or_table(rows, rows, ("agent_id", "version", "session_id", "read_at"), json_=as_json)


@history.command()
@OF_MEMORY[0]
@OF_MEMORY[1]
@click.option("--version", type=int, help="Only what followed on this version.")
@as_json
@connected
def impact(client: MemoryClient, collection: str, memory_id: str, version: int | None, *, as_json: bool) -> None:
    """List what the sessions that were given the memory wrote afterwards."""
    found = client.impact(collection, memory_id, version=version)
    rows = found.written
    document = {"reads": [asdict(read) for read in found.reads], "written": rows}
    show_or_table(
        document, rows, ("memory_id", "version", "change", "content", "agent_id", "created_at"), json_=as_json
    )


@history.command()
@OF_MEMORY[0]
@OF_MEMORY[1]
@click.argument("old", type=int)
@click.argument("new", type=int)
@as_json
@connected
def diff(client: MemoryClient, collection: str, memory_id: str, old: int, new: int, *, as_json: bool) -> None:
    """Compare two versions word by word: [-gone-] {+come+}."""
    contents = {version.version: version.content for version in client.history(collection, memory_id)}
    if not {old, new} <= contents.keys():
        raise click.BadParameter(f"there are versions {min(contents)} to {max(contents)}")
    text = compared(contents[old], contents[new])
    if as_json:
        show({"memory_id": memory_id, "old": contents[old], "new": contents[new], "compared": text})
    else:
        click.echo(text)


def compared(old: str, new: str) -> str:
    """Return the newer text with what went and what came marked in it."""
    pieces: list[str] = []
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    for kind, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if kind == "equal":
            pieces.append(old[old_from:old_to])
            continue
        pieces.append(f"[-{old[old_from:old_to]}-]" if old_to > old_from else "")
        pieces.append(f"{{+{new[new_from:new_to]}+}}" if new_to > new_from else "")
    return "".join(pieces)
