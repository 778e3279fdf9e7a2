"""What the client returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """A memory as the service shows it; ``score`` and ``signals`` only in search results."""

    memory_id: str
    collection: str
    memory_type: str
    agent_id: str
    content: str
    version: int
    metadata: Mapping[str, Any] = field(default_factory=dict)
    access_policy: Mapping[str, Any] = field(default_factory=dict)
    ttl_seconds: int = 0
    expires_at: str | None = None
    said_at: str = ""
    created_at: str = ""
    updated_at: str = ""
    standing: bool = False
    safety: bool = False
    importance: int = 5
    score: float | None = None
    signals: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertResult:
    """What an insert did: ``inserted``, ``updated`` (a new version of the same fact) or ``unchanged``."""

    status: str
    memory_id: str
    version: int
    linked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateResult:
    """A memory after an update; ``conflict`` if another change came first and was overwritten."""

    memory: MemoryRecord
    conflict: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionRecord:
    """One step in a memory's history."""

    version: int
    change: str
    content: str
    agent_id: str
    reason: str
    created_at: str
    memory_type: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    base_version: int | None = None
    conflict: bool = False
    rolled_back_to: int | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackResult:
    """Who has read what a rollback replaces, and the memory as it is now."""

    memory: MemoryRecord
    readers: tuple[Mapping[str, Any], ...]
    applied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendResult:
    """Where the messages of an append are."""

    session_id: str
    last_seq: int
    replayed: int
    messages: tuple[Mapping[str, Any], ...]
    skipped: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextResult:
    """A loaded context, ready to send to a model."""

    messages: tuple[Mapping[str, Any], ...]
    prompt: str
    summary: str | None
    memories: Mapping[str, Sequence[Mapping[str, Any]]]
    usage: Mapping[str, int]
    dropped: tuple[Mapping[str, Any], ...]
    degraded: tuple[Mapping[str, Any], ...]
    timings_ms: Mapping[str, float]
    working: Mapping[str, Any]


def record(item: Mapping[str, Any]) -> MemoryRecord:
    lists = {key: tuple(item[key]) for key in ("signals", "linked") if key in item}
    return MemoryRecord(**{**item, **lists})
