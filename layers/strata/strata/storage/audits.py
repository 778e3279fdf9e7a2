"""What a weekly report is made of, in SQL, and the reports themselves."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    Table,
    Text,
    and_,
    case,
    exists,
    func,
    literal,
    select,
    type_coerce,
    union_all,
    update,
)

from strata.model.memories import Memory, MemoryStatus
from strata.model.messages import JsonObject
from strata.ports import Activity, Contested
from strata.storage.columns import Id
from strata.storage.engine import Database
from strata.storage.inserts import insert_missing
from strata.storage.memory_rows import memory_of
from strata.storage.memory_types import SqlTypeStore
from strata.storage.rights import live
from strata.storage.tables import audits, events, memory_table, memory_versions, read_ledger

EPISODES = "episode"
"""Turns, not memories: nobody is expected to read each of them."""


class SqlAuditStore:
    """The port ``AuditStore``."""

    def __init__(self, database: Database, types: SqlTypeStore) -> None:
        self._database = database
        self._types = types

    def activity(self, tenant: str, since: datetime, until: datetime) -> list[Activity]:
        """Return what happened to memories, from the audit trail; what ran out counts as expired, not as purged."""
        day = func.date(events.c.at)
        happened = case((_ran_out(), "memory.expired"), else_=events.c.kind).label("happened")
        of_memories = events.c.kind.startswith("memory.", autoescape=True)
        query = select(day.label("day"), happened, events.c.actor, func.count().label("count"))
        query = query.where(events.c.tenant == tenant, of_memories, _within(events.c.at, since, until))
        rows = self._rows(query.group_by(day, "happened", events.c.actor).order_by(day))
        return [
            Activity(day=str(row["day"]), kind=row["happened"], actor=row["actor"], count=row["count"]) for row in rows
        ]

    def reads_by_agent(self, tenant: str, since: datetime, until: datetime) -> dict[str, int]:
        """Return how many memories each agent was given."""
        query = select(read_ledger.c.agent_id, func.count().label("count")).group_by(read_ledger.c.agent_id)
        query = query.where(read_ledger.c.tenant == tenant, _within(read_ledger.c.read_at, since, until))
        return {row["agent_id"]: row["count"] for row in self._rows(query)}

    def contested(self, tenant: str, since: datetime, until: datetime, *, limit: int) -> list[Contested]:
        """Return the memories with most conflicts, most first."""
        step = memory_versions.c
        query = select(step.memory_id, step.collection, func.count().label("conflicts"))
        query = query.where(step.tenant == tenant, step.conflict, _within(step.created_at, since, until))
        query = query.group_by(step.memory_id, step.collection).order_by(func.count().desc(), step.memory_id)
        return [Contested(**row) for row in self._rows(query.limit(limit))]

    def never_read(self, tenant: str, *, now: datetime) -> tuple[int, int]:
        """Return how many memories are live, and how many of these nobody was ever given; episodes do not count."""
        tables = [self._table(name) for name in self._types.all() if name != EPISODES]
        branches = (
            select(func.count().label("live"), func.sum(case((_unread(table), 1), else_=0)).label("unread"))
            .select_from(table)
            .where(table.c.tenant == tenant, live(table))
            for table in tables
        )
        rows = self._rows(select(union_all(*branches).subquery()), {"at_instant": now})
        return sum(row["live"] for row in rows), sum(int(row["unread"] or 0) for row in rows)

    def written(self, tenant: str, since: datetime, until: datetime, *, limit: int) -> list[Memory]:
        """Return memories in sight that were made in a span of time, newest first."""

        def made(table: Table) -> ColumnElement[bool]:
            return and_(table.c.tenant == tenant, _in_sight(table, until), _within(table.c.created_at, since, until))

        names = [name for name in self._types.all() if name != EPISODES]
        found = union_all(*(_newest(self._table(name), name, made(self._table(name)), limit) for name in names))
        rows = self._rows(select(found.subquery("found")))
        return sorted((memory_of(row) for row in rows), key=lambda memory: memory.created_at, reverse=True)[:limit]

    def beside(self, memory: Memory, *, limit: int) -> list[Memory]:
        """Return the newest memories in sight of the same collection and type, as of the memory's own making."""
        table = self._table(memory.memory_type)
        own = and_(table.c.tenant == memory.tenant, table.c.collection == memory.collection)
        query = _newest(table, memory.memory_type, and_(own, _in_sight(table, memory.created_at)), limit)
        return [memory_of(row) for row in self._rows(query)]

    def save(self, tenant: str, week: str, report: JsonObject, *, now: datetime) -> None:
        """Keep a report; one that is there is replaced."""
        own = and_(audits.c.tenant == tenant, audits.c.week == week)

        def work(connection: Connection) -> None:
            row = {"tenant": tenant, "week": week, "report": report, "created_at": now}
            insert_missing(connection, audits, [row])
            connection.execute(update(audits).where(own).values(report=report, created_at=now))

        self._database.write(work)

    def load(self, tenant: str, week: str) -> JsonObject | None:
        """Return a report, or None."""
        rows = self._rows(select(audits.c.report).where(audits.c.tenant == tenant, audits.c.week == week))
        return rows[0]["report"] if rows else None

    def weeks(self, tenant: str) -> list[str]:
        """Return the weeks that have a report, newest first."""
        query = select(audits.c.week).where(audits.c.tenant == tenant).order_by(audits.c.week.desc())
        return [row["week"] for row in self._rows(query)]

    def _table(self, name: str) -> Table:
        return memory_table(self._types.all()[name].table)

    def _rows(self, query: Select[Any], values: dict[str, Any] | None = None) -> Sequence[RowMapping]:
        return self._database.read(lambda connection: connection.execute(query, values or {}).mappings().all())


def _ran_out() -> ColumnElement[bool]:
    """A purge tells in its detail, which is JSON in a form of our own, whether a memory had expired or was deleted."""
    reason = type_coerce(events.c.detail, Text).contains('"reason":"expired"', autoescape=True)
    return and_(events.c.kind == "memory.purged", reason)


def _within(instant: ColumnElement[Any], since: datetime, until: datetime) -> ColumnElement[bool]:
    return and_(instant >= since, instant < until)


def _in_sight(table: Table, at: datetime) -> ColumnElement[bool]:
    unexpired = table.c.expires_at.is_(None) | (table.c.expires_at > at)
    return and_(table.c.status == MemoryStatus.ACTIVE.value, unexpired)


def _unread(table: Table) -> ColumnElement[bool]:
    own = and_(read_ledger.c.tenant == table.c.tenant, read_ledger.c.memory_id == table.c.memory_id)
    return ~exists(select(literal(1)).select_from(read_ledger).where(own).correlate(table))


def _newest(table: Table, name: str, wanted: ColumnElement[bool], limit: int) -> Select[Any]:
    columns = (column for column in table.columns if column.name != "embedding")
    query = select(literal(name, Id()).label("memory_type"), *columns).where(wanted)
    return select(query.order_by(table.c.created_at.desc(), table.c.memory_id).limit(limit).subquery())
