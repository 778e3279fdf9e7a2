"""Step 1, claim: one worker at a time, and nobody writes who was taken over.

Two guards. The session's lock in the cache keeps two runs of one session apart; its token is the run's id, so that a
redelivery passes the lock that a crashed worker left. The lease on the run's row keeps two workers of one run apart:

    queued ──claim──▶ running ──plan──▶ planned ──finish──▶ succeeded
       ▲                 │ lease ran out: fence + 1 ▲  │
       └─────release─────┴──────────────────────────┘  └─fail──▶ failed · parked

The lease lives in the database, so its word is the last: without the cache it decides alone. A worker whose fence is
old is told LeaseLostError at its next write.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from strata.clock import Clock
from strata.config import Consolidation
from strata.errors import CacheUnavailableError, LeaseLostError
from strata.model.runs import Judgement, Lease, Run, RunNotice, RunState
from strata.model.sessions import SessionKey
from strata.observability import logger
from strata.ports import RunStore, SessionCache

FINISHED = frozenset({RunState.SUCCEEDED, RunState.FAILED, RunState.PARKED, RunState.UNDONE})


@dataclass(slots=True, kw_only=True)
class Hold:
    """A claimed run and the lease on it, which is prolonged while the work goes on."""

    run: Run
    lease: Lease
    _runs: RunStore
    _clock: Clock
    _seconds: int
    judgement: Judgement | None = None
    counts: dict[str, int] = field(default_factory=dict)
    seen: Mapping[str, int] = field(default_factory=dict)
    """How far the plan has seen each collection."""

    @property
    def key(self) -> SessionKey:
        """The run's session."""
        return SessionKey(tenant=self.run.tenant, session_id=self.run.session_id)

    @property
    def is_second_judgement(self) -> bool:
        """Tell whether the run succeeded once before and was opened again: only then it has counts already."""
        return bool(self.run.counts)

    def keep(self) -> None:
        """Prolong the lease once half of it is over. Raises LeaseLostError if somebody has taken over."""
        if self.lease.expires_at - self._clock.now() < timedelta(seconds=self._seconds / 2):
            self.prolong()

    def prolong(self) -> None:
        """Prolong the lease. Raises LeaseLostError if somebody has taken over, or the run was erased."""
        now = self._clock.now()
        self.lease = self._runs.extend(self.lease, self.run.tenant, seconds=self._seconds, now=now)


class Claim:
    """Step 1."""

    def __init__(self, runs: RunStore, cache: SessionCache, settings: Consolidation, clock: Clock) -> None:
        self._runs = runs
        self._cache = cache
        self._settings = settings
        self._clock = clock

    def __call__(self, notice: RunNotice) -> Hold | Run:
        """Return the claimed run, or the run itself if there is nothing left to do for it.

        Raises:
            LeaseLostError: another worker is at it, or at another run of the session.
        """
        key = SessionKey(tenant=notice.tenant, session_id=notice.session_id)
        if not self._lock(key, notice.run_id):
            raise LeaseLostError("Another run of this session is at work.")
        taken = self._runs.claim(
            notice.tenant, notice.run_id, seconds=self._settings.lease_seconds, now=self._clock.now()
        )
        if taken is None:
            return self._not_taken(key, notice)
        run, lease = taken
        return Hold(
            run=run,
            lease=lease,
            judgement=run.judgement,
            _runs=self._runs,
            _clock=self._clock,
            _seconds=self._settings.lease_seconds,
        )

    def give_back(self, key: SessionKey, run_id: str) -> None:
        """Release the session's lock, if it can be reached."""
        try:
            self._cache.unlock(key, run_id)
        except CacheUnavailableError:
            logger.warning("claim.unlock_failed", extra={"run_id": run_id})

    def _lock(self, key: SessionKey, run_id: str) -> bool:
        try:
            return self._cache.lock(key, run_id, self._settings.lock_seconds)
        except CacheUnavailableError:
            logger.warning("claim.lock_unavailable", extra={"run_id": run_id})
            return True

    def _not_taken(self, key: SessionKey, notice: RunNotice) -> Run:
        run = self._runs.get(notice.tenant, notice.run_id)
        if run is not None and run.state not in FINISHED:
            raise LeaseLostError("Another worker is working on this run.")
        self.give_back(key, notice.run_id)
        return run or _erased(notice, self._clock)


def _erased(notice: RunNotice, clock: Clock) -> Run:
    """Stand in for a run that is gone (its user was erased): there is nothing to do, now or later."""
    logger.warning("claim.unknown_run", extra={"run_id": notice.run_id})
    return Run(
        tenant=notice.tenant,
        run_id=notice.run_id,
        session_id=notice.session_id,
        user_id="",
        agent_id="",
        state=RunState.FAILED,
        from_seq=notice.upto_seq,
        upto_seq=notice.upto_seq,
        error_code="not_found",
        created_at=clock.now(),
    )
