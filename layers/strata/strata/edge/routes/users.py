"""A user's data: portability and erasure; for admins."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata.edge.answers import answers
from strata.edge.callers import AdminOf, RuntimeOf
from strata.edge.schemas.ids import PathId
from strata.edge.schemas.status import ErasedOut, ExportOut
from strata.ports import Access

router = APIGatewayHttpRouter()
USER = "/v1/users/<user_id>"


@router.get(f"{USER}/export", summary="Export a user", responses=answers(ExportOut, also=(403,)), tags=["users"])
def export(
    user_id: PathId, caller: AdminOf, runtime: RuntimeOf, after: Annotated[str, Query(max_length=4_096)] = ""
) -> dict[str, Any]:
    """Return sessions with messages, memories with history, provider copies, and a manifest of it all.

    What is too much for one answer goes on in the next: ``next`` is the ``after`` of the following call, and what
    was begun (a session, a memory) comes again there, with its further messages or versions only.
    """
    most = runtime.settings.http.export_bytes
    return runtime.export.export(Access.of(caller), user_id, after=after, most_bytes=most)


@router.delete(USER, summary="Erase a user", responses=answers(ErasedOut, also=(403,)), tags=["users"])
def erase(user_id: PathId, caller: AdminOf, runtime: RuntimeOf) -> ErasedOut:
    """Remove messages, caches, memories, versions, provider copies and pending work; return the manifest."""
    erased = runtime.erasure.erase(Access.of(caller), user_id)
    return ErasedOut(
        user_id=user_id, complete=erased.complete, removed=dict(erased.removed), pending=list(erased.pending)
    )
