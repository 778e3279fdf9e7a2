"""``strata quarantine``: texts that tell a model what to do, and wait for a person."""

from typing import Any

import click

from strata.cli.connection import as_json, connected
from strata.cli.output import show_or_table, show_record
from strata.client import MemoryClient
from strata.client.transport import quoted

COLUMNS = ("quarantine_id", "state", "content", "agent_id", "collection", "memory_type", "created_at")
STATES = ["waiting", "released", "rejected", "withdrawn"]


@click.group()
def quarantine() -> None:
    """Texts set aside for review."""


@quarantine.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only texts in this state.")
@click.option("--limit", default=50, show_default=True)
@as_json
@connected
def list_texts(client: MemoryClient, state: str | None, limit: int, *, as_json: bool) -> None:
    """List texts, newest first."""
    found = client.call("GET", "/v1/quarantine", query={"state": state, "limit": limit})
    show_or_table(found, found["quarantined"], COLUMNS, json_=as_json)


@quarantine.command("show")
@click.argument("quarantine_id")
@as_json
@connected
def show_text(client: MemoryClient, quarantine_id: str, *, as_json: bool) -> None:
    """Show a text with all that was to be written."""
    show_record(client.call("GET", _path(quarantine_id)), json_=as_json)


@quarantine.command()
@click.argument("quarantine_id")
@as_json
@connected
def release(client: MemoryClient, quarantine_id: str, *, as_json: bool) -> None:
    """Write a text after all, with the rights of the agent it came from."""
    show_record(_decided(client, quarantine_id, "release"), json_=as_json)


@quarantine.command()
@click.argument("quarantine_id")
@as_json
@connected
def reject(client: MemoryClient, quarantine_id: str, *, as_json: bool) -> None:
    """Keep a text out for good."""
    show_record(_decided(client, quarantine_id, "reject"), json_=as_json)


def _path(quarantine_id: str) -> str:
    return f"/v1/quarantine/{quoted(quarantine_id)}"


def _decided(client: MemoryClient, quarantine_id: str, decision: str) -> Any:  # noqa: ANN401 the parsed answer
    return client.call("POST", f"{_path(quarantine_id)}/{decision}")
