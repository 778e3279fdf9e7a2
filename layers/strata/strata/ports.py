"""What the flows need of the world. Adapters implement these; ``bootstrap`` joins them.

Every method is one bounded call: it returns, or raises an error of ``strata.errors``. A method that writes is atomic.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from strata.model.agents import AgentProfile, ApiKey, Caller, ProviderName
from strata.model.context import Degraded, SearchMode
from strata.model.events import AuditEvent, NewEvent, Read
from strata.model.memories import (
    AccessPolicy,
    Candidate,
    ChangeKind,
    Collection,
    Hit,
    Memory,
    MemoryType,
    MemoryVersion,
    Registration,
    Source,
)
from strata.model.messages import Appended, JsonObject, Message, NewMessage
from strata.model.runs import Judgement, Lease, Plan, Receipt, Retirement, Run, RunNotice, RunState
from strata.model.sessions import Session, SessionKey, Summary, Window

# --- session memory -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A new message with what is computed once, at append: its token count and its digest."""

    message: NewMessage
    tokens: int
    digest: str


class MessageLog(Protocol):
    """The durable, ordered messages of sessions."""

    def append(
        self,
        key: SessionKey,
        user_id: str,
        agent_id: str,
        messages: Sequence[Counted],
        *,
        now: datetime,
        zone: str = "UTC",
    ) -> Appended:
        """Number and store messages in one transaction; open or resume the session.

        Raises:
            NotFoundError: the session is another user's, or the agent is neither owner nor participant.
            MessageConflictError: a ``message_id`` was used for other content; nothing is stored.
            StatementTooLargeError: a message is larger than the database takes.
            StorageUnavailableError: the database cannot be reached; nothing is stored.
        """
        ...

    def snapshot(self, key: SessionKey, limit: int) -> tuple[Session, list[Message]] | None:
        """Return a session and its newest ``limit`` messages, oldest first, as of one instant, or None."""
        ...

    def tail(self, key: SessionKey, limit: int, *, before_seq: int | None = None) -> list[Message]:
        """Return the newest ``limit`` messages (below ``before_seq``), oldest first."""
        ...

    def between(self, key: SessionKey, after_seq: int, upto_seq: int, *, limit: int = 10_000) -> list[Message]:
        """Return messages with ``after_seq < seq <= upto_seq``, oldest first."""
        ...


class SessionStore(Protocol):
    """The sessions themselves."""

    def get(self, key: SessionKey) -> Session | None:
        """Return the session, or None."""
        ...

    def set_participants(self, key: SessionKey, participants: Sequence[str], *, now: datetime) -> Session:
        """Replace the declared participants. Raises NotFoundError."""
        ...

    def resume(self, key: SessionKey, *, now: datetime) -> Session:
        """Open an ended session again. Raises NotFoundError."""
        ...

    def end(self, key: SessionKey, *, run_id: str, now: datetime) -> Run:
        """Mark ended and create, in the same transaction, the run over everything not yet given to one.

        If no message is new since the last run, that run is returned and nothing is created. Raises NotFoundError.
        """
        ...

    def save_summary(self, key: SessionKey, summary: Summary, *, expected_upto_seq: int) -> bool:
        """Store a summary if the stored one still covers ``expected_upto_seq``; tell whether it was stored."""
        ...

    def of_user(self, tenant: str, user_id: str) -> list[Session]:
        """Return all sessions of a user."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedSession:
    """What one round trip to the cache tells of a session."""

    session: Session | None
    """With its summary. None if it is not there, or not complete for the range that was asked."""
    messages: tuple[Message, ...] = ()
    """Oldest first; complete for the range that was asked."""
    fresh: bool = False
    """False if it was not written or checked for a while: compare ``last_seq`` with the database before use."""
    working: JsonObject = field(default_factory=dict)


class SessionCache(Protocol):
    """The disposable copy of sessions. Every method raises CacheUnavailableError.

    Only the scratch lives nowhere else; for all the rest the flows go to the database instead.
    """

    def load(self, key: SessionKey, limit: int) -> CachedSession:
        """Return session, newest ``limit`` messages, summary and scratch in one round trip."""
        ...

    def push(self, session: Session, messages: Sequence[Message]) -> None:
        """Add new messages behind the newest, in one round trip; a gap or a repeat leaves the list true or gone."""
        ...

    def refill(self, session: Session, messages: Sequence[Message]) -> None:
        """Replace the list by what the database gave, unless something newer was pushed meanwhile.

        Without messages, only what is known of the session is renewed, and the list stays if it is still the newest.
        """
        ...

    def drop(self, key: SessionKey) -> None:
        """Forget everything of a session, also what is still on its way."""
        ...

    def put_summary(self, key: SessionKey, summary: Summary) -> None:
        """Cache a summary."""
        ...

    def get_working(self, key: SessionKey) -> JsonObject | None:
        """Return the scratch, or None."""
        ...

    def put_working(self, key: SessionKey, values: JsonObject, ttl_seconds: int) -> None:
        """Replace the scratch."""
        ...

    def delete_working(self, key: SessionKey) -> None:
        """Remove the scratch."""
        ...

    def lock(self, key: SessionKey, token: str, seconds: int) -> bool:
        """Take the session's consolidation lock; False if another token holds it."""
        ...

    def unlock(self, key: SessionKey, token: str) -> None:
        """Release the lock if the token still holds it (compare and delete)."""
        ...

    def known_digests(self, key: SessionKey, digests: Sequence[str]) -> set[str]:
        """Return those of the digests that are cached as settled; an empty set is no proof."""
        ...

    def remember_digests(self, key: SessionKey, digests: Sequence[str], seconds: int) -> None:
        """Cache digests as settled."""
        ...


# --- agents -------------------------------------------------------------------------------------------------------


class AgentStore(Protocol):
    """Profiles and keys."""

    def get(self, tenant: str, agent_id: str) -> AgentProfile | None:
        """Return a profile, or None."""
        ...

    def put(self, profile: AgentProfile, *, now: datetime, actor: str = "") -> AgentProfile:
        """Create or replace a profile."""
        ...

    def page(self, tenant: str, *, limit: int = 500, after: str = "") -> list[AgentProfile]:
        """Return profiles in the order of their ids."""
        ...

    def add_key(self, key: ApiKey, *, actor: str = "") -> None:
        """Store a key."""
        ...

    def get_key(self, key_id: str) -> ApiKey | None:
        """Return a key, revoked or not."""
        ...

    def keys(self, tenant: str, agent_id: str) -> list[ApiKey]:
        """Return the keys of an agent."""
        ...

    def revoke_key(self, tenant: str, agent_id: str, key_id: str, *, now: datetime, actor: str = "") -> bool:
        """Revoke; tell whether there was such a key."""
        ...

    def has_admin_key(self, tenant: str) -> bool:
        """Tell whether a live admin key exists (the bootstrap key works only until then)."""
        ...


# --- the native library -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """On whose behalf a store call is made; the store enforces it inside its queries.

    ``personal`` names the user whose ``user:`` collection may be reached without a registration (a context load or a
    consolidation for that user). ``system`` is for jobs of the product itself.
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
    run_id: str | None = None
    key: str = ""
    sources: tuple[Source, ...] = ()
    memory_type: str | None = None
    """The type to move to; with ``ChangeKind.MOVE`` only."""


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


class MemoryStore(Protocol):
    """Memories in SQL. Every read and write checks ``access`` inside its statement, and expiry at ``now``."""

    def insert(self, access: Access, draft: MemoryDraft, *, now: datetime) -> Written:
        """Insert with version 1, its version row and its audit event, in one transaction.

        A live memory of the same collection and type with the same fingerprint, about the same user and open to the
        same agents, is returned instead of a second one (``created`` is False; two writers at the same instant cannot
        both write). Episodes may repeat each other, and so may memories without a fingerprint.

        Raises:
            NotFoundError: the agent may not write there.
            ConflictError: the id belongs to a memory of another collection.
        """
        ...

    def edit(self, access: Access, collection: str, edit: MemoryEdit, *, now: datetime) -> Written:
        """Apply a change as a new version, under the collection's conflict policy.

        A change that changes nothing writes nothing. New content without an embedding leaves the memory without one.

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


class TypeStore(Protocol):
    """Memory types and their tables."""

    def all(self) -> dict[str, MemoryType]:
        """Return the types by name (kept warm; re-read when an unknown name is asked)."""
        ...

    def named(self, name: str) -> MemoryType | None:
        """Return one type; a name that is not known here is looked up."""
        ...

    def add(self, name: str, ttl_seconds: int, *, now: datetime) -> MemoryType:
        """Create a type and its table; operators only.

        Raises:
            ValidationError: not a name or not a life.
            ConflictError: it exists with another life.
        """
        ...


class CollectionStore(Protocol):
    """Policies of collections and registrations of agents."""

    def get(self, tenant: str, name: str) -> Collection | None:
        """Return a collection.

        Personal layers exist implicitly: ``user:`` open to the tenant's agents, ``agent:`` to its own agent alone.
        """
        ...

    def page(self, tenant: str, *, limit: int = 500, after: str = "") -> list[Collection]:
        """Return the collections that were made or written to, in the order of their names."""
        ...

    def put(self, collection: Collection, *, actor: str, now: datetime) -> Collection:
        """Create or change the policy."""
        ...

    def delete(self, tenant: str, name: str, *, actor: str, now: datetime) -> bool:
        """Delete a collection without live memories; False if there is none. Raises ConflictError."""
        ...

    def register(self, registration: Registration, *, actor: str, now: datetime) -> Registration:
        """Create or change a registration, checked against the collection's policy in the same transaction.

        Raises NotFoundError (also when refused; the refusal is an audit event).
        """
        ...

    def registration(self, tenant: str, name: str, agent_id: str, *, now: datetime) -> Registration | None:
        """Return the effective registration: not revoked, not expired, cut to the present policy."""
        ...

    def registrations(self, tenant: str, name: str, *, agent_id: str | None = None) -> list[Registration]:
        """Return registrations as they were declared, revoked and expired ones too, in the order of agents."""
        ...

    def revoke(self, tenant: str, name: str, agent_id: str, *, actor: str, now: datetime) -> bool:
        """Revoke with immediate effect. On a personal layer this shuts out an agent that never registered."""
        ...


class EventLog(Protocol):
    """The audit trail; append-only."""

    def record(self, tenant: str, event: NewEvent, *, now: datetime) -> None:
        """Append one event that belongs to no other transaction (a refusal, a job)."""
        ...

    def page(
        self,
        tenant: str,
        *,
        limit: int,
        before_seq: int | None = None,
        kind: str = "",
        memory_id: str = "",
        collection: str = "",
    ) -> list[AuditEvent]:
        """Return events, newest first; ``kind`` may be a whole family such as ``memory.``."""
        ...

    def after(self, tenant: str, seq: int, *, limit: int) -> list[AuditEvent]:
        """Return the events behind ``seq``, oldest first, as they are stored."""
        ...

    def head(self, tenant: str) -> tuple[int, str]:
        """Return number and hash of the last event; number 0 before the first."""
        ...


class ReadLedger(Protocol):
    """Who has read which version."""

    def record(self, tenant: str, reads: Sequence[Read]) -> None:
        """Enter deliveries, in one statement."""
        ...

    def readers(self, tenant: str, memory_id: str, *, version: int | None = None, limit: int = 1_000) -> list[Read]:
        """Return deliveries of a memory, newest first."""
        ...


class Archive(Protocol):
    """Memories and versions in any state, for administration: nobody's rights are asked, the tenant always is."""

    def records(self, tenant: str, memory_ids: Sequence[str]) -> list[Memory]:
        """Return memories in any state, in the order of their ids."""
        ...

    def histories(self, tenant: str, memory_ids: Sequence[str]) -> dict[str, list[MemoryVersion]]:
        """Return every version of memories, oldest first."""
        ...

    def of_agent(self, tenant: str, agent_id: str, *, since: datetime) -> list[MemoryVersion]:
        """Return every version that an agent wrote since an instant."""
        ...

    def of_sessions(self, tenant: str, session_ids: Sequence[str], *, since: datetime) -> list[MemoryVersion]:
        """Return every version that came from sessions since an instant, oldest first."""
        ...

    def adopt(self, tenant: str, memory: Memory, *, actor: str, now: datetime) -> Written:
        """Write an exported memory as it was: id, version, author and times; a repeat is a no-op.

        Raises ConflictError if the id belongs to a memory of another collection.
        """
        ...

    def memories_after(self, tenant: str, memory_id: str, *, limit: int) -> list[Memory]:
        """Return memories in any state, with vectors, in the order of their ids."""
        ...

    def versions_after(self, tenant: str, memory_id: str, version: int, *, limit: int) -> list[MemoryVersion]:
        """Return versions in the order of memory and version."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """What one batch of a purge did."""

    removed: int
    kept: int
    """Rows that were due and had been renewed when it came to removing them."""
    more: bool
    """True if another batch may find something."""


class Purge(Protocol):
    """Physical removal of what has run out."""

    def purge_due(self, *, now: datetime, limit: int) -> Purged:
        """Remove up to ``limit`` memories of each type; expiry is checked again in the DELETE."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """How often something happened, by day, kind of event and actor."""

    day: str
    """ISO date in UTC."""
    kind: str
    actor: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contested:
    """A memory with changes that were made over a version their author had not read."""

    memory_id: str
    collection: str
    conflicts: int


class AuditStore(Protocol):
    """What a weekly report is made of, and the reports."""

    def activity(self, tenant: str, since: datetime, until: datetime) -> list[Activity]:
        """Return what happened to memories, from the audit trail."""
        ...

    def reads_by_agent(self, tenant: str, since: datetime, until: datetime) -> dict[str, int]:
        """Return how many memories each agent was given."""
        ...

    def contested(self, tenant: str, since: datetime, until: datetime, *, limit: int) -> list[Contested]:
        """Return the memories with most conflicts, most first."""
        ...

    def never_read(self, tenant: str, *, now: datetime) -> tuple[int, int]:
        """Return how many memories are live, and how many of these nobody was ever given."""
        ...

    def written(self, tenant: str, since: datetime, until: datetime, *, limit: int) -> list[Memory]:
        """Return live memories that were made in a span of time, newest first."""
        ...

    def beside(self, memory: Memory, *, limit: int) -> list[Memory]:
        """Return the newest live memories of the same collection and type."""
        ...

    def save(self, tenant: str, week: str, report: JsonObject, *, now: datetime) -> None:
        """Keep a report; one that is there is replaced."""
        ...

    def load(self, tenant: str, week: str) -> JsonObject | None:
        """Return a report, or None."""
        ...

    def weeks(self, tenant: str) -> list[str]:
        """Return the weeks that have a report, newest first."""
        ...


class ReportArchive(Protocol):
    """Where reports are kept besides the database."""

    def put(self, tenant: str, week: str, suffix: str, media_type: str, body: bytes) -> None:
        """Store one rendering of a report; a repeat replaces it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCopy:
    """A memory that an external provider keeps for a user."""

    memory_id: str
    provider: str
    external_id: str
    collection: str


class UserStore(Protocol):
    """Everything that is stored about one user."""

    def memories(self, tenant: str, user_id: str) -> list[Memory]:
        """Return every memory in the user's layer or about the user, in any state, in the order of ids."""
        ...

    def copies(self, tenant: str, user_id: str) -> list[ProviderCopy]:
        """Return what external providers keep."""
        ...

    def forget_copies(self, tenant: str, copies: Sequence[ProviderCopy]) -> int:
        """Remove the notes of copies that are gone."""
        ...

    def erase_memories(self, tenant: str, user_id: str, *, actor: str, now: datetime) -> Mapping[str, int]:
        """Remove memories, versions, links and ledger entries; one event a memory, which names no user."""
        ...

    def erase_sessions(self, tenant: str, user_id: str, *, actor: str, now: datetime) -> Mapping[str, int]:
        """Remove sessions, messages, runs, and what was pending or quarantined from them."""
        ...


class JobStore(Protocol):
    """One row per scheduled job, so that the same job does not run twice at a time."""

    def claim(self, name: str, *, seconds: float, now: datetime) -> int | None:
        """Take the job's lease and return its fence; None while another holds it."""
        ...

    def finish(self, name: str, fence: int, *, now: datetime) -> None:
        """Give the lease back, unless somebody else has it by now."""
        ...

    def tenants(self) -> list[str]:
        """Return every tenant that has left a trace."""
        ...


# --- consolidation ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBack:
    """An add that an asynchronous store acknowledged and that is still to be seen there."""

    tenant: str
    run_id: str
    receipt: Receipt
    attempts: int


class RunStore(Protocol):
    """The run ledger. Every write after ``claim`` carries the lease and raises LeaseLostError if its fence is old."""

    def get(self, tenant: str, run_id: str) -> Run | None:
        """Return a run."""
        ...

    def page(
        self,
        tenant: str,
        *,
        limit: int,
        state: RunState | None = None,
        session_id: str = "",
        before: str = "",
        agent_id: str = "",
    ) -> list[Run]:
        """Return runs, newest first."""
        ...

    def claim(self, tenant: str, run_id: str, *, seconds: int, now: datetime) -> tuple[Run, Lease] | None:
        """Take the lease (fence + 1, attempts + 1) unless another holds it or the run is finished; None if so."""
        ...

    def extend(self, lease: Lease, tenant: str, *, seconds: int, now: datetime) -> Lease:
        """Prolong the lease."""
        ...

    def claim_digests(
        self, lease: Lease, run: Run, messages: Sequence[Message], *, since: datetime, now: datetime
    ) -> list[Message]:
        """Claim, for this run, the messages that no run has processed, and return them.

        Those already claimed by this same run are returned again (a redelivery goes on where it stopped).
        """
        ...

    def save_judgement(self, lease: Lease, tenant: str, judgement: Judgement) -> None:
        """Store the judge's answer, so that it is not asked again after a crash."""
        ...

    def save_plan(self, lease: Lease, tenant: str, plan: Plan) -> None:
        """Store the plan; state becomes ``planned``."""
        ...

    def add_receipts(self, lease: Lease, tenant: str, receipts: Sequence[Receipt], *, now: datetime) -> None:
        """Store proofs of writes; repeats are ignored."""
        ...

    def finish(
        self,
        lease: Lease,
        tenant: str,
        *,
        counts: Mapping[str, int],
        timings_ms: Mapping[str, float],
        cost: JsonObject,
        now: datetime,
    ) -> Run:
        """Settle the digests and mark ``succeeded``, in one transaction."""
        ...

    def release(self, lease: Lease, tenant: str, *, error_code: str, error_detail: str, now: datetime) -> None:
        """Give the lease back after a transient failure.

        Claimed digests become free, unless a judgement or a plan is stored that rests on them.
        """
        ...

    def fail(
        self, lease: Lease, tenant: str, state: RunState, *, error_code: str, error_detail: str, now: datetime
    ) -> None:
        """Mark ``failed`` or ``parked``."""
        ...

    def requeue(self, tenant: str, run_id: str, *, now: datetime) -> Run:
        """Bring a failed or parked run back into the queue's hands (attempts 0); its plan, if stored, is resumed.

        An unfinished run that nobody holds stays as it is and only counts as freshly sent. Raises NotFoundError,
        RunStateError (finished, or held by a worker).
        """
        ...

    def reopen(self, tenant: str, run_id: str, *, now: datetime) -> Run:
        """Bring a succeeded run back to ``queued`` without judgement and plan, to be judged again.

        It keeps its messages, its receipts and its counts. Raises NotFoundError, RunStateError.
        """
        ...

    def mark_undone(self, tenant: str, run_id: str) -> Run:
        """Mark a succeeded run as undone."""
        ...

    def stuck(self, *, before: datetime, limit: int) -> list[Run]:
        """Return unfinished runs whose lease ended (or that were never started) before the instant."""
        ...

    def add_retirements(self, lease: Lease | None, retirements: Sequence[Retirement], *, now: datetime) -> None:
        """Record removals that are still to be done."""
        ...

    def due_retirements(self, *, now: datetime, limit: int) -> list[Retirement]:
        """Return removals that should be tried."""
        ...

    def retired(self, retirement: Retirement, *, error: str, now: datetime) -> None:
        """Mark done (empty error) or failed with a later due time."""
        ...

    def due_read_backs(self, *, now: datetime, limit: int) -> list[ReadBack]:
        """Return adds whose ``verify_at`` has come."""
        ...

    def read_back(self, check: ReadBack, *, external_ids: Sequence[str], error: str, now: datetime) -> None:
        """Note that an add was seen under these ids (empty error), or that it was not (asked again later)."""
        ...

    def quarantine(
        self, run: Run, content: str, reason: str, collection: str, memory_type: str, *, now: datetime
    ) -> None:
        """Set a text aside for review; repeats are ignored."""
        ...


class RunQueue(Protocol):
    """The FIFO queue to the consolidator."""

    def send(self, notice: RunNotice, *, deduplication: str = "") -> None:
        """Enqueue in the session's group. Raises QueueUnavailableError."""
        ...


# --- context ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortTerm:
    """What a session gives to a context load."""

    window: Window
    working: JsonObject = field(default_factory=dict)
    degraded: tuple[Degraded, ...] = ()


class WindowReader(Protocol):
    """The short-term side of a context load."""

    def __call__(self, access: Access, session_id: str, user_id: str, *, rounds: int, max_tokens: int) -> ShortTerm:
        """Return the window of a session (summary included in ``max_tokens``) and its scratch.

        A session that does not exist yet has an empty window. Raises NotFoundError if the session is another user's,
        or the agent is neither owner nor participant.
        """
        ...


class RuleJudge(Protocol):
    """A judge that needs nobody: finds what is worth keeping by rules."""

    def __call__(self, messages: Sequence[Message], *, zone: str, context: Sequence[Message]) -> list[Candidate]:
        """Return the candidates among ``messages``; ``context`` is what was said around them."""
        ...


# --- inference ----------------------------------------------------------------------------------------------------


class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def name(self) -> str:
        """Model name and revision, stored beside each vector; empty if there is no model."""
        ...

    @property
    def dimensions(self) -> int:
        """Values per vector; 0 if there is no model."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        """Return one little-endian float32 vector per text, in order. Raises InferenceUnavailableError."""
        ...

    def background(self, dense_scripts: int, *, question: bool) -> tuple[float, float]:
        """Return mean and deviation of this model's cosines between texts that have nothing to do with each other.

        It is what makes scores of different models comparable. ``dense_scripts`` says how many of the two texts are
        written without spaces (0–2: Chinese, Japanese, Korean), ``question`` whether one was embedded as a query.
        """
        ...


class VectorStore(Protocol):
    """Vectors by model and text, so that nothing is embedded twice, not even by another process."""

    def get_many(self, model: str, text_hashes: Sequence[str]) -> dict[str, bytes]:
        """Return those vectors that are known, by hash, in one statement."""
        ...

    def put_many(self, model: str, vectors: Mapping[str, bytes], *, now: datetime) -> None:
        """Keep vectors, in one statement; known ones stay as they are."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """A completion."""

    text: str
    finish_reason: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model: str = ""


class Chat(Protocol):
    """A chat model."""

    @property
    def model(self) -> str:
        """The model's name; empty if none is configured."""
        ...

    def complete(
        self,
        messages: Sequence[JsonObject],
        *,
        schema: JsonObject | None = None,
        max_tokens: int,
        timeout_seconds: float,
    ) -> ChatReply:
        """Return one completion at temperature 0. Raises InferenceUnavailableError."""
        ...


# --- long-term providers ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderScope:
    """Whose memories a provider call is about."""

    tenant: str
    user_id: str
    agent_id: str
    session_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderQuery:
    """One search over the user's, the agent's and named shared collections."""

    scope: ProviderScope
    access: Access
    text: str
    collections: tuple[str, ...]
    top_k: int = 10
    mode: SearchMode = SearchMode.HYBRID
    memory_types: tuple[str, ...] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    deadline_seconds: float = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderHits:
    """The answer, with notes on what the provider could not do as asked."""

    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a provider can do."""

    keyword: bool
    semantic: bool
    tags: bool
    update: bool
    returns_ids: bool
    asynchronous: bool


class Provider(Protocol):
    """A long-term memory. Typed errors only; a provider never falls back to another."""

    @property
    def name(self) -> ProviderName:
        """Which one it is."""
        ...

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        ...

    def search(self, query: ProviderQuery) -> ProviderHits:
        """Search within the deadline."""
        ...

    def add(self, scope: ProviderScope, draft: MemoryDraft, *, now: datetime) -> tuple[str, ...]:
        """Store one memory under its idempotency key (the memory id) and return the provider's ids."""
        ...

    def listed(self, scope: ProviderScope, collection: str, *, limit: int = 100) -> list[Memory]:
        """Return what is stored in a collection."""
        ...

    def get(self, scope: ProviderScope, collection: str, external_id: str) -> Memory | None:
        """Return one memory."""
        ...

    def delete(self, scope: ProviderScope, collection: str, external_ids: Sequence[str]) -> None:
        """Delete; absent ids are fine."""
        ...


MonotonicTimer = Callable[[], float]
"""Seconds from an arbitrary start."""
