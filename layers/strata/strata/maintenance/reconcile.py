"""What was left to be done later: runs nobody holds, removals that failed, adds that were only acknowledged.

Bounded by time and by batch, and safe to run twice or beside itself: a run is claimed by whoever is first, a removal
of what is gone is fine, a look changes nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from strata.clock import Clock
from strata.errors import LeaseLostError, RunStateError, StrataError
from strata.model.runs import PlannedWrite, Retirement, Run, RunNotice, RunState
from strata.observability import count, logger
from strata.policy.retention import expiry
from strata.ports import Provider, ProviderScope, ReadBack, RunQueue, RunStore

T = TypeVar("T")

LOST_AFTER_LOOKS = 5
"""Looks in vain after which an acknowledged add counts as lost and is made again."""
MOST_LOOKS = 20
"""Looks after which it is given up: by then it was made four times, over several days."""
WINDOW_SECONDS = 300
"""Within it a stuck run is sent once, however often the job runs."""

ProviderNamed = Callable[[str], Provider]
"""From a provider's name, as receipts have it."""
AddAgain = Callable[[ReadBack, Run], None]
"""Makes an add that was lost once more, from the plan of its run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How patient the job is, and how much it takes on."""

    stuck_seconds: int
    most_attempts: int
    batch: int


class Reconcile:
    """The job, every few minutes."""

    def __init__(
        self,
        runs: RunStore,
        queue: RunQueue,
        provider_named: ProviderNamed,
        add_again: AddAgain,
        clock: Clock,
        limits: Limits,
    ) -> None:
        self._runs = runs
        self._queue = queue
        self._provider_named = provider_named
        self._add_again = add_again
        self._clock = clock
        self._limits = limits

    def __call__(self, *, seconds: float) -> dict[str, int]:
        """Do what is due for at most ``seconds`` and return what was done, by kind."""
        until = self._clock.monotonic() + seconds
        now, batch = self._clock.now(), self._limits.batch
        counts = dict.fromkeys(("sent", "parked", "retired", "verified", "added_again", "lost", "failed"), 0)
        self._each(
            self._runs.stuck(before=now - timedelta(seconds=self._limits.stuck_seconds), limit=batch),
            self._send,
            until,
            counts,
        )
        self._each(self._runs.due_retirements(now=now, limit=batch), self._retire, until, counts)
        self._each(self._runs.due_read_backs(now=now, limit=batch), self._look, until, counts)
        logger.info("reconcile.done", extra=counts)
        return counts

    def _each(self, items: Iterable[T], work: Callable[[T], str], until: float, counts: dict[str, int]) -> None:
        for item in items:
            if self._clock.monotonic() >= until:
                return
            try:
                outcome = work(item)
            except StrataError as error:
                logger.warning("reconcile.failed", extra={"work": work.__name__.strip("_"), "code": error.code})
                outcome = "failed"
            if outcome:
                counts[outcome] += 1

    def _send(self, run: Run) -> str:
        """Send a run that nobody holds again; one that used up its attempts without a word is parked."""
        if run.attempts >= self._limits.most_attempts:
            return self._park(run)
        now = self._clock.now()
        try:
            self._runs.requeue(run.tenant, run.run_id, now=now)
        except RunStateError:
            return ""  # somebody took it up meanwhile
        window = int(now.timestamp()) // WINDOW_SECONDS
        notice = RunNotice(tenant=run.tenant, session_id=run.session_id, run_id=run.run_id, upto_seq=run.upto_seq)
        self._queue.send(notice, deduplication=f"reconcile {run.fence} {window}")
        return "sent"

    def _park(self, run: Run) -> str:
        taken = self._runs.claim(run.tenant, run.run_id, seconds=60, now=self._clock.now())
        if taken is None:
            return ""
        _, lease = taken
        count("RunStopped", dimensions={"state": RunState.PARKED.value})
        try:
            self._runs.fail(
                lease,
                run.tenant,
                RunState.PARKED,
                error_code="attempts_spent",
                error_detail="Every attempt ended without an answer.",
                now=self._clock.now(),
            )
        except LeaseLostError:
            return ""
        return "parked"

    def _retire(self, item: Retirement) -> str:
        error = ""
        try:
            scope = _scope(item.tenant, self._runs.get(item.tenant, item.run_id))
            self._provider_named(item.provider).delete(scope, item.collection, [item.memory_id])
        except StrataError as failure:
            error = failure.code
        self._runs.retired(item, error=error, now=self._clock.now())
        return "failed" if error else "retired"

    def _look(self, check: ReadBack) -> str:
        """Ask an asynchronous store for what it acknowledged; make the add again once it counts as lost."""
        run = self._runs.get(check.tenant, check.run_id)
        write = _write_of(run, check)
        if run is None or write is None:
            self._runs.read_back(check, external_ids=check.receipt.external_ids, error="", now=self._clock.now())
            return ""
        ids = self._seen(check, run, write.collection)
        if ids:
            self._runs.read_back(check, external_ids=ids, error="", now=self._clock.now())
            return "verified"
        return self._not_seen(check, run) if self._is_wanted(check, run, write) else self._let_go(check)

    def _is_wanted(self, check: ReadBack, run: Run, write: PlannedWrite) -> bool:
        """What is replaced, undone or out of date by now is rightly not there, and must not be brought back."""
        ends = expiry(write.ttl_seconds, run.finished_at or self._clock.now())
        if ends is not None and ends <= self._clock.now():
            return False
        return not self._runs.is_retired(check.tenant, check.receipt.provider, check.receipt.memory_id)

    def _let_go(self, check: ReadBack) -> str:
        self._runs.stop_looking(check, lost=False)
        return ""

    def _not_seen(self, check: ReadBack, run: Run) -> str:
        looks, provider = check.attempts + 1, check.receipt.provider
        if looks >= MOST_LOOKS:
            logger.error("reconcile.lost", extra={"run_id": run.run_id, "provider": provider})
            count("ProviderLost", dimensions={"provider": provider})
            self._runs.stop_looking(check, lost=True)
            return "lost"
        is_to_be_made_again = looks % LOST_AFTER_LOOKS == 0
        if is_to_be_made_again:
            count("ProviderAddedAgain", dimensions={"provider": provider})
            self._add_again(check, run)
        self._runs.read_back(check, external_ids=(), error="not_seen", now=self._clock.now())
        return "added_again" if is_to_be_made_again else "failed"

    def _seen(self, check: ReadBack, run: Run, collection: str) -> tuple[str, ...]:
        provider = self._provider_named(check.receipt.provider)
        memory = provider.get(_scope(run.tenant, run), collection, check.receipt.memory_id)
        return () if memory is None else (str(memory.metadata.get("external_id", memory.memory_id)),)


def _write_of(run: Run | None, check: ReadBack) -> PlannedWrite | None:
    planned = run.plan.writes if run is not None and run.plan is not None else ()
    return next((write for write in planned if write.key == check.receipt.key), None)


def _scope(tenant: str, run: Run | None) -> ProviderScope:
    if run is None:
        return ProviderScope(tenant=tenant, user_id="", agent_id="")
    return ProviderScope(tenant=tenant, user_id=run.user_id, agent_id=run.agent_id, session_id=run.session_id)
