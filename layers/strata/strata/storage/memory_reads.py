"""The reading half of the memory store: one statement a call, rights and expiry inside it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NoReturn

from sqlalchemy import select

from strata.errors import NotFoundError, UnknownMemoryTypeError
from strata.model.memories import CollectionKind, Memory, MemoryType, MemoryVersion, collection_kind
from strata.policy.names import agent_layer
from strata.ports import Access, CollectionView, Opening
from strata.storage import memory_queries
from strata.storage.engine import Database
from strata.storage.memory_checks import listed_parameters, parted, places_for, present_versions
from strata.storage.memory_queries import memories, stored
from strata.storage.memory_rows import memory_of, version_of
from strata.storage.memory_types import SqlTypeStore
from strata.storage.refusals import record_refusal
from strata.storage.rights import bypasses, parameters
from strata.storage.statements import Statement
from strata.storage.tables import memory_tombstones, memory_versions

LEAST_NAMES = 4
"""Places for the names of collections in one statement: a user's, an agent's, and shared ones."""


class MemoryReads:
    """Reads for agents, and for the product's own indexes."""

    def __init__(self, database: Database, types: SqlTypeStore) -> None:
        self._database = database
        self._types = types

    def get(self, access: Access, collection: str, memory_id: str, *, now: datetime) -> Memory:
        """Return one live memory. Raises NotFoundError; a refusal is entered in the audit trail."""
        query = memories(self._all_types(), "one", bypass=bypasses(access))
        found = self._memories(query, parameters(access, now, in_collection=collection, the_memory=memory_id))
        if not found:
            self._refuse(access, collection, memory_id, "get", now)
        return found[0]

    def get_many(
        self, access: Access, memory_ids: Sequence[str], *, now: datetime, memory_types: Sequence[str] | None = None
    ) -> list[Memory]:
        """Return those that are live and readable, in the order asked, in one statement (a thousand ids in each).

        Only tables of ``memory_types`` are looked into, if the caller knows them.
        """
        if not memory_ids:
            return []
        types = self._known_types(memory_types)
        found: dict[str, Memory] = {}
        for places, listed in parted(memory_ids):
            query = memories(types, "many", bypass=bypasses(access), places=places)
            found |= {memory.memory_id: memory for memory in self._memories(query, parameters(access, now, **listed))}
        return [found[memory_id] for memory_id in memory_ids if memory_id in found]

    def present_versions(
        self, access: Access, memory_ids: Sequence[str], *, now: datetime, memory_types: Sequence[str]
    ) -> dict[str, int]:
        """Return the present version of those that are live and readable, by id, in one statement."""
        if not memory_ids:
            return {}
        types, places = self._known_types(memory_types), places_for(len(memory_ids))
        query = present_versions(types, places, bypass=bypasses(access))
        values = parameters(access, now, **listed_parameters(memory_ids, places))
        return dict(self._database.read(lambda connection: query.rows(connection, **values)))

    def view(self, access: Access, collections: Sequence[str], *, now: datetime) -> dict[str, CollectionView]:
        """Return the state of those collections that the agent may read; one statement for all.

        A personal layer that nobody has written to yet is empty, not absent. A collection that exists and is not in
        the answer is a refusal, and entered as one.
        """
        names = list(dict.fromkeys(collections))
        if not names:
            return {}
        places = places_for(len(names), least=LEAST_NAMES)
        query = memory_queries.view(places, bypass=bypasses(access))
        rows = self._rows(query, parameters(access, now, **listed_parameters(names, places)))
        states = {row["name"]: row for row in rows}
        allowed = {name: self._view(states[name]) for name in names if name in states and states[name]["allowed"]}
        empty = {name: self._empty_view() for name in names if name not in states and _is_implied(access, name)}
        for name in names:
            if name not in allowed and name not in empty and (name in states or is_layer(name)):
                record_refusal(self._database, access, name, "", "read", now)
        return allowed | empty

    def opening(self, access: Access, collection: str, *, model: str, text_hash: str, now: datetime) -> Opening:
        """Return the state of a collection, and the vector kept of a text, for an insert; one statement.

        The vector of a text is not looked for where there is no collection yet.
        """
        query = memory_queries.opening(bypass=bypasses(access))
        listed = listed_parameters([collection], 1)
        rows = self._rows(query, parameters(access, now, of_model=model, of_text=text_hash, **listed))
        if not rows:
            is_implied = _is_implied(access, collection)
            return Opening(view=self._empty_view() if is_implied else None, is_complete=False)
        (row,) = rows
        return Opening(view=self._view(row) if row["allowed"] else None, vector=row["vector"])

    def changes(self, tenant: str, collection: str, after_seq: int) -> list[Memory]:
        """Return every memory changed after ``after_seq`` (any status), with embeddings, for an index."""
        query = stored(self._all_types(), "changed", vectors=True)
        return self._memories(query, {"in_tenant": tenant, "in_collection": collection, "after_seq": after_seq})

    def standing(self, access: Access, collections: Sequence[str], *, now: datetime) -> list[Memory]:
        """Return the live standing constraints of collections, most important and newest first."""
        if not collections:
            return []
        places = places_for(len(collections), least=LEAST_NAMES)
        query = memories(self._all_types(), "standing", bypass=bypasses(access), places=places)
        found = self._memories(query, parameters(access, now, **listed_parameters(collections, places)))
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
        types = self._all_types() if memory_types is None else tuple(self._type(name) for name in memory_types)
        if not types:
            return []
        query = memories(types, "behind", bypass=bypasses(access))
        return self._memories(query, parameters(access, now, in_collection=collection, after_id=after, at_most=limit))

    def history(self, access: Access, collection: str, memory_id: str, *, now: datetime) -> list[MemoryVersion]:
        """Return every version, oldest first, while the memory is live; an administrator also sees it afterwards.

        Versions that the memory had under a type the agent may not read are left out. Raises NotFoundError.
        """
        query = memory_queries.versions(self._all_types(), bypass=bypasses(access))
        rows = self._rows(query, parameters(access, now, in_collection=collection, the_memory=memory_id))
        if not rows:
            self._refuse(access, collection, memory_id, "history", now)
        return [version_of(row) for row in rows]

    def tombstoned(self, tenant: str, collection: str, fingerprints: Sequence[str]) -> dict[str, datetime]:
        """Return those fingerprints that were deleted on purpose, each with the instant of its last deletion."""
        if not fingerprints:
            return {}
        tombstone = memory_tombstones.c
        query = select(tombstone.fingerprint, tombstone.deleted_at).where(
            tombstone.tenant == tenant, tombstone.collection == collection, tombstone.fingerprint.in_(fingerprints)
        )
        rows = self._database.read(lambda c: c.execute(query.order_by(tombstone.deleted_at)).all())
        return {row.fingerprint: row.deleted_at for row in rows}

    def of_run(self, tenant: str, run_id: str) -> list[MemoryVersion]:
        """Return every version that a run wrote, in the order of memory and version."""
        version = memory_versions.c
        query = select(memory_versions).where(version.tenant == tenant, version.run_id == run_id)
        ordered = query.order_by(version.memory_id, version.version)
        rows = self._database.read(lambda connection: connection.execute(ordered).mappings().all())
        return [version_of(row) for row in rows]

    def _rows(self, query: Statement, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        return self._database.read(lambda connection: query.records(connection, **values))

    def _memories(self, query: Statement, values: Mapping[str, Any]) -> list[Memory]:
        return [memory_of(row) for row in self._rows(query, values)]

    def _all_types(self) -> tuple[MemoryType, ...]:
        return tuple(self._types.all().values())

    def _known_types(self, names: Sequence[str] | None) -> tuple[MemoryType, ...]:
        known = self._types.all()
        wanted = tuple(known[name] for name in names or () if name in known)
        return wanted or tuple(known.values())

    def _type(self, name: str) -> MemoryType:
        found = self._types.named(name)
        if found is None:
            raise UnknownMemoryTypeError(fields={"memory_type": name})
        return found

    def _view(self, row: Mapping[str, Any]) -> CollectionView:
        lists = [names for names in (row["allowed_types"], row["declared_types"]) if names is not None]
        readable = tuple(name for name in self._types.all() if all(name in names for names in lists))
        return CollectionView(change_seq=row["change_seq"], purged_seq=row["purged_seq"], readable_types=readable)

    def _empty_view(self) -> CollectionView:
        return CollectionView(change_seq=0, purged_seq=0, readable_types=tuple(self._types.all()))

    def _refuse(self, access: Access, collection: str, memory_id: str, operation: str, now: datetime) -> NoReturn:
        """Answer as if it were absent; if it is not, the refusal is entered in the audit trail."""
        query = memories(self._all_types(), "one", bypass=True)
        if self._rows(query, parameters(access, now, in_collection=collection, the_memory=memory_id)):
            record_refusal(self._database, access, collection, memory_id, operation, now)
        raise NotFoundError


def is_layer(name: str) -> bool:
    """Tell whether a name is that of a personal layer."""
    return collection_kind(name) is not CollectionKind.SHARED


def _is_implied(access: Access, name: str) -> bool:
    if collection_kind(name) is CollectionKind.USER or access.admin or access.system:
        return is_layer(name)
    return name == agent_layer(access.agent_id)
