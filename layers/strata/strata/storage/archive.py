"""Memories and versions in any state, for undo, impact, transfer and proof."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, or_, select

from strata.errors import ConflictError, NotFoundError, UnknownMemoryTypeError
from strata.model.memories import ChangeKind, Memory, MemoryVersion
from strata.ports import Access, MemoryEdit, Written
from strata.storage.engine import Database
from strata.storage.memory_checks import parted
from strata.storage.memory_queries import stored
from strata.storage.memory_rows import memory_of, next_version, sealed, version_of
from strata.storage.memory_types import SqlTypeStore
from strata.storage.memory_writes import make_collection, take_turn, write_first
from strata.storage.statements import Statement
from strata.storage.tables import memory_table, memory_versions

_STEP = memory_versions.c


class SqlArchive:
    """The port ``Archive``."""

    def __init__(self, database: Database, types: SqlTypeStore) -> None:
        self._database = database
        self._types = types

    def records(self, tenant: str, memory_ids: Sequence[str]) -> list[Memory]:
        """Return memories in any state, in the order of their ids."""
        types, found = tuple(self._types.all().values()), []
        for places, listed in parted(memory_ids):
            query = stored(types, "many", places=places)
            found += self._memories(query, {"in_tenant": tenant, **listed})
        return sorted(found, key=lambda memory: memory.memory_id)

    def histories(self, tenant: str, memory_ids: Sequence[str]) -> dict[str, list[MemoryVersion]]:
        """Return every version of memories, oldest first."""
        found: dict[str, list[MemoryVersion]] = {memory_id: [] for memory_id in memory_ids}
        for version in self._versions(tenant, _STEP.memory_id.in_(memory_ids)):
            found[version.memory_id].append(version)
        return found

    def of_agent(self, tenant: str, agent_id: str, *, since: datetime) -> list[MemoryVersion]:
        """Return every version that an agent wrote since an instant, in the order of memory and version."""
        return self._versions(tenant, _STEP.agent_id == agent_id, _STEP.created_at >= since)

    def of_sessions(self, tenant: str, session_ids: Sequence[str], *, since: datetime) -> list[MemoryVersion]:
        """Return every version that came from sessions since an instant, oldest first."""
        found = self._versions(tenant, _STEP.session_id.in_(session_ids), _STEP.created_at >= since)
        return sorted(found, key=lambda version: (version.created_at, version.memory_id, version.version))

    def memories_after(self, tenant: str, memory_id: str, *, limit: int) -> list[Memory]:
        """Return memories in any state, with vectors, in the order of their ids."""
        query = stored(tuple(self._types.all().values()), "any", vectors=True)
        found = self._memories(query, {"in_tenant": tenant, "after_id": memory_id, "at_most": limit})
        return sorted(found, key=lambda memory: memory.memory_id)[:limit]

    def versions_after(self, tenant: str, memory_id: str, version: int, *, limit: int) -> list[MemoryVersion]:
        """Return versions in the order of memory and version."""
        later = and_(_STEP.memory_id == memory_id, _STEP.version > version)
        return self._versions(tenant, or_(_STEP.memory_id > memory_id, later), limit=limit)

    def adopt(self, tenant: str, memory: Memory, *, actor: str, now: datetime) -> Written:
        """Write an exported memory as it was: id, version, author and times; a repeat is a no-op.

        Raises:
            ConflictError: the id belongs to a memory of another collection.
            UnknownMemoryTypeError: no such type here.
        """
        if self._types.named(memory.memory_type) is None:
            raise UnknownMemoryTypeError(fields={"memory_type": memory.memory_type})
        adopted = sealed(replace(memory, tenant=tenant))
        try:
            self._database.write(lambda connection: self._adopt(connection, adopted, actor, now))
        except self._database.taken:
            return self._present(adopted)
        return Written(memory=adopted, created=True)

    def _adopt(self, connection: Connection, memory: Memory, actor: str, now: datetime) -> None:
        system = Access(tenant=memory.tenant, agent_id=actor, system=True)
        make_collection(connection, memory.tenant, memory.collection, now)
        if not take_turn(connection, system, memory.collection, now):
            raise NotFoundError
        step = MemoryEdit(memory_id=memory.memory_id, change=ChangeKind.IMPORT, run_id=memory.run_id)
        version = next_version(replace(memory, agent_id=actor, updated_at=now), step, conflict=False)
        table = memory_table(self._types.all()[memory.memory_type].table)
        write_first(connection, table, memory, version, ())

    def _present(self, memory: Memory) -> Written:
        present = self.records(memory.tenant, [memory.memory_id])
        if not present or present[0].collection != memory.collection:
            raise ConflictError("This memory id is in use elsewhere.", fields={"memory_id": memory.memory_id})
        return Written(memory=present[0], created=False)

    def _versions(self, tenant: str, *conditions: ColumnElement[bool], limit: int | None = None) -> list[MemoryVersion]:
        query = select(memory_versions).where(_STEP.tenant == tenant, *conditions)
        query = query.order_by(_STEP.memory_id, _STEP.version).limit(limit)
        rows = self._database.read(lambda connection: connection.execute(query).mappings().all())
        return [version_of(row) for row in rows]

    def _memories(self, query: Statement, values: Mapping[str, Any]) -> list[Memory]:
        return [memory_of(row) for row in self._database.read(lambda c: query.records(c, **values))]
