"""Memories, their versions, and the rules under which they are shared."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from strata.model.messages import JsonObject


class Scope(StrEnum):
    """Which of the two personal layers a memory belongs to."""

    USER = "user"
    AGENT = "agent"


class Category(StrEnum):
    """The judge's five categories."""

    SAFETY = "identity_safety"
    PREFERENCE = "preference_taboo"
    DECISION = "decision"
    COLLABORATION = "collaboration_experience"
    TEMPORARY = "temporary_constraint"


class MemoryStatus(StrEnum):
    """Only ``ACTIVE`` memories appear on read paths; the others are kept for history."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryType:
    """One kind of memory, with a table of its own."""

    name: str
    table: str
    ttl_seconds: int
    """Default life; 0 = for ever."""
    built_in: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy:
    """A memory's own allow-lists; ``None`` = whoever the collection allows. They can only narrow."""

    read_agents: tuple[str, ...] | None = None
    write_agents: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One sentence worth keeping, at its present version."""

    tenant: str
    memory_id: str
    collection: str
    memory_type: str
    agent_id: str
    """The author of the present version."""
    content: str
    metadata: JsonObject = field(default_factory=dict)
    policy: AccessPolicy = field(default_factory=AccessPolicy)
    ttl_seconds: int = 0
    version: int = 1
    status: MemoryStatus = MemoryStatus.ACTIVE
    standing: bool = False
    """A standing constraint: delivered whatever the query."""
    safety: bool = False
    """A safety fact: stays visible until a contradicting change is confirmed."""
    importance: int = 5
    said_at: datetime
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    superseded_by: str | None = None
    fingerprint: str = ""
    digest: str = ""
    """SHA-256 over the fields that must not change behind the product's back."""
    run_id: str | None = None
    user_id: str = ""
    """Whom it is about; empty if nobody in particular."""
    confidence: float = 1.0
    embedding: bytes | None = None
    """Little-endian float32, unit length."""
    embedding_model: str = ""

    def is_live(self, now: datetime) -> bool:
        """Tell whether readers may see it at ``now``: active and not expired."""
        return self.status is MemoryStatus.ACTIVE and (self.expires_at is None or self.expires_at > now)


class ChangeKind(StrEnum):
    """What made a version."""

    INSERT = "insert"
    UPDATE = "update"
    SUPERSEDE = "supersede"
    ROLLBACK = "rollback"
    DELETE = "delete"
    RESTORE = "restore"
    MOVE = "move"
    RENEW = "renew"
    IMPORT = "import"
    """The version an exported memory had when it came in; its history begins there."""
    UNDO = "undo"
    """Taken back with the run or the agent that wrote it: deleted, but not remembered as unwanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a memory comes from: one message of one session."""

    session_id: str
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVersion:
    """One step in a memory's history; never changed afterwards."""

    tenant: str
    memory_id: str
    version: int
    change: ChangeKind
    memory_type: str
    collection: str
    content: str
    metadata: JsonObject
    agent_id: str
    reason: str
    created_at: datetime
    base_version: int | None = None
    """The version the author had read."""
    conflict: bool = False
    """True if it was applied over a version its author had not read."""
    rolled_back_to: int | None = None
    run_id: str | None = None
    standing: bool = False
    safety: bool = False
    importance: int = 5
    said_at: datetime | None = None
    session_id: str = ""
    sources: tuple[Source, ...] = ()
    """The messages that made this version, all of one session."""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What a judge proposes to keep, before normalising and pruning."""

    content: str
    category: Category
    importance: int
    """1–10; below 3 is dropped."""
    scope: Scope
    memory_type: str | None = None
    ttl_seconds: int | None = None
    standing: bool = False
    safety: bool = False
    source_seqs: tuple[int, ...] = ()
    said_at: datetime | None = None
    confidence: float = 1.0
    rule: str = ""
    """Which rule or model decided, e.g. ``zh.allergy.explicit``."""
    evidence: str = ""
    """The words that made it decide."""
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory found by a search, with why."""

    memory: Memory
    score: float
    """0–1, calibrated; comparable within one embedding model."""
    signals: tuple[str, ...] = ()
    """Which signals found it: ``keyword``, ``semantic``, ``tags``, ``standing``."""
    linked: tuple[str, ...] = ()


class ConflictPolicy(StrEnum):
    """What an update with an outdated version does."""

    LAST_WRITER_WINS = "last_writer_wins"
    REJECT = "reject"


class CollectionKind(StrEnum):
    """A personal layer or a shared set."""

    USER = "user"
    AGENT = "agent"
    SHARED = "shared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A named set of memories and who may be registered for it."""

    tenant: str
    name: str
    kind: CollectionKind
    read_agents: tuple[str, ...] | None = None
    """Agents that may register to read; ``None`` = every agent of the tenant."""
    write_agents: tuple[str, ...] | None = None
    memory_types: tuple[str, ...] | None = None
    conflict_policy: ConflictPolicy = ConflictPolicy.LAST_WRITER_WINS
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """An agent's declared right on a collection."""

    tenant: str
    collection: str
    agent_id: str
    read: bool
    write: bool
    memory_types: tuple[str, ...] | None = None
    """``None`` = every type the collection allows."""
    expires_at: datetime | None = None
    created_at: datetime | None = None
    revoked_at: datetime | None = None


def collection_kind(name: str) -> CollectionKind:
    """Tell the layer a collection name belongs to."""
    if name.startswith("user:"):
        return CollectionKind.USER
    if name.startswith("agent:"):
        return CollectionKind.AGENT
    return CollectionKind.SHARED
