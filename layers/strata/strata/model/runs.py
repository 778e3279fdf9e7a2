"""A consolidation run: a recorded, resumable, reversible change set."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from strata.model.memories import AccessPolicy, Candidate, Source
from strata.model.messages import JsonObject


class RunState(StrEnum):
    """``queued → running → planned → succeeded``; or ``failed``, ``parked`` (last attempt spent), ``undone``."""

    QUEUED = "queued"
    RUNNING = "running"
    PLANNED = "planned"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    PARKED = "parked"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunNotice:
    """What travels on the queue: references only, never text."""

    tenant: str
    session_id: str
    run_id: str
    upto_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to work on a run. ``fence`` rises with every claim; writes carry it."""

    run_id: str
    fence: int
    expires_at: datetime


class WriteAction(StrEnum):
    """What happens to one candidate."""

    INSERT = "insert"
    SKIP = "skip"
    REFINE = "refine"
    SUPERSEDE = "supersede"
    QUARANTINE = "quarantine"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWrite:
    """One decision of a plan, complete: a retry applies it without asking anybody again."""

    key: str
    """Deterministic; the memory id derives from it, so a repeat is a no-op."""
    action: WriteAction
    collection: str
    memory_type: str
    content: str
    category: str
    importance: int
    ttl_seconds: int
    standing: bool
    safety: bool
    said_at: datetime
    sources: tuple[Source, ...]
    confidence: float = 1.0
    rule: str = ""
    evidence: str = ""
    reason: str = ""
    """Why this action: the guard's or conflict rule's words."""
    repeats: str | None = None
    """Id of the stored memory that says the same: nothing is inserted, what is stored is renewed."""
    replaces: tuple[str, ...] = ()
    """Ids of memories in the native library that this write supersedes or refines."""
    replaces_external: tuple[str, ...] = ()
    """Ids of memories at the run's external provider that this write replaces."""
    superseded_by: str | None = None
    """Set if the new memory is older in speech than what is stored: it is written already superseded."""
    keep_old_visible: bool = False
    policy: AccessPolicy = field(default_factory=AccessPolicy)
    metadata: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a judge answered, kept in the ledger so that a crash after the answer does not ask again."""

    candidates: tuple[Candidate, ...]
    judge: str
    """``rules`` or ``model``."""
    model: str = ""
    prompt_version: str = ""
    error: str = ""
    """Why rules judged although a model was configured: an error code, or ``empty_answer``."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    """How many of the judge's items were left out, by reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything a run will do, stored before the first write."""

    writes: tuple[PlannedWrite, ...]
    judge: str
    """``rules`` or ``model``."""
    model: str = ""
    prompt_version: str = ""
    judge_error: str = ""
    """Why rules judged although a model was configured; empty otherwise."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """What was counted on the way to it: candidates, and those dropped by reason."""
    seen: Mapping[str, int] = field(default_factory=dict)
    """By collection the change counter up to which it knew what is stored."""


class Kept(StrEnum):
    """Whether a store has what it acknowledged: seen there, still to be looked for, or given up."""

    YES = "yes"
    AWAITED = "awaited"
    LOST = "lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof of one write, per planned key."""

    key: str
    memory_id: str
    action: WriteAction
    version: int
    provider: str
    external_ids: tuple[str, ...] = ()
    verify_at: datetime | None = None
    """When an asynchronous store is to be asked whether it really kept this; None = nothing to ask."""
    looks: int = 0
    """How often it was asked."""

    @property
    def kept(self) -> Kept:
        """What is known of an add that a store only acknowledged."""
        if self.verify_at is not None:
            return Kept.AWAITED
        return Kept.LOST if self.looks and not self.external_ids else Kept.YES


@dataclass(frozen=True, slots=True, kw_only=True)
class Retirement:
    """An old memory to be removed from a provider after its successor was written; retried until it is done."""

    retirement_id: str
    tenant: str
    provider: str
    collection: str
    memory_id: str
    replaced_by: str
    run_id: str
    attempts: int = 0
    last_error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One row of the run ledger."""

    tenant: str
    run_id: str
    session_id: str
    user_id: str
    agent_id: str
    state: RunState
    from_seq: int
    """First message (inclusive) that may belong to it."""
    upto_seq: int
    attempts: int = 0
    fence: int = 0
    lease_until: datetime | None = None
    judgement: Judgement | None = None
    plan: Plan | None = None
    receipts: tuple[Receipt, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    cost: JsonObject = field(default_factory=dict)
    error_code: str = ""
    error_detail: str = ""
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
