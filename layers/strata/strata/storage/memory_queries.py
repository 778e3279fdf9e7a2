"""Queries over memories of several types, with the agent's rights inside the statement.

Such a query is a UNION ALL over the tables of the types, each branch narrow by key or index and already cut to what
the memory's own policy lets through; the rights on collection and type are checked once, on what the branches gave.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, exists, literal, select, true, union_all
from sqlalchemy.sql.selectable import NamedFromClause

from strata.model.memories import MemoryType
from strata.ports import Access
from strata.storage.columns import Id
from strata.storage.rights import Right, live, may, memory_allows, registration_of
from strata.storage.tables import collections, memory_table, memory_versions, registrations

Condition = Callable[[Table], ColumnElement[bool]]


def memories(
    types: Iterable[MemoryType],
    access: Access,
    wanted: Condition,
    now: datetime,
    *,
    rights: Sequence[Right] = ("read",),
    state: Condition | None = None,
    limit: int | None = None,
) -> Select[Any]:
    """Return the query for those memories of the tenant that are ``wanted``, live (or as ``state`` says) and allowed.

    ``limit`` cuts each branch and the whole to the first in the order of ids. Vectors come only with the right to
    write: the digest of a changed memory covers its vector.
    """

    def branch(memory_type: MemoryType) -> Select[Any]:
        table = memory_table(memory_type.table)
        visible = live(table, now) if state is None else state(table)
        own = and_(true(), *(memory_allows(right, table, access) for right in rights))
        query = _columns(table, memory_type, vectors="write" in rights)
        query = query.where(table.c.tenant == access.tenant, wanted(table), visible, own)
        return query if limit is None else _first(query, table, limit)

    found = union_all(*(branch(memory_type) for memory_type in types)).subquery("found")
    query = select(found, collections.c.conflict_policy).join(collections, _same_collection(found))
    query = query.where(*(may(right, access, now, memory_type=found.c.memory_type) for right in rights))
    return query if limit is None else query.order_by(found.c.memory_id).limit(limit)


def stored(types: Iterable[MemoryType], wanted: Condition, *, vectors: bool = False) -> Select[Any]:
    """Return the query for memories in any state, for the product's own bookkeeping: nobody's rights are asked."""
    tables = ((memory_table(memory_type.table), memory_type) for memory_type in types)
    branches = (_columns(table, memory_type, vectors=vectors).where(wanted(table)) for table, memory_type in tables)
    return select(union_all(*branches).subquery("found"))


def versions(
    types: Iterable[MemoryType], access: Access, collection: str, memory_id: str, now: datetime
) -> Select[Any]:
    """Return the query for the history of a memory that is live and readable (to an administrator: in any state).

    Versions of a type that the agent may not read are left out.
    """
    step = memory_versions.c
    query = select(memory_versions).join(collections, _same_collection(memory_versions)).order_by(step.version)
    query = query.where(
        step.tenant == access.tenant,
        step.memory_id == memory_id,
        step.collection == collection,
        may("read", access, now, memory_type=step.memory_type),
    )
    if access.admin or access.system:
        return query
    tables = [memory_table(memory_type.table) for memory_type in types]
    alive = union_all(*(_alive(table, access, collection, memory_id, now) for table in tables)).subquery("alive")
    return query.where(exists(select(literal(1)).select_from(alive)))


def view(access: Access, names: Sequence[str], now: datetime) -> Select[Any]:
    """Return the query for the counters of collections, whether the agent may read them, and the types it may."""
    counters = collections.c
    declared = registrations.c
    query = select(
        counters.name,
        counters.change_seq,
        counters.purged_seq,
        counters.memory_types.label("allowed_types"),
        declared.memory_types.label("declared_types"),
        may("read", access, now).label("allowed"),
    ).outerjoin(registrations, and_(*registration_of(access)))
    return query.where(counters.tenant == access.tenant, counters.name.in_(names))


def _alive(table: Table, access: Access, collection: str, memory_id: str, now: datetime) -> Select[Any]:
    return select(table.c.memory_id).where(
        table.c.tenant == access.tenant,
        table.c.memory_id == memory_id,
        table.c.collection == collection,
        live(table, now),
        memory_allows("read", table, access),
    )


def _same_collection(found: NamedFromClause) -> ColumnElement[bool]:
    return and_(collections.c.tenant == found.c.tenant, collections.c.name == found.c.collection)


def _columns(table: Table, memory_type: MemoryType, *, vectors: bool) -> Select[Any]:
    wanted = (column for column in table.columns if vectors or column.name != "embedding")
    return select(literal(memory_type.name, Id()).label("memory_type"), *wanted)


def _first(query: Select[Any], table: Table, limit: int) -> Select[Any]:
    return select(query.order_by(table.c.memory_id).limit(limit).subquery())
