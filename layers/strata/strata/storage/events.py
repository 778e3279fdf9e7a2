"""The audit trail: one chain of hashes per tenant, written inside the transaction of what it tells of.

The row of ``event_heads`` is locked by the first statement here, so events of a tenant are numbered without gaps and
each carries the hash of its predecessor. Repositories append last in their transaction: the lock is held briefly.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, select, update

from strata.model.events import AuditEvent, NewEvent
from strata.policy.digests import FIRST_HASH, digest_of
from strata.storage.engine import Database
from strata.storage.inserts import insert_missing
from strata.storage.rights import TENANT
from strata.storage.statements import Insert, Statement
from strata.storage.tables import event_heads, events

_OF_TENANT = select(event_heads.c.last_seq, event_heads.c.last_hash).where(event_heads.c.tenant == TENANT)
_HEAD = Statement(_OF_TENANT)
_LOCKED = Statement(_OF_TENANT.with_for_update())
_APPEND = Insert(events, [column.name for column in events.columns])
_MOVE = Statement(update(event_heads).where(event_heads.c.tenant == TENANT), columns=("last_seq", "last_hash"))


def append_event(connection: Connection, tenant: str, event: NewEvent, now: datetime) -> AuditEvent:
    """Append one event in the caller's transaction; three statements."""
    return append_events(connection, tenant, [event], now)[0]


def append_events(connection: Connection, tenant: str, new: Sequence[NewEvent], now: datetime) -> list[AuditEvent]:
    """Append events in the caller's transaction; three statements however many."""
    if not new:
        return []
    seq, previous = _locked_head(connection, tenant)
    chained: list[AuditEvent] = []
    for event in new:
        seq += 1
        chained.append(_chained(tenant, seq, previous, event, now))
        previous = chained[-1].hash
    _APPEND.run(connection, [_values(event) for event in chained])
    _MOVE.run(connection, in_tenant=tenant, last_seq=seq, last_hash=previous)
    return chained


def _locked_head(connection: Connection, tenant: str) -> tuple[int, str]:
    rows = _LOCKED.rows(connection, in_tenant=tenant)
    if not rows:
        insert_missing(connection, event_heads, [{"tenant": tenant, "last_seq": 0, "last_hash": FIRST_HASH}])
        rows = _LOCKED.rows(connection, in_tenant=tenant)
    seq, last_hash = rows[0]
    return seq, last_hash


def _chained(tenant: str, seq: int, previous: str, event: NewEvent, now: datetime) -> AuditEvent:
    values: dict[str, Any] = {
        "tenant": tenant,
        "seq": seq,
        "kind": event.kind,
        "actor": event.actor,
        "collection": event.collection,
        "memory_id": event.memory_id,
        "detail": event.detail,
        "at": now,
        "previous_hash": previous,
    }
    return AuditEvent(**values, hash=digest_of(values))


def _values(event: AuditEvent) -> list[Any]:
    return [getattr(event, column.name) for column in events.columns]


def event_of(row: RowMapping) -> AuditEvent:
    """Return the event that a row of ``events`` holds."""
    return AuditEvent(**{column.name: row[column.name] for column in events.columns})


class SqlEventLog:
    """The port ``EventLog``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, tenant: str, event: NewEvent, *, now: datetime) -> None:
        """Append one event that belongs to no other transaction."""
        self._database.write(lambda connection: append_event(connection, tenant, event, now))

    def page(
        self,
        tenant: str,
        *,
        limit: int,
        before_seq: int | None = None,
        kind: str = "",
        memory_id: str = "",
        collection: str = "",
    ) -> list[AuditEvent]:
        """Return events, newest first; ``kind`` may be a whole family such as ``memory.``."""
        query = select(events).where(events.c.tenant == tenant).order_by(events.c.seq.desc()).limit(limit)
        query = _narrowed(query, before_seq=before_seq, kind=kind, memory_id=memory_id, collection=collection)
        return self._database.read(lambda c: [event_of(row) for row in c.execute(query).mappings()])

    def after(self, tenant: str, seq: int, *, limit: int) -> list[AuditEvent]:
        """Return the events behind ``seq``, oldest first, as they are stored."""
        query = select(events).where(events.c.tenant == tenant, events.c.seq > seq).order_by(events.c.seq).limit(limit)
        return self._database.read(lambda c: [event_of(row) for row in c.execute(query).mappings()])

    def head(self, tenant: str) -> tuple[int, str]:
        """Return number and hash of the last event; ``(0, FIRST_HASH)`` before the first."""
        rows = self._database.read(lambda connection: _HEAD.rows(connection, in_tenant=tenant))
        return (rows[0][0], rows[0][1]) if rows else (0, FIRST_HASH)


def _narrowed(query: Select[Any], *, before_seq: int | None, kind: str, memory_id: str, collection: str) -> Select[Any]:
    if before_seq is not None:
        query = query.where(events.c.seq < before_seq)
    if kind:
        family = events.c.kind.startswith(kind, autoescape=True)
        query = query.where(family if kind.endswith(".") else events.c.kind == kind)
    if memory_id:
        query = query.where(events.c.memory_id == memory_id)
    if collection:
        query = query.where(events.c.collection == collection)
    return query
