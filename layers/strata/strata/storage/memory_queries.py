"""Queries over memories of several types, with the agent's rights inside the statement.

Such a query is a UNION ALL over the tables of the types, each branch narrow by key or index and already cut to what
the memory's own policy lets through; the rights on collection and type are checked once, on what the branches gave.

Building one takes far longer than running it, so each is built once per set of types and kept; what differs from call
to call are its parameters (``strata.storage.rights.parameters``).
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    and_,
    bindparam,
    exists,
    func,
    literal,
    or_,
    select,
    true,
    union_all,
)

from strata.model.memories import MemoryType
from strata.storage.columns import COLLECTION_BYTES, Id, Names
from strata.storage.memory_checks import listed
from strata.storage.rights import (
    TENANT,
    Right,
    live,
    may,
    memory_allows,
    registration_of_agent,
    unexpired,
)
from strata.storage.statements import Statement
from strata.storage.tables import collections, embeddings, memory_table, memory_versions, registrations

Types = tuple[MemoryType, ...]
Wanted = Literal["one", "many", "any", "about", "standing", "behind", "changed", "twin"]

COLLECTION = bindparam("in_collection", type_=Id(COLLECTION_BYTES))
USER = bindparam("the_user", type_=Id())
MEMORY_ID = bindparam("the_memory", type_=Id())


@lru_cache(maxsize=64)
def memories(
    types: Types,
    wanted: Wanted,
    *,
    bypass: bool,
    rights: tuple[Right, ...] = ("read",),
    also_dead: bool = False,
    places: int = 1,
) -> Statement:
    """Return the query for those memories that are wanted, live (or at least not run out) and allowed.

    ``behind`` comes in the order of ids and needs a limit; ``many`` and ``standing`` have so many places. Vectors come
    only with the right to write: the digest of a changed memory covers its vector.
    """

    def branch(memory_type: MemoryType) -> Select[Any]:
        table = _short(memory_type)
        own = (memory_allows(right, table, bypass=bypass) for right in rights)
        query = _columns(table, memory_type, vectors="write" in rights)
        query = query.where(_wanted(wanted, table, places), unexpired(table) if also_dead else live(table), *own)
        return _first(query, table) if wanted == "behind" else query

    found = union_all(*(branch(memory_type) for memory_type in types)).subquery("found")
    query = select(found, collections.c.conflict_policy).join(collections, _same_collection(found))
    query = query.where(*(may(right, bypass=bypass, memory_type=found.c.memory_type) for right in rights))
    return Statement(_in_order(query, found) if wanted == "behind" else query)


@lru_cache(maxsize=64)
def stored(types: Types, wanted: Wanted, *, vectors: bool = False, places: int = 1) -> Statement:
    """Return the query for memories in any state, for the product's own bookkeeping: nobody's rights are asked."""

    def branch(memory_type: MemoryType) -> Select[Any]:
        table = _short(memory_type)
        query = _columns(table, memory_type, vectors=vectors).where(_wanted(wanted, table, places))
        return _first(query, table) if wanted == "any" else query

    return Statement(select(union_all(*(branch(memory_type) for memory_type in types)).subquery("found")))


@lru_cache(maxsize=64)
def versions(types: Types, *, bypass: bool) -> Statement:
    """Return the query for the history of a memory that is live and readable (to an administrator: in any state).

    Versions of a type that the agent may not read are left out.
    """
    step = memory_versions.c
    query = select(memory_versions).join(collections, _same_collection(memory_versions)).order_by(step.version)
    query = query.where(
        step.tenant == TENANT,
        step.memory_id == MEMORY_ID,
        step.collection == COLLECTION,
        may("read", bypass=bypass, memory_type=step.memory_type),
    )
    if bypass:
        return Statement(query)
    alive = union_all(*(_alive(_short(memory_type)) for memory_type in types)).subquery("alive")
    return Statement(query.where(exists(select(literal(1)).select_from(alive))))


@lru_cache(maxsize=16)
def view(places: int, *, bypass: bool) -> Statement:
    """Return the query for the counters of collections, whether the agent may read them, and the types it may."""
    return Statement(_view(places, bypass=bypass))


@lru_cache(maxsize=2)
def opening(*, bypass: bool) -> Statement:
    """Return the query for the same of one collection, and the vector kept of a text."""
    kept = embeddings.c
    of_model, of_text = bindparam("of_model", type_=kept.model.type), bindparam("of_text", type_=kept.text_hash.type)
    vector = select(kept.vector).where(kept.model == of_model, kept.text_hash == of_text)
    return Statement(_view(1, bypass=bypass).add_columns(vector.scalar_subquery().label("vector")))


def _view(places: int, *, bypass: bool) -> Select[Any]:
    counters = collections.c
    query = select(
        counters.name,
        counters.change_seq,
        counters.purged_seq,
        counters.memory_types.label("allowed_types"),
        registrations.c.memory_types.label("declared_types"),
        and_(true(), may("read", bypass=bypass)).self_group().label("allowed"),
    ).outerjoin(registrations, and_(*registration_of_agent()))
    return query.where(counters.tenant == TENANT, counters.name.in_(listed(places, Id(COLLECTION_BYTES))))


def _short(memory_type: MemoryType) -> FromClause:
    return memory_table(memory_type.table).alias("m")


def _alive(table: FromClause) -> Select[Any]:
    return select(table.c.memory_id).where(_one(table), live(table), memory_allows("read", table, bypass=False))


def _same_collection(found: FromClause) -> ColumnElement[bool]:
    return and_(collections.c.tenant == found.c.tenant, collections.c.name == found.c.collection)


def _columns(table: FromClause, memory_type: MemoryType, *, vectors: bool) -> Select[Any]:
    wanted = (column for column in table.columns if vectors or column.name != "embedding")
    return select(literal(memory_type.name, Id()).label("memory_type"), *wanted)


def _in_order(query: Select[Any], found: FromClause) -> Select[Any]:
    return query.order_by(found.c.memory_id).limit(bindparam("at_most"))


def _first(query: Select[Any], table: FromClause) -> Select[Any]:
    return select(query.order_by(table.c.memory_id).limit(bindparam("at_most")).subquery())


def _one(table: FromClause) -> ColumnElement[bool]:
    return and_(table.c.tenant == TENANT, table.c.memory_id == MEMORY_ID, table.c.collection == COLLECTION)


def _many(table: FromClause, places: int) -> ColumnElement[bool]:
    return and_(table.c.tenant == TENANT, table.c.memory_id.in_(listed(places)))


def _any(table: FromClause) -> ColumnElement[bool]:
    return and_(table.c.tenant == TENANT, table.c.memory_id > bindparam("after_id", type_=Id()))


def _about(table: FromClause) -> ColumnElement[bool]:
    """In the user's own layer, or about the user elsewhere."""
    about = or_(table.c.collection == COLLECTION, table.c.user_id == USER)
    return and_(table.c.tenant == TENANT, about)


def _standing(table: FromClause, places: int) -> ColumnElement[bool]:
    named = table.c.collection.in_(listed(places, Id(COLLECTION_BYTES)))
    return and_(table.c.tenant == TENANT, named, table.c.standing)


def _behind(table: FromClause) -> ColumnElement[bool]:
    behind = table.c.memory_id > bindparam("after_id", type_=Id())
    return and_(table.c.tenant == TENANT, table.c.collection == COLLECTION, behind)


def _changed(table: FromClause) -> ColumnElement[bool]:
    changed = table.c.change_seq > bindparam("after_seq")
    return and_(table.c.tenant == TENANT, table.c.collection == COLLECTION, changed)


def _twin(table: FromClause) -> ColumnElement[bool]:
    """A live memory that says the same, about the same user, to the same agents.

    The user stands inside a function because SQLite, which has no statistics, may else go through all that is about one
    user instead of the few with the fingerprint.
    """
    return and_(
        table.c.tenant == TENANT,
        table.c.collection == COLLECTION,
        table.c.fingerprint == bindparam("the_fingerprint"),
        func.coalesce(table.c.user_id, "") == USER,
        table.c.read_agents.is_not_distinct_from(bindparam("the_readers", type_=Names())),
        table.c.write_agents.is_not_distinct_from(bindparam("the_writers", type_=Names())),
        live(table),
    )


def _wanted(wanted: Wanted, table: FromClause, places: int) -> ColumnElement[bool]:
    return _LISTED[wanted](table, places) if wanted in _LISTED else _WANTED[wanted](table)


_LISTED: Mapping[Wanted, Callable[[FromClause, int], ColumnElement[bool]]] = {"many": _many, "standing": _standing}
_WANTED: Mapping[Wanted, Callable[[FromClause], ColumnElement[bool]]] = {
    "one": _one,
    "any": _any,
    "about": _about,
    "behind": _behind,
    "changed": _changed,
    "twin": _twin,
}
