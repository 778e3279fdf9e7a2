"""Policies of collections and registrations of agents. Every change leaves one audit event in its transaction."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, and_, delete, select, update

from strata.errors import ConflictError, NotFoundError
from strata.model.events import NewEvent
from strata.model.memories import Collection, CollectionKind, ConflictPolicy, Registration
from strata.policy.access import default_collection, effective
from strata.ports import Access
from strata.storage.engine import Database
from strata.storage.events import append_event
from strata.storage.memory_queries import memories
from strata.storage.memory_types import SqlTypeStore
from strata.storage.memory_writes import make_collection
from strata.storage.refusals import refusal
from strata.storage.registrations import grant, registration_of, revoke, select_behind, select_registrations
from strata.storage.rights import parameters
from strata.storage.tables import collections, memory_table, memory_tombstones, memory_versions, registrations

_POLICY = ("read_agents", "write_agents", "memory_types")


class SqlCollectionStore:
    """The port ``CollectionStore``."""

    def __init__(self, database: Database, types: SqlTypeStore) -> None:
        self._database = database
        self._types = types

    def get(self, tenant: str, name: str) -> Collection | None:
        """Return a collection; a personal layer is there without having been made."""
        return self._database.read(lambda connection: _found(connection, tenant, name))

    def page(self, tenant: str, *, limit: int = 500, after: str = "") -> list[Collection]:
        """Return the collections that were made or written to, in the order of their names."""
        query = select(collections).where(collections.c.tenant == tenant, collections.c.name > after)
        query = query.order_by(collections.c.name).limit(limit)
        return self._database.read(lambda c: [_collection(row) for row in c.execute(query).mappings()])

    def put(self, collection: Collection, *, actor: str, now: datetime) -> Collection:
        """Create or change the policy."""

        def work(connection: Connection) -> Collection:
            tenant, name = collection.tenant, collection.name
            make_collection(connection, tenant, name, now)
            values = {field: getattr(collection, field) for field in _POLICY}
            values["conflict_policy"] = collection.conflict_policy.value
            connection.execute(update(collections).where(_named(tenant, name)).values(**values, updated_at=now))
            append_event(connection, tenant, _event("collection.put", actor, name, values), now)
            return _collection(connection.execute(select(collections).where(_named(tenant, name))).mappings().one())

        return self._database.write(work)

    def delete(self, tenant: str, name: str, *, actor: str, now: datetime) -> bool:
        """Delete a collection without live memories, and what is left of dead ones; False if there is none.

        Raises ConflictError if there are live memories.
        """

        def work(connection: Connection) -> bool:
            if _locked(connection, tenant, name) is None:
                return False
            if self._live_memories(connection, tenant, name, now):
                raise ConflictError("The collection still holds memories.", hint="Delete or move them first.")
            self._remove_remains(connection, tenant, name)
            append_event(connection, tenant, _event("collection.deleted", actor, name, {}), now)
            return True

        return self._database.write(work)

    def register(self, registration: Registration, *, actor: str, now: datetime) -> Registration:
        """Create or change a registration, checked against the collection's policy in the same transaction.

        What an administrator granted or revoked, the agent cannot change by registering again.

        Raises:
            NotFoundError: no such collection, or more than its policy allows; that refusal is an audit event.
        """
        tenant, name = registration.tenant, registration.collection

        def work(connection: Connection) -> bool:
            row = _locked_or_made(connection, tenant, name, now)
            if row is None:
                return False
            granted = grant(connection, row["collection_no"], _collection(row), registration, actor, now)
            append_event(connection, tenant, _registered(registration, actor, granted=granted), now)
            return granted

        if not self._database.write(work):
            raise NotFoundError
        return registration

    def registration(self, tenant: str, name: str, agent_id: str, *, now: datetime) -> Registration | None:
        """Return the effective registration: not revoked, not expired, cut to the present policy."""
        collection = self.get(tenant, name)
        if collection is None:
            return None
        declared = {one.agent_id: one for one in self.registrations(tenant, name, agent_id=agent_id)}
        held = effective(declared.get(agent_id), collection, agent_id, now)
        return held if held.read or held.write else None

    def registrations(self, tenant: str, name: str, *, agent_id: str | None = None) -> list[Registration]:
        """Return registrations as they were declared, revoked and expired ones too, in the order of agents."""
        query = select_registrations(tenant, name)
        if agent_id is not None:
            query = query.where(registrations.c.agent_id == agent_id)
        return self._database.read(
            lambda c: [registration_of(tenant, name, row) for row in c.execute(query).mappings()]
        )

    def registrations_after(
        self, tenant: str, name: str, agent_id: str, *, limit: int
    ) -> list[tuple[Registration, str]]:
        """Return declared registrations of every collection with who decided them last, by collection and agent."""
        query = select_behind(tenant, name, agent_id).limit(limit)
        rows = self._database.read(lambda connection: connection.execute(query).mappings().all())
        return [(registration_of(tenant, row["name"], row), row["decided_by"]) for row in rows]

    def revoke(self, tenant: str, name: str, agent_id: str, *, actor: str, now: datetime) -> bool:
        """Revoke with immediate effect. On a personal layer this shuts out an agent that never registered."""

        def work(connection: Connection) -> bool:
            row = _locked_or_made(connection, tenant, name, now)
            if row is None or not revoke(connection, row["collection_no"], _collection(row), agent_id, actor, now):
                return False
            append_event(connection, tenant, _event("registration.revoked", actor, name, {"agent_id": agent_id}), now)
            return True

        return self._database.write(work)

    def _live_memories(self, connection: Connection, tenant: str, name: str, now: datetime) -> bool:
        system = Access(tenant=tenant, agent_id="", system=True)
        query = memories(tuple(self._types.all().values()), "behind", bypass=True)
        values = parameters(system, now, in_collection=name, after_id="", at_most=1)
        return bool(query.rows(connection, **values))

    def _remove_remains(self, connection: Connection, tenant: str, name: str) -> None:
        tables = [memory_table(memory_type.table) for memory_type in self._types.all().values()]
        for table in (*tables, memory_versions, memory_tombstones):
            connection.execute(delete(table).where(table.c.tenant == tenant, table.c.collection == name))
        connection.execute(delete(collections).where(_named(tenant, name)))


def _found(connection: Connection, tenant: str, name: str) -> Collection | None:
    row = connection.execute(select(collections).where(_named(tenant, name))).mappings().one_or_none()
    return default_collection(tenant, name) if row is None else _collection(row)


def _locked(connection: Connection, tenant: str, name: str) -> RowMapping | None:
    query: Select[Any] = select(collections).where(_named(tenant, name)).with_for_update()
    return connection.execute(query).mappings().one_or_none()


def _locked_or_made(connection: Connection, tenant: str, name: str, now: datetime) -> RowMapping | None:
    row = _locked(connection, tenant, name)
    if row is None and default_collection(tenant, name) is not None:
        make_collection(connection, tenant, name, now)
        row = _locked(connection, tenant, name)
    return row


def _named(tenant: str, name: str) -> ColumnElement[bool]:
    return and_(collections.c.tenant == tenant, collections.c.name == name)


def _collection(row: RowMapping) -> Collection:
    return Collection(
        tenant=row["tenant"],
        name=row["name"],
        kind=CollectionKind(row["kind"]),
        conflict_policy=ConflictPolicy(row["conflict_policy"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        **{field: row[field] for field in _POLICY},
    )


def _registered(registration: Registration, actor: str, *, granted: bool) -> NewEvent:
    if not granted:
        access = Access(tenant=registration.tenant, agent_id=actor)
        return refusal(access, registration.collection, "", "register")
    detail: dict[str, Any] = {
        "agent_id": registration.agent_id,
        "read": registration.read,
        "write": registration.write,
        "memory_types": registration.memory_types,
        "expires_at": registration.expires_at and registration.expires_at.isoformat(),
    }
    return _event("registration.put", actor, registration.collection, detail)


def _event(kind: str, actor: str, collection: str, detail: Mapping[str, Any]) -> NewEvent:
    return NewEvent(kind=kind, actor=actor, collection=collection, detail=dict(detail))
