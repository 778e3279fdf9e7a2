"""Versions of a memory and who has read them."""

from collections.abc import Sequence
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata.edge import present
from strata.edge.answers import answers
from strata.edge.callers import CallerOf, RuntimeOf
from strata.edge.schemas.agents import ReadOut, ReadsOut
from strata.edge.schemas.ids import MAX_NUMBER, PathCollection, PathId
from strata.edge.schemas.memories import HistoryOut, ImpactOut, RollbackIn, RollbackOut
from strata.model.events import Read
from strata.ports import Access

router = APIGatewayHttpRouter()
MEMORY = "/v1/collections/<collection>/memories/<memory_id>"
VersionQuery = Annotated[int | None, Query(ge=1, le=MAX_NUMBER)]


@router.get(f"{MEMORY}/history", summary="Every version", responses=answers(HistoryOut), tags=["history"])
def history(collection: PathCollection, memory_id: PathId, caller: CallerOf, runtime: RuntimeOf) -> HistoryOut:
    """Return every version, oldest first."""
    found = runtime.library.history(Access.of(caller), collection, memory_id)
    return HistoryOut(memory_id=memory_id, versions=[present.version(item) for item in found])


@router.post(f"{MEMORY}/rollback", summary="Roll back", responses=answers(RollbackOut, also=(409,)), tags=["history"])
def rollback(
    collection: PathCollection, memory_id: PathId, body: RollbackIn, caller: CallerOf, runtime: RuntimeOf
) -> RollbackOut:
    """Append the content of an old version as a new one, and tell who has read what it replaces."""
    access = Access.of(caller)
    if body.dry_run:
        shown = runtime.rollbacks.preview(access, collection, memory_id, body.version)
        return RollbackOut(memory=present.memory(shown.memory), readers=readers(shown.readers), applied=False)
    done = runtime.rollbacks.roll_back(access, collection, memory_id, body.version, reason=body.reason)
    return RollbackOut(memory=present.memory(done.written.memory), readers=readers(done.readers), applied=True)


@router.get(f"{MEMORY}/reads", summary="Who has read it", responses=answers(ReadsOut), tags=["history"])
def reads(
    collection: PathCollection, memory_id: PathId, caller: CallerOf, runtime: RuntimeOf, version: VersionQuery = None
) -> ReadsOut:
    """Return deliveries of a memory, newest first."""
    found = runtime.impacts.reads(Access.of(caller), collection, memory_id, version=version)
    return ReadsOut(reads=readers(found))


@router.get(f"{MEMORY}/impact", summary="What readers wrote", responses=answers(ImpactOut), tags=["history"])
def impact(
    collection: PathCollection, memory_id: PathId, caller: CallerOf, runtime: RuntimeOf, version: VersionQuery = None
) -> ImpactOut:
    """Return who has read a memory and what those sessions wrote afterwards."""
    found = runtime.impacts.impact(Access.of(caller), collection, memory_id, version=version)
    written = [
        {"memory_id": item.memory_id, "collection": item.collection, **present.version(item).model_dump(mode="json")}
        for item in found.written
    ]
    return ImpactOut(reads=readers(found.reads), written=written)


def readers(found: Sequence[Read]) -> list[ReadOut]:
    """Return deliveries as the API shows them."""
    return [ReadOut.model_validate(item) for item in found]
