"""The native library: memories and their changes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from strata.model.agents import Caller
from strata.model.memories import (
    AccessPolicy,
    ChangeKind,
    Memory,
    MemoryVersion,
    Source,
)
from strata.model.messages import JsonObject
from strata.model.quarantine import Review


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """On whose behalf a store call is made; the store enforces it inside its queries.

    ``admin`` passes registrations and policies inside its tenant; ``system`` is for jobs of the product itself.
    """

    tenant: str
    agent_id: str
    admin: bool = False
    system: bool = False

    @classmethod
    def of(cls, caller: Caller) -> "Access":
        """Take over what the key proves."""
        return cls(tenant=caller.tenant, agent_id=caller.agent_id, admin=caller.is_admin)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDraft:
    """A memory about to be written for the first time."""

    memory_id: str
    """Deterministic where a repeat must be a no-op."""
    collection: str
    memory_type: str
    content: str
    fingerprint: str
    metadata: JsonObject = field(default_factory=dict)
    policy: AccessPolicy = field(default_factory=AccessPolicy)
    ttl_seconds: int = 0
    standing: bool = False
    safety: bool = False
    importance: int = 5
    said_at: datetime
    expires_at: datetime | None = None
    embedding: bytes | None = None
    embedding_model: str = ""
    run_id: str | None = None
    user_id: str = ""
    sources: tuple[Source, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """(other memory id, relation) pairs."""
    superseded_by: str | None = None
    """Set if it is written already superseded."""
    confidence: float = 1.0
    review: Review | None = None
    """The decision that lets a text in quarantine be written; made in the same transaction."""
    as_of: int | None = None
    """Where the collection's change counter stood when its writer looked what is there; None if nobody looked."""
    is_first: bool = False
    """Whether the look found no memory of its type with its fingerprint, whoever may read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEdit:
    """A change to an existing memory; ``None`` leaves a field as it is. ``key`` makes a repeat a no-op when given."""

    memory_id: str
    change: ChangeKind
    content: str | None = None
    fingerprint: str | None = None
    metadata: JsonObject | None = None
    policy: AccessPolicy | None = None
    ttl_seconds: int | None = None
    expires_at: datetime | None = None
    keep_expiry: bool = True
    embedding: bytes | None = None
    embedding_model: str = ""
    said_at: datetime | None = None
    standing: bool | None = None
    safety: bool | None = None
    importance: int | None = None
    expected_version: int | None = None
    reason: str = ""
    rolled_back_to: int | None = None
    superseded_by: str | None = None
    unless_said_after: datetime | None = None
    """The memory stays as it is if it was said, or said again, after this instant."""
    run_id: str | None = None
    key: str = ""
    sources: tuple[Source, ...] = ()
    memory_type: str | None = None
    """The type to move to; with ``ChangeKind.MOVE`` only."""
    review: Review | None = None
    """As in a draft."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The outcome of one write."""

    memory: Memory
    created: bool
    """False if it was there already (same deterministic id or key)."""
    conflict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionView:
    """What an index needs to stay true: where a collection's change counter stands and what this agent may read."""

    change_seq: int
    purged_seq: int
    readable_types: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What an insert begins with."""

    view: CollectionView | None
    """The state of the collection; None if the agent may not read it."""
    vector: bytes | None = None
    """The vector of the text, if one is kept."""
    is_complete: bool = True
    """Whether the vector was looked for."""


class MemoryStore(Protocol):
    """Memories in SQL. Every read and write checks ``access`` inside its statement, and expiry at ``now``.

    A write that carries a review releases the text in quarantine in its own transaction. What it wrote is told by the
    memory's own event; where there was nothing to write, ``quarantine.released`` is the event. It raises ConflictError
    if the text was decided about already, or is gone.
    """

    def insert(self, access: Access, draft: MemoryDraft, *, now: datetime) -> Written:
        """Insert with version 1, its version row and its audit event, in one transaction.

        A live memory of the same collection and type with the same fingerprint, about the same user and open to the
        same agents, is returned instead of a second one (``created`` is False; two writers at the same instant cannot
        both write). Episodes may repeat each other, and so may memories without a fingerprint.

        Raises:
            NotFoundError: the agent may not write there.
            ConflictError: the id belongs to a memory of another collection.
            VersionConflictError: the collection changed since ``as_of``, and nothing was written.
        """
        ...

    def edit(self, access: Access, collection: str, edit: MemoryEdit, *, now: datetime) -> Written:
        """Apply a change as a new version, under the collection's conflict policy.

        A change that changes nothing, or comes too late, writes nothing. New content without an embedding leaves the
        memory without one.

        Raises:
            NotFoundError: absent, expired, or not writable for this agent.
            VersionConflictError: outdated ``expected_version`` under ``reject``.
        """
        ...

    def get(self, access: Access, collection: str, memory_id: str, *, now: datetime) -> Memory:
        """Return one live memory. Raises NotFoundError."""
        ...

    def get_many(
        self, access: Access, memory_ids: Sequence[str], *, now: datetime, memory_types: Sequence[str] | None = None
    ) -> list[Memory]:
        """Return those that are live and readable, in the order asked, in one statement.

        Only memories of ``memory_types`` are looked for, if the caller knows them: that is faster.
        """
        ...

    def present_versions(
        self, access: Access, memory_ids: Sequence[str], *, now: datetime, memory_types: Sequence[str]
    ) -> dict[str, int]:
        """Return the present version of those that are live and readable, by id, in one statement."""
        ...

    def view(self, access: Access, collections: Sequence[str], *, now: datetime) -> dict[str, CollectionView]:
        """Return the state of those collections that the agent may read; one statement for all."""
        ...

    def opening(self, access: Access, collection: str, *, model: str, text_hash: str, now: datetime) -> Opening:
        """Return what an insert begins with, in one statement. Nobody asked to read, so nothing is refused."""
        ...

    def changes(self, tenant: str, collection: str, after_seq: int) -> list[Memory]:
        """Return every memory changed after ``after_seq`` (any status), with embeddings, for an index."""
        ...

    def standing(self, access: Access, collections: Sequence[str], *, now: datetime) -> list[Memory]:
        """Return the live standing constraints of collections, most important and newest first."""
        ...

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
        """Return live memories in the order of their ids."""
        ...

    def history(self, access: Access, collection: str, memory_id: str, *, now: datetime) -> list[MemoryVersion]:
        """Return every version, oldest first. Raises NotFoundError."""
        ...

    def tombstoned(self, tenant: str, collection: str, fingerprints: Sequence[str]) -> dict[str, datetime]:
        """Return those fingerprints that were deleted on purpose, each with the instant of its last deletion."""
        ...

    def of_run(self, tenant: str, run_id: str) -> list[MemoryVersion]:
        """Return every version that a run wrote."""
        ...
