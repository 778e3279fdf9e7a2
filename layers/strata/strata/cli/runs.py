"""``strata runs``: consolidation runs."""

from collections.abc import Mapping
from typing import Any

import click

from strata.cli.connection import as_json, connected
from strata.cli.output import show, show_or_table, show_record, table
from strata.client import MemoryClient
from strata.client.transport import quoted

COLUMNS = ("run_id", "session_id", "agent_id", "state", "judge", "counts", "error_code", "created_at")
PLAN_COLUMNS = ("action", "memory_type", "content", "reason")
RECEIPT_COLUMNS = ("memory_id", "action", "version", "provider", "kept")
STEP_COLUMNS = ("memory_id", "collection", "change", "from_version", "to_version")
EVERY = click.option("--all", "every", is_flag=True, help="All that it applies to, up to --limit.")
LIMIT = click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 500))
STATES = ["queued", "running", "planned", "succeeded", "failed", "parked", "undone"]


@click.group()
def runs() -> None:
    """Consolidation runs."""


@runs.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only runs in this state; parked = the dead letters.")
@click.option("--session", "session_id", help="Only runs of this session.")
@click.option("--limit", default=50, show_default=True)
@as_json
@connected
def list_runs(client: MemoryClient, state: str | None, session_id: str | None, limit: int, *, as_json: bool) -> None:
    """List runs, newest first."""
    found = client.call("GET", "/v1/runs", query={"state": state, "session_id": session_id, "limit": limit})
    show_or_table(found, found["runs"], COLUMNS, json_=as_json)


@runs.command("show")
@click.argument("run_id")
@as_json
@connected
def show_run(client: MemoryClient, run_id: str, *, as_json: bool) -> None:
    """Show a run with its plan and receipts."""
    found = client.run(run_id)
    if as_json:
        show(found)
        return
    show_record({name: value for name, value in found.items() if name not in {"plan", "receipts"}}, json_=False)
    table(found["plan"] or [], PLAN_COLUMNS, title="Plan")
    table(found["receipts"], RECEIPT_COLUMNS, title="Receipts")


@runs.command()
@click.argument("run_id", required=False)
@EVERY
@LIMIT
@as_json
@connected
def replay(client: MemoryClient, run_id: str | None, *, every: bool, limit: int, as_json: bool) -> None:
    """Bring a failed or parked run back to the queue, or with --all every one."""
    _show_runs(_one_or_all(client, run_id, "replay", every=every, limit=limit), json_=as_json)


@runs.command()
@click.argument("run_id", required=False)
@EVERY
@LIMIT
@as_json
@connected
def rejudge(client: MemoryClient, run_id: str | None, *, every: bool, limit: int, as_json: bool) -> None:
    """Judge again, by the model, what rules judged because the model was away; with --all, all that."""
    _show_runs(_one_or_all(client, run_id, "rejudge", every=every, limit=limit), json_=as_json)


@runs.command()
@click.argument("run_id")
@click.option("--dry-run", is_flag=True, help="Only show what would be taken back.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json
@connected
def undo(client: MemoryClient, run_id: str, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Show what a run wrote, ask, and take it back as new versions."""
    planned = _undo(client, run_id, dry_run=True)
    if not as_json:
        table(planned["steps"], STEP_COLUMNS)
        click.echo(_told(planned))
    if dry_run:
        if as_json:
            show(planned)
        return
    if not yes:
        click.confirm(f"Take back {len(planned['steps'])} memories that {run_id} wrote?", abort=True, err=True)
    done = _undo(client, run_id, dry_run=False)
    if as_json:
        show(done)
    else:
        click.echo(f"{len(done['steps'])} taken back; {_told(done)}")


@runs.command("dry-run")
@click.argument("run_id")
@as_json
@connected
def dry_run(client: MemoryClient, run_id: str, *, as_json: bool) -> None:
    """Show the plan that a run would have now; nothing is written. A model, if there is one, is asked."""
    found = _acted(client, run_id, "dry-run")
    show_or_table(found, found["plan"], PLAN_COLUMNS, json_=as_json)


def _one_or_all(client: MemoryClient, run_id: str | None, action: str, *, every: bool, limit: int) -> Any:  # noqa: ANN401 the parsed answer
    if every == (run_id is not None):
        message = "Name a run, or give --all."
        raise click.UsageError(message)
    if run_id is not None:
        return _acted(client, run_id, action)
    return client.call("POST", f"/v1/runs/{action}", query={"limit": limit}, safe=False)


def _show_runs(found: Mapping[str, Any], *, json_: bool) -> None:
    """Print one run or several; as a table one line each."""
    show_or_table(found, found.get("runs", [found]), COLUMNS, json_=json_)


def _undo(client: MemoryClient, run_id: str, *, dry_run: bool) -> Any:  # noqa: ANN401 the parsed answer
    return client.call("POST", f"/v1/runs/{quoted(run_id)}/undo", {"dry_run": dry_run}, safe=dry_run)


def _told(undone: Mapping[str, Any]) -> str:
    """Return what a table of memories does not say of an undo."""
    counts = {
        "copies at providers": undone["leaving"],
        "texts in quarantine": undone["withdrawn"],
        "memories left as they are": undone["left"],
    }
    return ", ".join(f"{len(found)} {name}" for name, found in counts.items())


def _acted(client: MemoryClient, run_id: str, action: str) -> Any:  # noqa: ANN401 the parsed answer
    return client.call("POST", f"/v1/runs/{quoted(run_id)}/{action}", safe=False)
