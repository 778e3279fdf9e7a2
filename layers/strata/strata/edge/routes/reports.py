"""Weekly reports and the audit trail; for admins."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata.edge.answers import answers
from strata.edge.callers import AdminOf, RuntimeOf
from strata.edge.schemas.service import EventOut, EventsOut

router = APIGatewayHttpRouter()


@router.get("/v1/events", summary="The audit trail", responses=answers(EventsOut, also=(403,)), tags=["audit"])
def events(
    caller: AdminOf,
    runtime: RuntimeOf,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[int | None, Query(ge=1)] = None,
    kind: Annotated[str, Query(max_length=64)] = "",
    memory_id: Annotated[str, Query(max_length=128)] = "",
    collection: Annotated[str, Query(max_length=128)] = "",
) -> EventsOut:
    """Return events, newest first; nothing in the product can change one."""
    found = runtime.events.page(
        caller.tenant, limit=limit, before_seq=before, kind=kind, memory_id=memory_id, collection=collection
    )
    more = found[-1].seq if len(found) == limit else None
    return EventsOut(events=[EventOut.model_validate(item) for item in found], before=more)
