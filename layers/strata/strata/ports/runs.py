"""Consolidation: the run ledger and the queue."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from strata.model.memories import (
    Candidate,
)
from strata.model.messages import JsonObject, Message
from strata.model.runs import Judgement, Lease, Plan, PlannedWrite, Receipt, Retirement, Run, RunNotice, RunState


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

    def requeue(self, tenant: str, run_id: str, *, now: datetime, actor: str = "") -> Run:
        """Bring a failed or parked run back into the queue's hands (attempts 0); its plan, if stored, is resumed.

        If an ``actor`` asked for it, that is an audit event.

        An unfinished run that nobody holds stays as it is and only counts as freshly sent. Raises NotFoundError,
        RunStateError (finished, or held by a worker).
        """
        ...

    def bring_back(self, tenant: str, session_id: str, *, now: datetime) -> list[Run]:
        """Requeue the failed and parked runs of a session, newest first (at most a handful), and return them."""
        ...

    def reopen(self, tenant: str, run_id: str, *, actor: str, now: datetime) -> Run:
        """Bring a succeeded run back to ``queued`` without judgement and plan, to be judged again, with an audit event.

        It keeps its messages, its receipts and its counts. Raises NotFoundError, RunStateError.
        """
        ...

    def mark_undone(self, tenant: str, run_id: str, *, actor: str, now: datetime) -> Run:
        """Mark a succeeded run as undone, with an audit event; one that is undone stays as it is."""
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

    def is_retired(self, tenant: str, provider: str, memory_id: str) -> bool:
        """Tell whether the removal of a memory from a provider was ever noted."""
        ...

    def stop_looking(self, check: ReadBack, *, lost: bool) -> None:
        """Look for an add no more: it is lost for good, or nobody wants it any more."""
        ...

    def quarantine(self, run: Run, write: PlannedWrite, *, now: datetime) -> None:
        """Set the text of a planned write aside for review; repeats are ignored."""
        ...


class RunQueue(Protocol):
    """The FIFO queue to the consolidator."""

    def send(self, notice: RunNotice, *, deduplication: str = "") -> None:
        """Enqueue in the session's group. Raises QueueUnavailableError."""
        ...

    def postpone(self, waits: Mapping[str, int]) -> None:
        """Let received messages (by receipt, at most ten) come back after so many seconds.

        A receipt that is not valid any more is passed over. Raises QueueUnavailableError.
        """
        ...


class RuleJudge(Protocol):
    """A judge that needs nobody: finds what is worth keeping by rules."""

    def __call__(self, messages: Sequence[Message], *, zone: str, context: Sequence[Message]) -> list[Candidate]:
        """Return the candidates among ``messages``; ``context`` is what was said around them."""
        ...
