"""``strata runs``: consolidation runs."""

import click

from strata.cli.connection import as_json, connected
from strata.cli.operator import access, product
from strata.cli.output import show, show_or_table, table
from strata.client import MemoryClient
from strata.client.transport import quoted

COLUMNS = ("run_id", "session_id", "agent_id", "state", "judge", "counts", "error_code", "created_at")
DRY_RUN_SECONDS = 120.0
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
@click.argument("run_id")
@connected
def replay(client: MemoryClient, run_id: str) -> None:
    """Bring a failed or parked run back to the queue."""
    show(_acted(client, run_id, "replay"))


@runs.command()
@click.argument("run_id")
@connected
def rejudge(client: MemoryClient, run_id: str) -> None:
    """Judge again, by the model, what rules judged because the model was away."""
    show(_acted(client, run_id, "rejudge"))


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
def dry_run(run_id: str) -> None:
    """Show the plan that a run would have now; nothing is written. A model, if there is one, is asked."""
    with product() as runtime:
        plan = runtime.dry_run(access(runtime).tenant, run_id, remaining_seconds=lambda: DRY_RUN_SECONDS)
    rows = [
        {"action": write.action.value, "type": write.memory_type, "content": write.content, "reason": write.reason}
        for write in plan.writes
    ]
    table(rows, ("action", "type", "content", "reason"), title=f"judged by {plan.judge}")


def _acted(client: MemoryClient, run_id: str, action: str) -> object:
    return client.call("POST", f"/v1/runs/{quoted(run_id)}/{action}", safe=False)
