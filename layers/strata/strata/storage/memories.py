"""The memory store on SQL. Every change is one transaction: counter, memory, version, links, one audit event."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, Table, and_, select

from strata import config
from strata.errors import ConflictError, NotFoundError, VersionConflictError
from strata.model.memories import ChangeKind, ConflictPolicy, Memory, MemoryType
from strata.policy.versions import is_conflict
from strata.ports import Access, MemoryDraft, MemoryEdit, Written
from strata.storage.engine import Database
from strata.storage.memory_edits import changes_something, edited
from strata.storage.memory_queries import memories, stored
from strata.storage.memory_reads import MemoryReads, is_layer
from strata.storage.memory_rows import edit_key, first_memory, first_version, memory_of, next_version
from strata.storage.memory_types import SqlTypeStore
from strata.storage.memory_writes import first_change_seq, make_collection, take_turn, write_first, write_next
from strata.storage.quarantine import release
from strata.storage.refusals import record_refusal
from strata.storage.rights import bypasses, parameters
from strata.storage.tables import REPEATABLE_TYPES, collections, memory_table, memory_versions
from strata.storage.vectors import keep_vector

RESTORE_DAYS = config.Library().restore_days


class SqlMemoryStore(MemoryReads):
    """The port ``MemoryStore``. ``restore_days``: how long a deleted memory can be restored."""

    def __init__(self, database: Database, types: SqlTypeStore, *, restore_days: int = RESTORE_DAYS) -> None:
        super().__init__(database, types)
        self._restore_days = restore_days
        self._not_made: tuple[type[Exception], ...] = (*database.taken, NotFoundError, VersionConflictError)

    def insert(self, access: Access, draft: MemoryDraft, *, now: datetime) -> Written:
        """Insert with version 1, its version row and its audit event, in one transaction.

        Raises:
            NotFoundError: the agent may not write there.
            ConflictError: the id belongs to a memory of another collection.
            VersionConflictError: the collection changed since the draft's ``as_of``.
            UnknownMemoryTypeError: no such type.
        """
        memory_type = self._type(draft.memory_type)
        try:
            written = self._try_insert(access, draft, memory_type, now)
            if written is None and is_layer(draft.collection):
                self._database.write(lambda c: make_collection(c, access.tenant, draft.collection, now))
                as_of = None if draft.as_of is None else first_change_seq(now)  # if nobody has written there since
                written = self._try_insert(access, replace(draft, as_of=as_of), memory_type, now)
        except self._database.taken:
            return self._already_there(access, draft, now)
        except VersionConflictError:
            if self._stored_one(access, draft.collection, draft.memory_id) is None:
                raise
            return self._already_there(access, draft, now)  # by a COMMIT whose answer was lost, or a repeat
        return written or self._refuse_insert(access, draft.collection, now)

    def edit(self, access: Access, collection: str, edit: MemoryEdit, *, now: datetime) -> Written:
        """Apply a change as a new version, under the collection's conflict policy.

        Raises:
            NotFoundError: absent, expired, or not writable for this agent.
            VersionConflictError: outdated ``expected_version`` under ``reject``.
            UnknownMemoryTypeError: no such type to move to.
        """
        if edit.memory_type is not None:
            self._type(edit.memory_type)
        try:
            return self._database.write(lambda c: self._edit(c, access, collection, edit, now))
        except self._not_made as error:
            repeated = self._repeated(access, collection, edit)
            if repeated is not None:
                return repeated
            if isinstance(error, NotFoundError):
                self._refuse(access, collection, edit.memory_id, edit.change.value, now)
            raise

    def _try_insert(self, access: Access, draft: MemoryDraft, memory_type: MemoryType, now: datetime) -> Written | None:
        return self._database.write(lambda connection: self._insert(connection, access, draft, memory_type, now))

    def _insert(
        self, connection: Connection, access: Access, draft: MemoryDraft, memory_type: MemoryType, now: datetime
    ) -> Written | None:
        if not take_turn(connection, access, draft.collection, now, draft.memory_type, as_of=draft.as_of):
            return None
        memory = first_memory(draft, access.tenant, access.agent_id, now)
        if memory.is_live(now) and _may_repeat(draft):
            twins = stored((memory_type,), "twin").records(connection, **_twin(access, draft, now))
            if twins:
                twin = memory_of(twins[0])
                release(connection, draft.review, twin, now, written=False)
                return Written(memory=twin, created=False)
        release(connection, draft.review, memory, now, written=True)
        table, version = memory_table(memory_type.table), first_version(memory, draft)
        write_first(connection, table, memory, version, draft.links, draft.review)
        return Written(memory=memory, created=True)

    def _already_there(self, access: Access, draft: MemoryDraft, now: datetime) -> Written:
        """A repeat of a deterministic id changes nothing, whatever became of the memory since."""
        found = self._stored_one(access, draft.collection, draft.memory_id)
        if found is None:
            raise ConflictError("This memory id is in use elsewhere.", fields={"memory_id": draft.memory_id})
        if draft.review is not None:
            self._database.write(lambda connection: release(connection, draft.review, found, now, written=False))
        return Written(memory=found, created=False)

    def _refuse_insert(self, access: Access, collection: str, now: datetime) -> Written:
        if is_layer(collection) or self._collection_exists(access.tenant, collection):
            record_refusal(self._database, access, collection, "", "insert", now)
        raise NotFoundError

    def _edit(
        self, connection: Connection, access: Access, collection: str, edit: MemoryEdit, now: datetime
    ) -> Written:
        if not take_turn(connection, access, collection, now, edit.memory_type):
            raise NotFoundError
        query = memories(
            self._all_types(),
            "one",
            bypass=bypasses(access),
            rights=("read", "write"),
            also_dead=edit.change is ChangeKind.RESTORE,
        )
        values = parameters(access, now, in_collection=collection, the_memory=edit.memory_id)
        found = query.records(connection, **values)
        if not found:
            raise NotFoundError
        policy = ConflictPolicy(found[0]["conflict_policy"])
        return self._apply(connection, access, memory_of(found[0]), policy, edit, now)

    def _apply(
        self,
        connection: Connection,
        access: Access,
        memory: Memory,
        policy: ConflictPolicy,
        edit: MemoryEdit,
        now: datetime,
    ) -> Written:
        if _comes_too_late(memory, edit) or not changes_something(memory, edit):
            release(connection, edit.review, memory, now, written=False)
            return Written(memory=memory, created=False)
        conflict = is_conflict(edit.change, present=memory.version, expected=edit.expected_version, policy=policy)
        after = edited(memory, edit, access.agent_id, now)
        tables = (self._table(memory.memory_type), self._table(after.memory_type))
        step = next_version(after, edit, conflict=conflict)
        release(connection, edit.review, after, now, written=True)
        if edit.embedding is not None:
            keep_vector(connection, after, now)
        write_next(connection, tables, after, step, edit.key, restore_days=self._restore_days, review=edit.review)
        return Written(memory=after, created=True, conflict=conflict)

    def _repeated(self, access: Access, collection: str, edit: MemoryEdit) -> Written | None:
        """The same agent's edit under the same key was applied before: answer with the memory as it is."""
        version = memory_versions.c
        query = select(version.version).where(
            version.tenant == access.tenant,
            version.memory_id == edit.memory_id,
            version.edit_key == edit_key(edit.key),
            version.agent_id == access.agent_id,
        )
        if not edit.key or not self._is_there(query):
            return None
        found = self._stored_one(access, collection, edit.memory_id)
        return None if found is None else Written(memory=found, created=False)

    def _stored_one(self, access: Access, collection: str, memory_id: str) -> Memory | None:
        values = {"in_tenant": access.tenant, "in_collection": collection, "the_memory": memory_id}
        return next(iter(self._memories(stored(self._all_types(), "one"), values)), None)

    def _collection_exists(self, tenant: str, name: str) -> bool:
        own = and_(collections.c.tenant == tenant, collections.c.name == name)
        return self._is_there(select(collections.c.collection_no).where(own))

    def _is_there(self, query: Select[Any]) -> bool:
        return self._database.read(lambda connection: connection.execute(query).first()) is not None

    def _table(self, memory_type: str) -> Table:
        return memory_table(self._type(memory_type).table)


def _comes_too_late(memory: Memory, edit: MemoryEdit) -> bool:
    return edit.unless_said_after is not None and memory.said_at > edit.unless_said_after


def _may_repeat(draft: MemoryDraft) -> bool:
    """Tell whether a memory that says the same may be there; its turn was taken as of the look that found none."""
    is_known_to_be_first = draft.is_first and draft.as_of is not None
    return bool(draft.fingerprint) and draft.memory_type not in REPEATABLE_TYPES and not is_known_to_be_first


def _twin(access: Access, draft: MemoryDraft, now: datetime) -> dict[str, Any]:
    return parameters(
        access,
        now,
        in_collection=draft.collection,
        the_fingerprint=draft.fingerprint,
        the_user=draft.user_id,
        the_readers=draft.policy.read_agents,
        the_writers=draft.policy.write_agents,
    )
