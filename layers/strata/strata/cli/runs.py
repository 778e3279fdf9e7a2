"""``strata runs``: consolidation runs."""

from typing import Any

import click

from strata.cli.connection import as_json, connected
from strata.cli.output import show, show_or_table
from strata.client import MemoryClient
from strata.client.transport import quoted

COLUMNS = ("run_id", "session_id", "agent_id", "state", "judge", "counts", "error_code", "created_at")
PLAN_COLUMNS = ("action", "memory_type", "content", "reason")
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
@connected
def show_run(client: MemoryClient, run_id: str) -> None:
    """Show a run with its plan and receipts."""
    show(client.run(run_id))


@runs.command()
@click.argument("run_id", required=False)
@EVERY
@LIMIT
@connected
def replay(client: MemoryClient, run_id: str | None, *, every: bool, limit: int) -> None:
    """Bring a failed or parked run back to the queue, or with --all every one."""
    show(_one_or_all(client, run_id, "replay", every=every, limit=limit))


@runs.command()
@click.argument("run_id", required=False)
@EVERY
@LIMIT
@connected
def rejudge(client: MemoryClient, run_id: str | None, *, every: bool, limit: int) -> None:
    """Judge again, by the model, what rules judged because the model was away; with --all, all that."""
    show(_one_or_all(client, run_id, "rejudge", every=every, limit=limit))


@runs.command()
@click.argument("run_id")
@click.option("--yes", is_flag=True, help="Do not ask.")
@connected
def undo(client: MemoryClient, run_id: str, *, yes: bool) -> None:
    """Take back everything that a run wrote."""
    if not yes:
        click.confirm(f"Take back everything that {run_id} wrote?", abort=True, err=True)
    show(_acted(client, run_id, "undo"))


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


def _acted(client: MemoryClient, run_id: str, action: str) -> Any:  # noqa: ANN401 the parsed answer
    return client.call("POST", f"/v1/runs/{quoted(run_id)}/{action}", safe=False)
