"""``strata users``: a user's data."""

import json
from pathlib import Path

import click

from strata.cli.connection import as_json, connected
from strata.cli.output import show_record
from strata.client import MemoryClient


@click.group()
def users() -> None:
    """A user's data."""


@users.command()
@click.argument("user_id")
@click.argument("file", type=click.Path(dir_okay=False, writable=True, path_type=Path))
@as_json
@connected
def export(client: MemoryClient, user_id: str, file: Path, *, as_json: bool) -> None:
    """Write everything that is kept of a user to a file, as one JSON document, and print its manifest."""
    exported = client.export_user(user_id)
    file.write_text(json.dumps(exported, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    show_record(exported["manifest"], json_=as_json)
