"""Ending a session: a run over what is new, in the ledger; then a notice on the queue."""

import uuid
from dataclasses import dataclass

from strata.clock import Clock
from strata.errors import QueueUnavailableError
from strata.model.runs import Run, RunNotice, RunState
from strata.model.sessions import Session, SessionKey
from strata.observability import count, logger
from strata.ports import RunQueue, RunStore, SessionStore
from strata.sessions.admission import admitted


@dataclass(frozen=True, slots=True, kw_only=True)
class EndSession:
    """Ends a session; ending it twice is ending it once."""

    sessions: SessionStore
    runs: RunStore
    queue: RunQueue
    clock: Clock

    def __call__(self, key: SessionKey, agent_id: str, *, user_id: str | None = None) -> Run:
        """Mark the session ended and return the run that will settle it.

        The run is in the ledger before the queue hears of it. If the queue cannot be reached the run stays queued and
        the next reconcile sends its notice again: the end has happened all the same.

        Runs of the session that failed or were parked get another chance, behind what is new: whoever ends a session
        once more wants everything in it settled. What such a run wrote already is not written twice.

        Raises:
            NotFoundError: there is no such session for this agent and user.
            StorageUnavailableError: nothing has changed, or ending again will show what has.
        """
        admitted(self.sessions.get(key), agent_id, user_id)
        now = self.clock.now()
        run = self.sessions.end(key, run_id=f"run_{uuid.uuid4().hex}", now=now)
        if run.state is RunState.QUEUED:
            self._announce(run, f"{run.run_id}:{run.upto_seq}")
        again = {stopped.run_id: stopped for stopped in self.runs.bring_back(key.tenant, key.session_id, now=now)}
        for stopped in again.values():
            self._announce(stopped, f"ended again {now.isoformat()}")
        return again.get(run.run_id, run)

    def _announce(self, run: Run, deduplication: str) -> None:
        notice = RunNotice(tenant=run.tenant, session_id=run.session_id, run_id=run.run_id, upto_seq=run.upto_seq)
        try:
            self.queue.send(notice, deduplication=deduplication)
        except QueueUnavailableError as error:
            logger.warning("run.notice_failed", extra={"run_id": run.run_id, "reason": error.message})
            count("RunNoticeFailed")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeSession:
    """Opens an ended session again; an append does so by itself."""

    sessions: SessionStore
    clock: Clock

    def __call__(self, key: SessionKey, agent_id: str, *, user_id: str | None = None) -> Session:
        """Return the open session. Raises NotFoundError."""
        admitted(self.sessions.get(key), agent_id, user_id)
        return self.sessions.resume(key, now=self.clock.now())
