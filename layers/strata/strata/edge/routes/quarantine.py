"""Texts that were set aside for review; for admins."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata.edge.answers import answers
from strata.edge.callers import AdminOf, RuntimeOf
from strata.edge.schemas.ids import PathId
from strata.edge.schemas.quarantine import QuarantinedOut, QuarantineOut, State
from strata.model.quarantine import Quarantined, ReviewState
from strata.ports import Access

router = APIGatewayHttpRouter()
ALL = "/v1/quarantine"
ONE = f"{ALL}/<quarantine_id>"


@router.get(ALL, summary="List quarantine", responses=answers(QuarantineOut, also=(403,)), tags=["quarantine"])
def listed(
    caller: AdminOf,
    runtime: RuntimeOf,
    state: Annotated[State | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[str, Query(max_length=64)] = "",
) -> QuarantineOut:
    """Return texts, newest first."""
    wanted = ReviewState(state) if state else None
    found = runtime.reviews.page(Access.of(caller), limit=limit, state=wanted, before=before)
    more = found[-1].quarantine_id if len(found) == limit else None
    return QuarantineOut(quarantined=[shown(item) for item in found], before=more)


@router.get(ONE, summary="One text", responses=answers(QuarantinedOut, also=(403,)), tags=["quarantine"])
def get(quarantine_id: PathId, caller: AdminOf, runtime: RuntimeOf) -> QuarantinedOut:
    """Return one text with all that was to be written."""
    return shown(runtime.reviews.get(Access.of(caller), quarantine_id))


@router.post(
    f"{ONE}/release", summary="Release a text", responses=answers(QuarantinedOut, also=(403, 409)), tags=["quarantine"]
)
def release(quarantine_id: PathId, caller: AdminOf, runtime: RuntimeOf) -> QuarantinedOut:
    """Write it after all, with the rights of the agent it came from; ``memory_id`` says what it became."""
    return shown(runtime.reviews.release(Access.of(caller), quarantine_id))


@router.post(
    f"{ONE}/reject", summary="Reject a text", responses=answers(QuarantinedOut, also=(403, 409)), tags=["quarantine"]
)
def reject(quarantine_id: PathId, caller: AdminOf, runtime: RuntimeOf) -> QuarantinedOut:
    """Keep it out; it stays here until its time has come."""
    return shown(runtime.reviews.reject(Access.of(caller), quarantine_id))


def shown(item: Quarantined) -> QuarantinedOut:
    """Return a text as the API shows it."""
    return QuarantinedOut.model_validate(item)
