"""Rows of memory tables and of ``memory_versions``, and the records they hold."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping

from strata.model.memories import (
    AccessPolicy,
    ChangeKind,
    Memory,
    MemoryStatus,
    MemoryVersion,
    Source,
)
from strata.policy.digests import digest_of, memory_digest
from strata.ports import MemoryDraft, MemoryEdit

Row = Mapping[str, Any] | RowMapping
"""The values of a row by the names of its columns."""

PLAIN_COLUMNS = (
    "tenant memory_id collection agent_id content metadata ttl_seconds version standing safety importance said_at "
    "created_at updated_at expires_at superseded_by fingerprint digest run_id user_id confidence"
).split()
"""Columns of a memory table that a record has under the same name and in the same form."""

VERSION_COLUMNS = (
    "tenant memory_id version memory_type collection content metadata agent_id reason created_at base_version conflict "
    "rolled_back_to run_id standing safety importance said_at session_id digest"
).split()


def memory_of(row: Row) -> Memory:
    """Return the memory of a row, with its vector if the query asked for it."""
    return Memory(
        **{name: row[name] for name in PLAIN_COLUMNS},
        memory_type=row["memory_type"],
        policy=AccessPolicy(read_agents=row["read_agents"], write_agents=row["write_agents"]),
        status=MemoryStatus(row["status"]),
        embedding=row.get("embedding"),
        embedding_model=row["embedding_model"],
    )


def memory_values(memory: Memory) -> dict[str, Any]:
    """Return the column values of a memory; ``change_seq`` is the database's."""
    return {
        **{name: getattr(memory, name) for name in PLAIN_COLUMNS},
        "read_agents": memory.policy.read_agents,
        "write_agents": memory.policy.write_agents,
        "status": memory.status.value,
        "embedding": memory.embedding,
        "embedding_model": memory.embedding_model,
    }


def version_of(row: Row) -> MemoryVersion:
    """Return the version of a row."""
    return MemoryVersion(
        **{name: row[name] for name in VERSION_COLUMNS},
        change=ChangeKind(row["change"]),
        sources=tuple(Source(session_id=row["session_id"], seq=seq) for seq in row["sources"]),
    )


def version_values(version: MemoryVersion, key: str) -> dict[str, Any]:
    """Return the column values of a version; ``key`` is empty or makes a repeat collide."""
    return {
        **{name: getattr(version, name) for name in VERSION_COLUMNS},
        "change": version.change.value,
        "sources": [source.seq for source in version.sources],
        "edit_key": edit_key(key),
    }


def edit_key(key: str) -> str | None:
    """Return what is stored of an edit's key."""
    return hashlib.sha256(key.encode()).hexdigest() if key else None


def first_memory(draft: MemoryDraft, tenant: str, author: str, now: datetime) -> Memory:
    """Return the memory that a draft becomes."""
    values: dict[str, Any] = {
        "tenant": tenant,
        "memory_id": draft.memory_id,
        "collection": draft.collection,
        "memory_type": draft.memory_type,
        "agent_id": author,
        "content": draft.content,
        "metadata": draft.metadata,
        "policy": draft.policy,
        "ttl_seconds": draft.ttl_seconds,
        "version": 1,
        "status": MemoryStatus.SUPERSEDED if draft.superseded_by else MemoryStatus.ACTIVE,
        "standing": draft.standing,
        "safety": draft.safety,
        "importance": draft.importance,
        "said_at": draft.said_at,
        "created_at": now,
        "updated_at": now,
        "expires_at": draft.expires_at,
        "superseded_by": draft.superseded_by,
        "fingerprint": draft.fingerprint,
        "run_id": draft.run_id,
        "user_id": draft.user_id,
        "confidence": draft.confidence,
        "embedding": draft.embedding,
        "embedding_model": draft.embedding_model,
    }
    return Memory(**values, digest=digest_of(values))


def sealed(memory: Memory) -> Memory:
    """Return the memory with its digest."""
    return replace(memory, digest=memory_digest(memory))


def first_version(memory: Memory, draft: MemoryDraft) -> MemoryVersion:
    """Return version 1."""
    return next_version(
        memory,
        MemoryEdit(memory_id=memory.memory_id, change=ChangeKind.INSERT, run_id=draft.run_id, sources=draft.sources),
        conflict=False,
    )


def next_version(memory: Memory, edit: MemoryEdit, *, conflict: bool) -> MemoryVersion:
    """Return the version that an edit adds; ``memory`` is the edited one."""
    values: dict[str, Any] = {
        "tenant": memory.tenant,
        "memory_id": memory.memory_id,
        "version": memory.version,
        "change": edit.change,
        "memory_type": memory.memory_type,
        "collection": memory.collection,
        "content": memory.content,
        "metadata": memory.metadata,
        "agent_id": memory.agent_id,
        "reason": edit.reason,
        "created_at": memory.updated_at,
        "base_version": edit.expected_version,
        "conflict": conflict,
        "rolled_back_to": edit.rolled_back_to,
        "run_id": edit.run_id,
        "standing": memory.standing,
        "safety": memory.safety,
        "importance": memory.importance,
        "said_at": memory.said_at,
        "session_id": edit.sources[0].session_id if edit.sources else "",
        "sources": edit.sources,
    }
    return MemoryVersion(**values, digest=digest_of(values))
