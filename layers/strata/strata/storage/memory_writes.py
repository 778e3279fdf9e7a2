"""The statements of one change, run inside the caller's transaction.

A change first takes its turn in the collection: ``change_seq`` is raised under the row's lock, with the agent's right
in the same statement. What is read afterwards is therefore what the change is made on, on MySQL too, where the
transaction's snapshot begins with the first plain SELECT.
"""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Table, and_, bindparam, delete, insert, select, update

from strata.errors import VersionConflictError
from strata.model.events import NewEvent
from strata.model.memories import ChangeKind, Memory, MemoryStatus, MemoryVersion, collection_kind
from strata.model.quarantine import Review
from strata.ports import Access
from strata.storage.columns import Id
from strata.storage.events import append_event
from strata.storage.inserts import insert_missing
from strata.storage.memory_queries import COLLECTION, MEMORY_ID
from strata.storage.memory_rows import memory_values, version_values
from strata.storage.rights import TENANT, bypasses, may, parameters
from strata.storage.statements import Insert, Statement
from strata.storage.tables import collections, memory_links, memory_tombstones, memory_versions
from strata.storage.vectors import keep_vector

EVENT_KINDS = {
    ChangeKind.INSERT: "memory.inserted",
    ChangeKind.UPDATE: "memory.updated",
    ChangeKind.SUPERSEDE: "memory.superseded",
    ChangeKind.ROLLBACK: "memory.rolled_back",
    ChangeKind.DELETE: "memory.deleted",
    ChangeKind.RESTORE: "memory.restored",
    ChangeKind.MOVE: "memory.moved",
    ChangeKind.RENEW: "memory.renewed",
    ChangeKind.UNDO: "memory.undone",
    ChangeKind.IMPORT: "memory.imported",
}


@lru_cache(maxsize=8)
def _turn(*, bypass: bool, typed: bool, looked: bool) -> Statement:
    wanted_type = bindparam("of_type", type_=Id()) if typed else None
    turn = update(collections).where(collections.c.tenant == TENANT, collections.c.name == COLLECTION)
    turn = turn.where(may("write", bypass=bypass, memory_type=wanted_type))
    if looked:
        turn = turn.where(collections.c.change_seq == bindparam("as_of"))
    return Statement(turn.values(change_seq=collections.c.change_seq + 1))


def take_turn(
    connection: Connection,
    access: Access,
    collection: str,
    now: datetime,
    memory_type: str | None = None,
    *,
    as_of: int | None = None,
) -> bool:
    """Raise the collection's change counter and hold its row; False if it is absent or not the agent's to write.

    Raises:
        VersionConflictError: the counter does not stand at ``as_of``.
    """
    bypass, typed = bypasses(access), memory_type is not None
    values: dict[str, Any] = {"in_tenant": access.tenant} if bypass else parameters(access, now)
    if typed and not bypass:
        values["of_type"] = memory_type
    if as_of is not None:
        turn = _turn(bypass=bypass, typed=typed, looked=True)
        met, _ = turn.run(connection, in_collection=collection, as_of=as_of, **values)
        if met:
            return True
    met, _ = _turn(bypass=bypass, typed=typed, looked=False).run(connection, in_collection=collection, **values)
    if met and as_of is not None:
        raise VersionConflictError(fields={"collection": collection})
    return met == 1


def make_collection(connection: Connection, tenant: str, name: str, now: datetime) -> None:
    """Make the row of a collection that is open to whom its layer belongs, if there is none."""
    insert_missing(connection, collections, [default_policy(tenant, name, now)])


def default_policy(tenant: str, name: str, now: datetime) -> dict[str, Any]:
    """Return the column values of a collection that is open to whom its layer belongs."""
    start = first_change_seq(now)
    return {
        "tenant": tenant,
        "name": name,
        "kind": collection_kind(name).value,
        "read_agents": None,
        "write_agents": None,
        "memory_types": None,
        "conflict_policy": "last_writer_wins",
        "change_seq": start,
        "purged_seq": start,
        "created_at": now,
        "updated_at": now,
    }


def first_change_seq(now: datetime) -> int:
    """Return where the counters of a collection start that is made now: at the clock's milliseconds.

    So one which is removed and made again never repeats a number that an index may still remember.
    """
    return int(now.timestamp() * 1_000)


def write_first(
    connection: Connection,
    table: Table,
    memory: Memory,
    version: MemoryVersion,
    links: tuple[tuple[str, str], ...],
    review: Review | None = None,
) -> None:
    """Insert memory, version, links and event. Raises one of ``Database.taken`` if the id is in use."""
    keep_vector(connection, memory, version.created_at)
    _insertion(table).run(connection, **_row(memory))
    _VERSION.run(connection, **version_values(version, ""))
    if links:
        _LINKS.run(connection, [_link(memory, other, relation) for other, relation in links])
    append_event(connection, memory.tenant, change_event(memory, version, review), version.created_at)


def write_next(
    connection: Connection,
    tables: tuple[Table, Table],
    memory: Memory,
    version: MemoryVersion,
    key: str,
    *,
    restore_days: int,
    review: Review | None = None,
) -> None:
    """Replace memory by its next version, wherever it lives now; add version and event.

    Raises one of ``Database.taken`` if the key was used for this memory before.
    """
    old, new = tables
    if old is new:
        _replacement(old).run(connection, **_row(memory, restore_days), the_memory=memory.memory_id)
    else:
        connection.execute(delete(old).where(old.c.tenant == memory.tenant, old.c.memory_id == memory.memory_id))
        _insertion(new).run(connection, **_row(memory, restore_days))
    _VERSION.run(connection, **version_values(version, key))
    _mind_tombstone(connection, memory, version)
    append_event(connection, memory.tenant, change_event(memory, version, review), memory.updated_at)


def change_event(memory: Memory, version: MemoryVersion, review: Review | None = None) -> NewEvent:
    """Return the event of a change: ids, numbers and digests, never a word of the memory; and who let it in."""
    detail: dict[str, Any] = {
        "version": version.version,
        "memory_type": memory.memory_type,
        "digest": memory.digest,
        "version_digest": version.digest,
    }
    optional = {"conflict": version.conflict, "run_id": version.run_id, "rolled_back_to": version.rolled_back_to}
    detail |= {name: value for name, value in optional.items() if value}
    if review is not None:
        detail |= {"quarantine_id": review.quarantine_id, "reviewer": review.reviewer}
    return NewEvent(
        kind=EVENT_KINDS[version.change],
        actor=version.agent_id,
        collection=memory.collection,
        memory_id=memory.memory_id,
        detail=detail,
    )


# Statements are built once and run with parameters: building one costs more than running it.
_VERSION = Statement(insert(memory_versions), columns=[column.name for column in memory_versions.columns])
_LINKS = Insert(memory_links, ("tenant", "memory_id", "other_id", "relation", "created_at"))
_CHANGE_SEQ = select(collections.c.change_seq).where(collections.c.tenant == TENANT, collections.c.name == COLLECTION)


@lru_cache(maxsize=64)
def _insertion(table: Table) -> Statement:
    core = insert(table).values(change_seq=_CHANGE_SEQ.scalar_subquery())
    return Statement(core, columns=[column.name for column in table.columns])


@lru_cache(maxsize=64)
def _replacement(table: Table) -> Statement:
    own = and_(table.c.tenant == TENANT, table.c.memory_id == MEMORY_ID)
    core = update(table).where(own).values(change_seq=_CHANGE_SEQ.scalar_subquery())
    return Statement(core, columns=[column.name for column in table.columns])


def _row(memory: Memory, restore_days: int = 0) -> dict[str, Any]:
    return {
        **memory_values(memory),
        "purge_at": purge_at(memory, restore_days),
        "in_tenant": memory.tenant,
        "in_collection": memory.collection,
    }


def purge_at(memory: Memory, restore_days: int) -> datetime | None:
    """Return when the row may be removed: at its end, and if it was deleted, some days after that at the latest."""
    if memory.status is not MemoryStatus.DELETED:
        return memory.expires_at
    kept_until = memory.updated_at + timedelta(days=restore_days)
    return kept_until if memory.expires_at is None else min(kept_until, memory.expires_at)


def _link(memory: Memory, other_id: str, relation: str) -> tuple[object, ...]:
    return (memory.tenant, memory.memory_id, other_id, relation, memory.created_at)


def _mind_tombstone(connection: Connection, memory: Memory, version: MemoryVersion) -> None:
    """Remember what was deleted on purpose; forget it when it is restored."""
    tombstone = memory_tombstones.c
    if version.change is ChangeKind.DELETE:
        connection.execute(insert(memory_tombstones).values(**_tombstone(memory)))
    if version.change is ChangeKind.RESTORE:
        own = and_(tombstone.tenant == memory.tenant, tombstone.collection == memory.collection)
        connection.execute(delete(memory_tombstones).where(own, tombstone.memory_id == memory.memory_id))


def _tombstone(memory: Memory) -> dict[str, Any]:
    return {
        "tenant": memory.tenant,
        "collection": memory.collection,
        "fingerprint": memory.fingerprint,
        "memory_id": memory.memory_id,
        "memory_type": memory.memory_type,
        "deleted_by": memory.agent_id,
        "deleted_at": memory.updated_at,
    }
