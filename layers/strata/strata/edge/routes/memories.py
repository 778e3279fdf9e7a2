"""Memories of a collection: insert, search, read, change, history, rollback, readers."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata.edge import present
from strata.edge.answers import answers
from strata.edge.callers import CallerOf, RuntimeOf
from strata.edge.schemas.ids import PathCollection, PathId
from strata.edge.schemas.memories import (
    EditIn,
    EditOut,
    InsertOut,
    ListOut,
    MemoryIn,
    MemoryOut,
    PolicyIn,
    SearchIn,
    SearchOut,
)
from strata.model.context import SearchMode
from strata.model.memories import AccessPolicy
from strata.ports import Access
from strata.sharing.units import NewUnit, UnitChange

router = APIGatewayHttpRouter()
COLLECTION = "/v1/collections/<collection>/memories"
MEMORY = f"{COLLECTION}/<memory_id>"
"""Paths shared by the routes of one memory."""


@router.post(COLLECTION, summary="Keep a memory", responses=answers(InsertOut, also=(409,)), tags=["memories"])
def insert(collection: PathCollection, body: MemoryIn, caller: CallerOf, runtime: RuntimeOf) -> InsertOut:
    """Look first: the same fact becomes a new version of what is stored, anything else is inserted."""
    unit = NewUnit(
        memory_type=body.memory_type,
        content=body.content,
        metadata=body.metadata,
        policy=policy(body.access_policy) or AccessPolicy(),
        ttl_seconds=body.ttl_seconds,
        expires_at=body.expires_at,
        memory_id=body.memory_id,
        standing=body.standing,
        safety=body.safety,
        importance=body.importance,
    )
    done = runtime.library.insert(Access.of(caller), collection, unit)
    return InsertOut(
        status=done.status.value, memory_id=done.memory.memory_id, version=done.memory.version, linked=list(done.linked)
    )


@router.get(COLLECTION, summary="List memories", responses=answers(ListOut), tags=["memories"])
def listed(
    collection: PathCollection,
    caller: CallerOf,
    runtime: RuntimeOf,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    after: Annotated[str, Query(max_length=128)] = "",
    memory_types: Annotated[str, Query(description="Names, separated by commas.", max_length=2_000)] = "",
) -> ListOut:
    """Return live memories in the order of their ids; ``after`` in the answer asks for the next page."""
    types = tuple(filter(None, memory_types.split(","))) or None
    found = runtime.library.listed(Access.of(caller), collection, memory_types=types, limit=limit, after=after)
    more = found[-1].memory_id if len(found) == limit else None
    return ListOut(memories=[present.memory(item) for item in found], after=more)


@router.post(f"{COLLECTION}/search", summary="Search", responses=answers(SearchOut), tags=["memories"])
def search(collection: PathCollection, body: SearchIn, caller: CallerOf, runtime: RuntimeOf) -> SearchOut:
    """Find memories by words, meaning and tags."""
    found = runtime.search(
        Access.of(caller),
        [collection],
        body.query,
        memory_types=body.memory_types,
        tags=body.tags,
        mode=SearchMode(body.mode),
        top_k=body.top_k or runtime.settings.library.top_k,
        threshold=body.threshold or 0.0,
    )
    if not found.hits:  # nothing found, or nothing to be found there for this caller: the list knows which
        runtime.library.listed(Access.of(caller), collection, limit=1)
    return SearchOut(results=[present.hit(one) for one in found.hits], notes=list(found.notes))


@router.get(MEMORY, summary="One memory", responses=answers(MemoryOut), tags=["memories"])
def get(collection: PathCollection, memory_id: PathId, caller: CallerOf, runtime: RuntimeOf) -> MemoryOut:
    """Return one live memory."""
    return present.memory(runtime.library.get(Access.of(caller), collection, memory_id))


@router.patch(MEMORY, summary="Change a memory", responses=answers(EditOut, also=(409,)), tags=["memories"])
def edit(collection: PathCollection, memory_id: PathId, body: EditIn, caller: CallerOf, runtime: RuntimeOf) -> EditOut:
    """Apply a change as a new version."""
    change = UnitChange(
        content=body.content,
        metadata=body.metadata,
        policy=policy(body.access_policy),
        ttl_seconds=body.ttl_seconds,
        memory_type=body.memory_type,
        expected_version=body.expected_version,
        reason=body.reason,
    )
    written = runtime.library.update(Access.of(caller), collection, memory_id, change)
    return EditOut(memory=present.memory(written.memory), conflict=written.conflict)


@router.delete(MEMORY, summary="Delete a memory", responses=answers(MemoryOut), tags=["memories"])
def delete(
    collection: PathCollection,
    memory_id: PathId,
    caller: CallerOf,
    runtime: RuntimeOf,
    reason: Annotated[str, Query(max_length=2_000)] = "",
) -> MemoryOut:
    """Delete; its history stays for admins, and consolidation does not bring it back."""
    written = runtime.library.delete(Access.of(caller), collection, memory_id, reason=reason)
    return present.memory(written.memory)


def policy(given: PolicyIn | None) -> AccessPolicy | None:
    """Return a memory's own allow-lists."""
    if given is None:
        return None
    return AccessPolicy(
        read_agents=None if given.read_agents is None else tuple(given.read_agents),
        write_agents=None if given.write_agents is None else tuple(given.write_agents),
    )
