"""What the client returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

R = TypeVar("R", bound="DataclassInstance")


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
class ReadRecord:
    """One delivery of one version of a memory."""

    memory_id: str
    version: int
    agent_id: str
    session_id: str
    request_id: str = ""
    collection: str = ""
    read_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactResult:
    """Who has read a memory, and the versions their sessions wrote afterwards."""

    reads: tuple[ReadRecord, ...]
    written: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackResult:
    """Who has read what a rollback replaces, and the memory as it is now."""

    memory: MemoryRecord
    readers: tuple[ReadRecord, ...]
    applied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationRecord:
    """What an agent may do in a collection; ``memory_types`` None = every type allowed there."""

    collection: str
    agent_id: str
    read: bool
    write: bool
    memory_types: tuple[str, ...] | None = None
    expires_at: str | None = None


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


def made(kind: type[R], item: Mapping[str, Any]) -> R:
    """Return a record of what a service answered; what a newer one says besides is passed over."""
    known = {one.name for one in fields(kind)}
    values = {name: value for name, value in item.items() if name in known}
    lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
    return kind(**{**values, **lists})


def record(item: Mapping[str, Any]) -> MemoryRecord:
    """Return a memory."""
    return made(MemoryRecord, item)


def read_record(item: Mapping[str, Any]) -> ReadRecord:
    """Return a delivery."""
    return made(ReadRecord, item)
