"""The reading half of the memory store: one statement a call, rights and expiry inside it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NoReturn

from sqlalchemy import ColumnElement, RowMapping, Select, Table, and_, select

from strata.errors import NotFoundError, UnknownMemoryTypeError
from strata.model.memories import CollectionKind, Memory, MemoryType, MemoryVersion, collection_kind
from strata.policy.names import agent_layer
from strata.ports import Access, CollectionView
from strata.storage import memory_queries
from strata.storage.engine import Database
from strata.storage.memory_queries import Condition, memories, stored
from strata.storage.memory_rows import memory_of, version_of
from strata.storage.memory_types import SqlTypeStore
from strata.storage.refusals import record_refusal
from strata.storage.rights import live
from strata.storage.tables import memory_tombstones, memory_versions


class MemoryReads:
    """Reads for agents, and for the product's own indexes."""

    def __init__(self, database: Database, types: SqlTypeStore) -> None:
        self._database = database
        self._types = types

    def get(self, access: Access, collection: str, memory_id: str, *, now: datetime) -> Memory:
        """Return one live memory. Raises NotFoundError; a refusal is entered in the audit trail."""
        found = self._memories(memories(self._all_types(), access, named(collection, memory_id), now))
        if not found:
            self._refuse(access, collection, memory_id, "get", now)
        return found[0]

    def get_many(self, access: Access, memory_ids: Sequence[str], *, now: datetime) -> list[Memory]:
        """Return those that are live and readable, in the order asked, in one statement."""
        if not memory_ids:
            return []
        query = memories(self._all_types(), access, lambda table: table.c.memory_id.in_(memory_ids), now)
        found = {memory.memory_id: memory for memory in self._memories(query)}
        return [found[memory_id] for memory_id in memory_ids if memory_id in found]

    def view(self, access: Access, collections: Sequence[str], *, now: datetime) -> dict[str, CollectionView]:
        """Return the state of those collections that the agent may read; one statement for all.

        A personal layer that nobody has written to yet is empty, not absent. A collection that exists and is not in
        the answer is a refusal, and entered as one.
        """
        names = list(dict.fromkeys(collections))
        rows = self._rows(memory_queries.view(access, names, now)) if names else []
        states = {row["name"]: row for row in rows}
        allowed = {name: self._view(states[name]) for name in names if name in states and states[name]["allowed"]}
        empty = {name: self._empty_view() for name in names if name not in states and _is_implied(access, name)}
        for name in names:
            if name not in allowed and name not in empty and (name in states or is_layer(name)):
                record_refusal(self._database, access, name, "", "read", now)
        return allowed | empty

    def changes(self, tenant: str, collection: str, after_seq: int) -> list[Memory]:
        """Return every memory changed after ``after_seq`` (any status), with embeddings, for an index."""

        def changed(table: Table) -> ColumnElement[bool]:
            own = and_(table.c.tenant == tenant, table.c.collection == collection)
            return and_(own, table.c.change_seq > after_seq)

        return self._memories(stored(self._all_types(), changed, vectors=True))

    def standing(self, access: Access, collections: Sequence[str], *, now: datetime) -> list[Memory]:
        """Return the live standing constraints of collections, most important and newest first."""
        if not collections:
            return []

        def constraint(table: Table) -> ColumnElement[bool]:
            return and_(table.c.collection.in_(collections), table.c.standing)

        found = self._memories(memories(self._all_types(), access, constraint, now))
        return sorted(found, key=lambda memory: (memory.importance, memory.said_at, memory.memory_id), reverse=True)

    def listed(
        self,
        access: Access,
        collection: str,
        *,
        now: datetime,
        memory_types: Sequence[str] | None = None,
        limit: int = 100,
        after: str = "",
    ) -> list[Memory]:
        """Return live memories in the order of their ids. Raises UnknownMemoryTypeError."""
        types = self._all_types() if memory_types is None else [self._type(name) for name in memory_types]

        def behind(table: Table) -> ColumnElement[bool]:
            return and_(table.c.collection == collection, table.c.memory_id > after)

        return self._memories(memories(types, access, behind, now, limit=limit)) if types else []

    def history(self, access: Access, collection: str, memory_id: str, *, now: datetime) -> list[MemoryVersion]:
        """Return every version, oldest first, while the memory is live; an administrator also sees it afterwards.

        Versions that the memory had under a type the agent may not read are left out. Raises NotFoundError.
        """
        found = self._versions(memory_queries.versions(self._all_types(), access, collection, memory_id, now))
        if not found:
            self._refuse(access, collection, memory_id, "history", now)
        return found

    def tombstoned(self, tenant: str, collection: str, fingerprints: Sequence[str]) -> set[str]:
        """Return those fingerprints that were deleted on purpose."""
        if not fingerprints:
            return set()
        tombstone = memory_tombstones.c
        query = select(tombstone.fingerprint).where(
            tombstone.tenant == tenant, tombstone.collection == collection, tombstone.fingerprint.in_(fingerprints)
        )
        return set(self._database.read(lambda c: c.execute(query).scalars().all()))

    def of_run(self, tenant: str, run_id: str) -> list[MemoryVersion]:
        """Return every version that a run wrote, in the order of memory and version."""
        version = memory_versions.c
        query = select(memory_versions).where(version.tenant == tenant, version.run_id == run_id)
        return self._versions(query.order_by(version.memory_id, version.version))

    def _rows(self, query: Select[Any]) -> Sequence[RowMapping]:
        return self._database.read(lambda connection: connection.execute(query).mappings().all())

    def _memories(self, query: Select[Any]) -> list[Memory]:
        return [memory_of(row) for row in self._rows(query)]

    def _versions(self, query: Select[Any]) -> list[MemoryVersion]:
        return [version_of(row) for row in self._rows(query)]

    def _all_types(self) -> list[MemoryType]:
        return list(self._types.all().values())

    def _type(self, name: str) -> MemoryType:
        found = self._types.named(name)
        if found is None:
            raise UnknownMemoryTypeError(fields={"memory_type": name})
        return found

    def _view(self, row: RowMapping) -> CollectionView:
        lists = [names for names in (row["allowed_types"], row["declared_types"]) if names is not None]
        readable = tuple(name for name in self._types.all() if all(name in names for names in lists))
        return CollectionView(change_seq=row["change_seq"], purged_seq=row["purged_seq"], readable_types=readable)

    def _empty_view(self) -> CollectionView:
        return CollectionView(change_seq=0, purged_seq=0, readable_types=tuple(self._types.all()))

    def _refuse(self, access: Access, collection: str, memory_id: str, operation: str, now: datetime) -> NoReturn:
        """Answer as if it were absent; if it is not, the refusal is entered in the audit trail."""

        def hidden(table: Table) -> ColumnElement[bool]:
            return and_(table.c.tenant == access.tenant, named(collection, memory_id)(table), live(table, now))

        if self._rows(stored(self._all_types(), hidden)):
            record_refusal(self._database, access, collection, memory_id, operation, now)
        raise NotFoundError


def named(collection: str, memory_id: str) -> Condition:
    """Return the condition for one memory of one collection."""
    return lambda table: and_(table.c.memory_id == memory_id, table.c.collection == collection)


def is_layer(name: str) -> bool:
    """Tell whether a name is that of a personal layer."""
    return collection_kind(name) is not CollectionKind.SHARED


def _is_implied(access: Access, name: str) -> bool:
    if collection_kind(name) is CollectionKind.USER or access.admin or access.system:
        return is_layer(name)
    return name == agent_layer(access.agent_id)
