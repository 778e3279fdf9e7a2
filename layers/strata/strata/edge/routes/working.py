"""The working memory scratch of a session, and who takes part in it."""

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata.edge import present
from strata.edge.answers import answers
from strata.edge.callers import CallerOf, RuntimeOf
from strata.edge.schemas.ids import PathId
from strata.edge.schemas.sessions import SessionOut, WorkingIn, WorkingOut
from strata.model.agents import Caller
from strata.model.sessions import SessionKey

router = APIGatewayHttpRouter()
WORKING = "/v1/sessions/<session_id>/working"
PARTICIPANT = "/v1/sessions/<session_id>/participants/<agent_id>"


@router.put(WORKING, summary="Replace the scratch", responses=answers(WorkingOut), tags=["sessions"])
def put_working(session_id: PathId, body: WorkingIn, caller: CallerOf, runtime: RuntimeOf) -> WorkingOut:
    """Replace the scratch; it lives in the cache only, for its time to live."""
    values = runtime.working.put(_key(caller, session_id), caller.agent_id, body.values, ttl_seconds=body.ttl_seconds)
    return WorkingOut(session_id=session_id, values=dict(values))


@router.get(WORKING, summary="Read the scratch", responses=answers(WorkingOut), tags=["sessions"])
def get_working(session_id: PathId, caller: CallerOf, runtime: RuntimeOf) -> WorkingOut:
    """Return the scratch; empty if there is none or its time is over."""
    values = runtime.working.get(_key(caller, session_id), caller.agent_id)
    return WorkingOut(session_id=session_id, values=dict(values))


@router.delete(WORKING, summary="Remove the scratch", responses=answers(WorkingOut), tags=["sessions"])
def delete_working(session_id: PathId, caller: CallerOf, runtime: RuntimeOf) -> WorkingOut:
    """Remove the scratch."""
    runtime.working.delete(_key(caller, session_id), caller.agent_id)
    return WorkingOut(session_id=session_id, values={})


@router.put(PARTICIPANT, summary="Admit an agent", responses=answers(SessionOut, also=(403,)), tags=["sessions"])
def join(session_id: PathId, agent_id: PathId, caller: CallerOf, runtime: RuntimeOf) -> SessionOut:
    """Let another agent take part; only the agent that opened the session may."""
    session = runtime.get_session(_key(caller, session_id), caller.agent_id)
    declared = (*session.participants, agent_id)
    return present.session(runtime.set_participants(session.key, caller.agent_id, declared))


@router.delete(PARTICIPANT, summary="Withdraw an agent", responses=answers(SessionOut, also=(403,)), tags=["sessions"])
def leave(session_id: PathId, agent_id: PathId, caller: CallerOf, runtime: RuntimeOf) -> SessionOut:
    """End another agent's part; only the agent that opened the session may."""
    session = runtime.get_session(_key(caller, session_id), caller.agent_id)
    declared = [one for one in session.participants if one != agent_id]
    return present.session(runtime.set_participants(session.key, caller.agent_id, declared))


def _key(caller: Caller, session_id: str) -> SessionKey:
    return SessionKey(tenant=caller.tenant, session_id=session_id)
