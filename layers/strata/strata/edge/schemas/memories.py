"""Memories, collections and registrations."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field, StrictInt

from strata.edge.schemas.agents import ReadOut
from strata.edge.schemas.ids import MAX_NUMBER, Answer, Id, Model

Mode = Literal["hybrid", "semantic", "keyword"]
MAX_TTL_SECONDS = 3_155_760_000


class PolicyIn(Model):
    """A memory's own allow-lists; null = whoever the collection allows."""

    read_agents: list[Id] | None = None
    write_agents: list[Id] | None = None


class MemoryIn(Model):
    """A memory to keep. Looks first: the same fact becomes a new version of what is there."""

    memory_type: Id
    content: str = Field(min_length=1, max_length=100_000)
    metadata: dict[str, Any] = Field(default_factory=dict)
    access_policy: PolicyIn | None = None
    ttl_seconds: StrictInt | None = Field(
        default=None, ge=0, le=MAX_TTL_SECONDS, description="0 = for ever; absent = the type's own."
    )
    expires_at: str | None = Field(
        default=None, max_length=64, description="ISO instant with an offset; instead of a ttl."
    )
    memory_id: Id | None = Field(default=None, description="Makes a repeat of this insert harmless.")
    standing: bool = False
    safety: bool = False
    importance: StrictInt = Field(default=5, ge=1, le=10)


class MemoryOut(Answer):
    """A memory at its present version."""

    memory_id: str
    collection: str
    memory_type: str
    agent_id: str
    content: str
    metadata: dict[str, Any]
    access_policy: dict[str, list[str] | None]
    ttl_seconds: int
    version: int
    standing: bool
    safety: bool
    importance: int
    said_at: datetime
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None


class InsertOut(Answer):
    """What an insert did."""

    status: Literal["inserted", "updated", "unchanged"]
    memory_id: str
    version: int
    linked: list[str]


class SearchIn(Model):
    """A search in one collection."""

    query: str = Field(default="", max_length=20_000)
    memory_types: list[Id] | None = Field(default=None, max_length=64)
    tags: dict[str, str] = Field(default_factory=dict, description="Exact metadata values.")
    mode: Mode = "hybrid"
    top_k: StrictInt | None = Field(default=None, ge=1, le=100)
    threshold: float | None = Field(default=None, ge=0.0, le=1.0)


class HitOut(MemoryOut):
    """A memory that a search found, with its score and the signals that found it."""

    score: float
    signals: list[str]
    linked: list[str]


class SearchOut(Answer):
    """Hits, best first, and notes on what could not be done as asked."""

    results: list[HitOut]
    notes: list[str] = []


class ListOut(Answer):
    """Memories in the order of their ids."""

    memories: list[MemoryOut]
    after: str | None = None


class EditIn(Model):
    """A change; what is absent stays."""

    content: str | None = Field(default=None, min_length=1, max_length=100_000)
    metadata: dict[str, Any] | None = None
    access_policy: PolicyIn | None = None
    ttl_seconds: StrictInt | None = Field(default=None, ge=0, le=MAX_TTL_SECONDS)
    expected_version: StrictInt | None = Field(default=None, ge=1, le=MAX_NUMBER)
    memory_type: Id | None = Field(default=None, description="Moves the memory to another type; logged.")
    reason: str = Field(default="", max_length=2_000)


class EditOut(Answer):
    """A memory after a change; ``conflict`` if it was applied over a version its author had not read."""

    memory: MemoryOut
    conflict: bool


class DeleteIn(Model):
    """Why a memory is deleted."""

    reason: str = Field(default="", max_length=2_000)


class RollbackIn(Model):
    """The version whose content comes back as a new version."""

    version: StrictInt = Field(ge=1, le=MAX_NUMBER)
    dry_run: bool = Field(default=False, description="Only show who has read the versions that would be replaced.")
    reason: str = Field(default="", max_length=2_000)


class VersionOut(Answer):
    """One step in a memory's history."""

    version: int
    change: str
    memory_type: str
    content: str
    metadata: dict[str, Any]
    agent_id: str
    reason: str
    base_version: int | None
    conflict: bool
    rolled_back_to: int | None
    run_id: str | None
    created_at: datetime


class HistoryOut(Answer):
    """Every version, oldest first."""

    memory_id: str
    versions: list[VersionOut]


class RollbackOut(Answer):
    """The readers of what was (or would be) replaced, and the memory as it is now."""

    memory: MemoryOut
    readers: list[ReadOut]
    applied: bool


class ImpactOut(Answer):
    """Who read a memory, and what those sessions wrote afterwards."""

    reads: list[ReadOut]
    written: list[dict[str, Any]]


class CollectionIn(Model):
    """The policy of a collection; null = every agent of the tenant."""

    read_agents: list[Id] | None = None
    write_agents: list[Id] | None = None
    memory_types: list[Id] | None = None
    conflict_policy: Literal["last_writer_wins", "reject"] = "last_writer_wins"


class CollectionOut(CollectionIn, Answer):
    """The policy of a collection."""

    collection: str
    kind: str


class RegistrationIn(Model):
    """What an agent declares to need."""

    read: bool = True
    write: bool = False
    memory_types: list[Id] | None = None
    expires_at: datetime | None = None


class RegistrationOut(Answer):
    """What an agent may do in a collection."""

    collection: str
    agent_id: str
    read: bool
    write: bool
    memory_types: list[str] | None
    expires_at: datetime | None
