"""Removing rows whose time has come, in bounded batches. A renewal that comes first, wins.

A batch takes its turn in its collection like any change, looks again which rows are still due, and says so once more
in the DELETE itself. ``purged_seq`` tells indexes that rows are gone without a trace in their changes.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Table, and_, delete, or_, select, update

from strata.model.events import NewEvent
from strata.model.memories import MemoryStatus
from strata.policy.digests import text_digest
from strata.ports import Access, Purged
from strata.storage.engine import Database
from strata.storage.events import append_events
from strata.storage.memory_types import SqlTypeStore
from strata.storage.memory_writes import take_turn
from strata.storage.tables import collections, embeddings, memory_links, memory_table, memory_versions, read_ledger

ACTOR = "system:purge"


class SqlPurge:
    """The port ``Purge``."""

    def __init__(self, database: Database, types: SqlTypeStore) -> None:
        self._database = database
        self._types = types

    def purge_due(self, *, now: datetime, limit: int) -> Purged:
        """Remove up to ``limit`` memories of each type that are due; tell how many, and whether more may be."""
        removed = looked_at = 0
        full = False
        for memory_type in self._types.all().values():
            table = memory_table(memory_type.table)
            due = self._due(table, now, limit)
            full = full or len(due) == limit
            looked_at += len(due)
            removed += sum(self._remove(table, tenant, name, ids, now) for (tenant, name), ids in _grouped(due))
        return Purged(removed=removed, kept=looked_at - removed, more=full and removed > 0)

    def _due(self, table: Table, now: datetime, limit: int) -> Sequence[RowMapping]:
        query = select(table.c.tenant, table.c.collection, table.c.memory_id).where(table.c.purge_at <= now)
        query = query.order_by(table.c.purge_at).limit(limit)
        return self._database.read(lambda connection: connection.execute(query).mappings().all())

    def _remove(self, table: Table, tenant: str, collection: str, ids: Sequence[str], now: datetime) -> int:
        def work(connection: Connection) -> int:
            system = Access(tenant=tenant, agent_id=ACTOR, system=True)
            take_turn(connection, system, collection, now)
            due = and_(table.c.tenant == tenant, table.c.memory_id.in_(ids), table.c.purge_at <= now)
            rows = (
                connection.execute(
                    select(table.c.memory_id, table.c.version, table.c.status).where(due).order_by(table.c.memory_id)
                )
                .mappings()
                .all()
            )
            connection.execute(delete(table).where(due))
            remove_traces(connection, tenant, [row["memory_id"] for row in rows])
            note_purge(connection, tenant, collection)
            append_events(connection, tenant, [_purged(collection, row) for row in rows], now)
            return len(rows)

        return self._database.write(work)


def remove_traces(connection: Connection, tenant: str, memory_ids: Sequence[str]) -> dict[str, int]:
    """Remove versions, links, ledger entries and kept vectors of memories that are gone; count the first three."""
    remove_vectors(connection, tenant, memory_ids)
    removed = {}
    for what, table, condition in (
        ("versions", memory_versions, memory_versions.c.memory_id.in_(memory_ids)),
        ("links", memory_links, _linked(memory_ids)),
        ("reads", read_ledger, read_ledger.c.memory_id.in_(memory_ids)),
    ):
        removed[what] = connection.execute(delete(table).where(table.c.tenant == tenant, condition)).rowcount
    return removed


def remove_vectors(connection: Connection, tenant: str, memory_ids: Sequence[str]) -> None:
    """Remove the vectors kept for every text that these memories ever had; whoever else needs one makes it again."""
    step = memory_versions.c
    texts = select(step.content).where(step.tenant == tenant, step.memory_id.in_(memory_ids))
    names = {text_digest(text) for text in connection.execute(texts).scalars()}
    connection.execute(delete(embeddings).where(embeddings.c.text_hash.in_(names)))


def note_purge(connection: Connection, tenant: str, collection: str) -> None:
    """Tell indexes of a collection that rows have gone."""
    own = and_(collections.c.tenant == tenant, collections.c.name == collection)
    connection.execute(update(collections).where(own).values(purged_seq=collections.c.change_seq))


def _linked(memory_ids: Sequence[str]) -> ColumnElement[bool]:
    return or_(memory_links.c.memory_id.in_(memory_ids), memory_links.c.other_id.in_(memory_ids))


def _grouped(rows: Sequence[RowMapping]) -> Iterator[tuple[tuple[str, str], list[str]]]:
    def place(row: RowMapping) -> tuple[str, str]:
        return row["tenant"], row["collection"]

    for group, members in groupby(sorted(rows, key=place), key=place):
        yield group, [row["memory_id"] for row in members]


def _purged(collection: str, row: RowMapping) -> NewEvent:
    why = "deleted" if row["status"] == MemoryStatus.DELETED.value else "expired"
    detail: dict[str, Any] = {"version": row["version"], "reason": why}
    return NewEvent(kind="memory.purged", actor=ACTOR, collection=collection, memory_id=row["memory_id"], detail=detail)
