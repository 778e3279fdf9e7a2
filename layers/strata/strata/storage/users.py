"""Everything about one user: what there is, and removing it. Every step is bounded, atomic and safe to repeat."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import groupby

from sqlalchemy import ColumnElement, Connection, RowMapping, Table, and_, delete, func, or_, select, tuple_

from strata.model.events import NewEvent
from strata.model.memories import Memory
from strata.model.quarantine import Quarantined
from strata.policy.names import user_layer
from strata.ports import Access, ProviderCopy
from strata.storage.engine import Database
from strata.storage.events import append_event, append_events
from strata.storage.memory_queries import stored
from strata.storage.memory_rows import memory_of
from strata.storage.memory_types import SqlTypeStore
from strata.storage.memory_writes import take_turn
from strata.storage.purge import note_purge, remove_traces
from strata.storage.quarantine import quarantined_of
from strata.storage.tables import (
    collections,
    memory_table,
    memory_tombstones,
    messages,
    provider_copies,
    quarantine,
    read_ledger,
    retirements,
    run_receipts,
    runs,
    sessions,
)

BATCH = 500
_COPY = ("memory_id", "provider", "external_id", "collection")


class SqlUserStore:
    """The port ``UserStore``."""

    def __init__(self, database: Database, types: SqlTypeStore) -> None:
        self._database = database
        self._types = types

    def memories(self, tenant: str, user_id: str) -> list[Memory]:
        """Return every memory in the user's layer or about the user, in any state, in the order of ids."""
        query = stored(tuple(self._types.all().values()), "about")
        values = {"in_tenant": tenant, "in_collection": user_layer(user_id), "the_user": user_id}
        rows = self._database.read(lambda connection: query.records(connection, **values))
        return sorted((memory_of(row) for row in rows), key=lambda memory: memory.memory_id)

    def quarantined(self, tenant: str, user_id: str) -> list[Quarantined]:
        """Return every text about the user, or for the user's layer, that was set aside, in the order of ids."""
        query = select(quarantine).where(quarantine.c.tenant == tenant, _quarantined(user_id))
        rows = self._database.read(lambda c: c.execute(query.order_by(quarantine.c.quarantine_id)).mappings().all())
        return [quarantined_of(row) for row in rows]

    def copies(self, tenant: str, user_id: str) -> list[ProviderCopy]:
        """Return what external providers keep."""
        copy = provider_copies.c
        query = select(*(copy[field] for field in _COPY)).where(copy.tenant == tenant, copy.user_id == user_id)
        rows = self._database.read(lambda connection: connection.execute(query).mappings().all())
        return [ProviderCopy(**row) for row in rows]

    def forget_copies(self, tenant: str, copies: Sequence[ProviderCopy]) -> int:
        """Remove the notes of copies that are gone."""
        copy = provider_copies.c
        keys = [(one.provider, one.memory_id, one.external_id) for one in copies]
        named = tuple_(copy.provider, copy.memory_id, copy.external_id).in_(keys)
        gone = delete(provider_copies).where(copy.tenant == tenant, named)
        return self._database.write(lambda connection: connection.execute(gone).rowcount) if keys else 0

    def erase_memories(self, tenant: str, user_id: str, *, actor: str, now: datetime) -> Mapping[str, int]:
        """Remove memories, versions, links and ledger entries; one event a memory, which names no user."""
        access = Access(tenant=tenant, agent_id=actor, system=True)
        removed = Counter(memories=0, versions=0, links=0, reads=0)
        for memory_type in self._types.all().values():
            table = memory_table(memory_type.table)
            while batch := self._about(table, tenant, user_id):
                for name, ids in batch:
                    removed.update(self._remove(table, access, name, ids, now))
        self._database.write(lambda connection: _drop_layer(connection, tenant, user_layer(user_id)))
        return removed

    def erase_sessions(self, tenant: str, user_id: str, *, actor: str, now: datetime) -> Mapping[str, int]:
        """Remove sessions, messages, runs, and what was pending or quarantined from them; one event a transaction."""
        removed: Counter[str] = Counter()
        batch = self._sessions(tenant, user_id)
        while True:
            removed.update(self._database.write(partial(_erase_batch, tenant, user_id, batch, actor, now)))
            batch = self._sessions(tenant, user_id)
            if not batch:
                return removed

    def _about(self, table: Table, tenant: str, user_id: str) -> list[tuple[str, list[str]]]:
        about = or_(table.c.collection == user_layer(user_id), table.c.user_id == user_id)
        query = select(table.c.collection, table.c.memory_id).where(table.c.tenant == tenant, about)
        query = query.order_by(table.c.collection).limit(BATCH)
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return [
            (name, [row.memory_id for row in group]) for name, group in groupby(rows, key=lambda row: row.collection)
        ]

    def _remove(
        self, table: Table, access: Access, collection: str, ids: Sequence[str], now: datetime
    ) -> Mapping[str, int]:
        def work(connection: Connection) -> Mapping[str, int]:
            take_turn(connection, access, collection, now)
            own = and_(table.c.tenant == access.tenant, table.c.memory_id.in_(ids))
            removed = connection.execute(delete(table).where(own)).rowcount
            traces = remove_traces(connection, access.tenant, ids)
            note_purge(connection, access.tenant, collection)
            erased = [NewEvent(kind="memory.erased", actor=access.agent_id, memory_id=memory_id) for memory_id in ids]
            append_events(connection, access.tenant, erased, now)
            return {"memories": removed, **traces}

        return self._database.write(work)

    def _sessions(self, tenant: str, user_id: str) -> Sequence[RowMapping]:
        own = and_(sessions.c.tenant == tenant, sessions.c.user_id == user_id)
        query = select(sessions.c.session_no, sessions.c.session_id).where(own).limit(BATCH)
        return self._database.read(lambda connection: connection.execute(query).mappings().all())


def _quarantined(user_id: str) -> ColumnElement[bool]:
    return or_(quarantine.c.user_id == user_id, quarantine.c.collection == user_layer(user_id))


def _drop_layer(connection: Connection, tenant: str, name: str) -> None:
    for table, column in ((memory_tombstones, memory_tombstones.c.collection), (collections, collections.c.name)):
        connection.execute(delete(table).where(table.c.tenant == tenant, column == name))


def _erase_batch(
    tenant: str, user_id: str, batch: Sequence[RowMapping], actor: str, now: datetime, connection: Connection
) -> Mapping[str, int]:
    """Remove some sessions and every text in quarantine, with the event that counts them."""
    removed = Counter(_remove_sessions(connection, tenant=tenant, batch=batch) if batch else {})
    about = and_(quarantine.c.tenant == tenant, _quarantined(user_id))
    removed["quarantined"] += connection.execute(delete(quarantine).where(about)).rowcount
    append_event(connection, tenant, NewEvent(kind="user.erased", actor=actor, detail=dict(removed)), now)
    return removed


def _remove_sessions(connection: Connection, *, tenant: str, batch: Sequence[RowMapping]) -> dict[str, int]:
    """Remove a batch of sessions and everything that hangs on them; messages and digests go with their session."""
    numbers = [row["session_no"] for row in batch]
    names = [row["session_id"] for row in batch]
    own_runs = select(runs.c.run_id).where(runs.c.tenant == tenant, runs.c.session_no.in_(numbers))
    run_ids = list(connection.execute(own_runs).scalars())
    counted = select(func.count()).select_from(messages).where(messages.c.session_no.in_(numbers))
    removed = {"messages": connection.execute(counted).scalar_one()}
    for what, table, condition in (
        ("receipts", run_receipts, run_receipts.c.run_id.in_(run_ids)),
        ("retirements", retirements, retirements.c.run_id.in_(run_ids)),
        ("quarantined", quarantine, quarantine.c.session_id.in_(names)),
        ("reads", read_ledger, read_ledger.c.session_id.in_(names)),
        ("runs", runs, runs.c.run_id.in_(run_ids)),
        ("sessions", sessions, sessions.c.session_no.in_(numbers)),
    ):
        removed[what] = connection.execute(delete(table).where(table.c.tenant == tenant, condition)).rowcount
    return removed
