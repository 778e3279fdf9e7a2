"""``strata memories``: the library."""

from dataclasses import asdict
from pathlib import Path

import click

from strata.cli.connection import as_json, connected
from strata.cli.operator import access, product
from strata.cli.output import show_or_table, show_record
from strata.client import MemoryClient

COLUMNS = ("memory_id", "memory_type", "content", "version", "agent_id", "updated_at")


@click.group()
def memories() -> None:
    """Search, write and read memories."""


@memories.command("list")
@click.argument("collection")
@click.option("--type", "types", multiple=True, help="Memory type; repeat.")
@as_json
@connected
def list_memories(client: MemoryClient, collection: str, types: tuple[str, ...], *, as_json: bool) -> None:
    """List the live memories of a collection."""
    rows = [asdict(record) for record in client.memories(collection, memory_types=types or None)]
    show_or_table(rows, rows, COLUMNS, json_=as_json)


@memories.command()
@click.argument("collection")
@click.argument("query")
@click.option("--type", "types", multiple=True, help="Memory type; repeat.")
@click.option("--tag", "tags", multiple=True, help="key=value that has to match exactly; repeat.")
@click.option("--mode", default="hybrid", type=click.Choice(["hybrid", "semantic", "keyword"]), show_default=True)
@click.option("--top-k", default=5, show_default=True)
@click.option("--threshold", default=0.0, show_default=True)
@as_json
@connected
def search(  # noqa: PLR0913 one for each option
    client: MemoryClient,
    *,
    collection: str,
    query: str,
    types: tuple[str, ...],
    tags: tuple[str, ...],
    mode: str,
    top_k: int,
    threshold: float,
    as_json: bool,
) -> None:
    """Find memories by words, meaning and tags."""
    found = client.search_similar(
        collection,
        query,
        threshold,
        memory_types=types or None,
        tags=_pairs(tags),
        mode=mode,
        top_k=top_k,
    )
    rows = [asdict(record) for record in found]
    show_or_table(rows, rows, ("score", "signals", *COLUMNS), json_=as_json)


@memories.command()
@click.argument("collection")
@click.argument("memory_type")
@click.argument("content")
@click.option("--tag", "tags", multiple=True, help="key=value; repeat.")
@click.option("--ttl-seconds", type=int, help="Life; 0 = for ever; default is the type's.")
@as_json
@connected
def add(
    client: MemoryClient,
    *,
    collection: str,
    memory_type: str,
    content: str,
    tags: tuple[str, ...],
    ttl_seconds: int | None,
    as_json: bool,
) -> None:
    """Keep a memory, looking first."""
    done = client.insert_memory(collection, memory_type, content, metadata=_pairs(tags), ttl_seconds=ttl_seconds)
    show_record(asdict(done), json_=as_json)


@memories.command()
@click.argument("collection")
@click.argument("memory_id")
@as_json
@connected
def get(client: MemoryClient, collection: str, memory_id: str, *, as_json: bool) -> None:
    """Show one memory."""
    show_record(asdict(client.get_memory(collection, memory_id)), json_=as_json)


@memories.command()
@click.argument("collection")
@click.argument("memory_id")
@click.option("--reason", default="", help="Why.")
@as_json
@connected
def delete(client: MemoryClient, collection: str, memory_id: str, reason: str, *, as_json: bool) -> None:
    """Delete a memory; consolidation does not bring it back."""
    client.delete_memory(collection, memory_id, reason=reason)
    show_record({"memory_id": memory_id, "status": "deleted"}, json_=as_json)


@memories.command()
@click.argument("collection")
@click.argument("memory_id")
@click.option("--reason", default="", help="Why.")
@as_json
def restore(collection: str, memory_id: str, reason: str, *, as_json: bool) -> None:
    """Bring a deleted or superseded memory back as a new version."""
    with product() as runtime:
        written = runtime.library.restore(access(runtime), collection, memory_id, reason=reason)
    back = {"memory_id": written.memory.memory_id, "version": written.memory.version, "status": "restored"}
    show_record(back, json_=as_json)


@memories.command("export")
@click.argument("collection")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@as_json
def export_lines(collection: str, file: Path, *, as_json: bool) -> None:
    """Write the memories of a collection to FILE, one JSON line each."""
    with product() as runtime, file.open("w", encoding="utf-8") as out:
        written = sum(bool(out.write(line)) for line in runtime.transfer.export(access(runtime), collection))
    show_record({"collection": collection, "exported": written}, json_=as_json)


@memories.command("import")
@click.argument("collection")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@as_json
def import_lines(collection: str, file: Path, *, as_json: bool) -> None:
    """Write exported memories as they were; those that are there already stay. Exit status 1 if a line was refused."""
    with product() as runtime, file.open(encoding="utf-8") as lines:
        done = runtime.transfer.import_lines(access(runtime), collection, lines)
    refused = [{"line": number, "reason": reason} for number, reason in done.refused]
    show_record({"written": done.written, "present": done.present, "refused": refused}, json_=as_json)
    raise SystemExit(1 if done.refused else 0)


def _pairs(tags: tuple[str, ...]) -> dict[str, str]:
    for tag in tags:
        if "=" not in tag:
            raise click.BadParameter(f"{tag!r} is not key=value")
    return {key: value for key, _, value in (tag.partition("=") for tag in tags)}
