"""Ending a session, and the runs that settle it."""

from collections.abc import Sequence
from typing import Annotated, Literal

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata.bootstrap import Runtime
from strata.edge import present
from strata.edge.answers import answers
from strata.edge.callers import AdminOf, CallerOf, RuntimeOf
from strata.edge.schemas.ids import PathId
from strata.edge.schemas.runs import PlanOut, RunOut, RunsOut, UndoIn, UndoOut
from strata.edge.schemas.sessions import EndOut, SessionOut, UserIn
from strata.errors import NotFoundError
from strata.model.agents import Caller
from strata.model.runs import Run, RunState
from strata.model.sessions import SessionKey
from strata.ports import Access

router = APIGatewayHttpRouter()
SESSION = "/v1/sessions/<session_id>"
RUN = "/v1/runs/<run_id>"
DRY_RUN_SECONDS = 25.0
"""What a caller waits at most; the gateway gives up soon after."""
Many = Annotated[int, Query(ge=1, le=500)]
State = Literal["queued", "running", "planned", "succeeded", "failed", "parked", "undone"]


@router.post(
    f"{SESSION}/end", status_code=202, summary="End a session", responses=answers(EndOut, 202), tags=["sessions"]
)
def end(session_id: PathId, caller: CallerOf, runtime: RuntimeOf, body: UserIn | None = None) -> EndOut:
    """Mark the session ended; the run that settles it works in the background. Ending twice is ending once."""
    user_id = body.user_id if body else None
    run = runtime.end_session(_key(caller, session_id), caller.agent_id, user_id=user_id)
    return EndOut(run_id=run.run_id, session_id=session_id, state=run.state.value, upto_seq=run.upto_seq)


@router.post(f"{SESSION}/resume", summary="Resume a session", responses=answers(SessionOut), tags=["sessions"])
def resume(session_id: PathId, caller: CallerOf, runtime: RuntimeOf) -> SessionOut:
    """Open an ended session again; an append does so by itself."""
    return present.session(runtime.resume_session(_key(caller, session_id), caller.agent_id))


@router.get("/v1/runs", summary="List runs", responses=answers(RunsOut), tags=["runs"])
def listed(
    caller: CallerOf,
    runtime: RuntimeOf,
    state: Annotated[State | None, Query()] = None,
    session_id: Annotated[str, Query(max_length=128)] = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[str, Query(max_length=128)] = "",
) -> RunsOut:
    """Return runs, newest first: an admin sees the tenant's, an agent those of its own sessions."""
    runs = runtime.runs.page(
        caller.tenant,
        limit=limit,
        state=RunState(state) if state else None,
        session_id=session_id,
        before=before,
        agent_id="" if caller.is_admin else caller.agent_id,
    )
    more = runs[-1].run_id if len(runs) == limit else None
    return RunsOut(runs=[present.run(run, whole=False) for run in runs], before=more)


@router.get(RUN, summary="One run", responses=answers(RunOut), tags=["runs"])
def get(run_id: PathId, caller: CallerOf, runtime: RuntimeOf) -> RunOut:
    """Return a run with its plan and the receipts of what it wrote."""
    return present.run(_own(runtime, caller, run_id))


@router.post(f"{RUN}/replay", summary="Replay a run", responses=answers(RunOut, also=(403, 409)), tags=["runs"])
def replay(run_id: PathId, caller: AdminOf, runtime: RuntimeOf) -> RunOut:
    """Bring a failed or parked run back to the queue; what it planned or wrote is taken up, not repeated."""
    return present.run(runtime.replay(caller.tenant, run_id, actor=caller.agent_id))


@router.post(f"{RUN}/rejudge", summary="Judge a run again", responses=answers(RunOut, also=(403, 409)), tags=["runs"])
def rejudge(run_id: PathId, caller: AdminOf, runtime: RuntimeOf) -> RunOut:
    """Judge again, by the model, what rules judged because the model was away."""
    return present.run(runtime.rejudge(caller.tenant, run_id, actor=caller.agent_id))


@router.post(f"{RUN}/undo", summary="Undo a run", responses=answers(UndoOut, also=(403, 409)), tags=["runs"])
def undo(run_id: PathId, caller: AdminOf, runtime: RuntimeOf, body: UndoIn | None = None) -> UndoOut:
    """Take back everything that a run wrote, as new versions; with ``dry_run`` tell only what that would be."""
    dry_run = body is not None and body.dry_run
    return present.undone(runtime.undo_run(Access.of(caller), run_id, dry_run=dry_run))


@router.post(f"{RUN}/dry-run", summary="Plan a run anew", responses=answers(PlanOut, also=(403,)), tags=["runs"])
def dry_run(run_id: PathId, caller: AdminOf, runtime: RuntimeOf) -> PlanOut:
    """Show the plan that a run would have now; nothing is written. A model, if there is one, is asked."""
    until = runtime.clock.monotonic() + DRY_RUN_SECONDS
    found = runtime.dry_run(caller.tenant, run_id, remaining_seconds=lambda: until - runtime.clock.monotonic())
    return present.plan(found)


@router.post("/v1/runs/replay", summary="Replay stopped runs", responses=answers(RunsOut, also=(403,)), tags=["runs"])
def replay_all(caller: AdminOf, runtime: RuntimeOf, limit: Many = 50) -> RunsOut:
    """Bring failed and parked runs back to the queue, longest waiting first; the answer names them."""
    return _listed(runtime.replay.all(caller.tenant, limit=limit, actor=caller.agent_id))


@router.post("/v1/runs/rejudge", summary="Judge runs again", responses=answers(RunsOut, also=(403,)), tags=["runs"])
def rejudge_all(caller: AdminOf, runtime: RuntimeOf, limit: Many = 50) -> RunsOut:
    """Judge again, by the model, what rules judged because the model was away, newest first."""
    return _listed(runtime.rejudge.all(caller.tenant, limit=limit, actor=caller.agent_id))


def _listed(runs: Sequence[Run]) -> RunsOut:
    return RunsOut(runs=[present.run(run, whole=False) for run in runs])


def _own(runtime: Runtime, caller: Caller, run_id: str) -> Run:
    run = runtime.runs.get(caller.tenant, run_id)
    if run is None or not (caller.is_admin or run.agent_id == caller.agent_id):
        raise NotFoundError
    return run


def _key(caller: Caller, session_id: str) -> SessionKey:
    return SessionKey(tenant=caller.tenant, session_id=session_id)
