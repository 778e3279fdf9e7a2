"""Messages of a session, the session itself, its participants."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata.edge import present
from strata.edge.answers import answers
from strata.edge.callers import CallerOf, RuntimeOf
from strata.edge.schemas.ids import MAX_NUMBER, PathId
from strata.edge.schemas.sessions import AppendIn, AppendOut, MessageIn, MessagesOut, SessionOut
from strata.model.messages import Kind, NewMessage, Role
from strata.model.sessions import SessionKey

router = APIGatewayHttpRouter()
SESSION = "/v1/sessions/<session_id>"


@router.post(
    f"{SESSION}/messages", summary="Append messages", responses=answers(AppendOut, also=(409,)), tags=["sessions"]
)
def append(session_id: PathId, body: AppendIn, caller: CallerOf, runtime: RuntimeOf) -> AppendOut:
    """Store 1–100 messages in order; the first append opens the session, a later one resumes an ended one."""
    key = SessionKey(tenant=caller.tenant, session_id=session_id)
    messages = [new_message(item) for item in body.messages]
    return present.appended(runtime.append(key, body.user_id, caller.agent_id, messages, zone=body.zone))


@router.get(f"{SESSION}/messages", summary="List messages", responses=answers(MessagesOut), tags=["sessions"])
def listed(
    session_id: PathId,
    caller: CallerOf,
    runtime: RuntimeOf,
    before: Annotated[
        int | None, Query(ge=1, le=MAX_NUMBER, description="A seq; messages below it are returned.")
    ] = None,
    limit: Annotated[int | None, Query(ge=1, le=500)] = None,
) -> MessagesOut:
    """Return the newest messages, oldest first; ``before`` in the answer asks for the page before."""
    key = SessionKey(tenant=caller.tenant, session_id=session_id)
    size = limit or runtime.settings.http.page_size
    found = runtime.read_messages(key, caller.agent_id, limit=size, before_seq=before)
    more = found[0].seq if found and found[0].seq > 1 else None
    return MessagesOut(session_id=session_id, messages=[present.message(item) for item in found], before=more)


@router.get(SESSION, summary="One session", responses=answers(SessionOut), tags=["sessions"])
def get(session_id: PathId, caller: CallerOf, runtime: RuntimeOf) -> SessionOut:
    """Return owner, participants, counts, summary and state."""
    key = SessionKey(tenant=caller.tenant, session_id=session_id)
    return present.session(runtime.get_session(key, caller.agent_id))


def new_message(item: MessageIn) -> NewMessage:
    """Return a message as the flows know it."""
    content = tuple(item.content) if isinstance(item.content, list) else item.content
    return NewMessage(
        role=Role(item.role),
        content=content,
        kind=Kind(item.kind),
        message_id=item.message_id,
        name=item.name,
        tool_calls=tuple(item.tool_calls),
        tool_call_id=item.tool_call_id,
        metadata=item.metadata,
        said_at=item.said_at,
    )
