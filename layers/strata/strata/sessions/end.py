"""Ending a session: a run over what is new, in the ledger; then a notice on the queue."""

import uuid
from dataclasses import dataclass

from strata.clock import Clock
from strata.errors import QueueUnavailableError
from strata.model.runs import Run, RunNotice, RunState
from strata.model.sessions import Session, SessionKey
from strata.observability import count, logger
from strata.ports import RunQueue, SessionStore
from strata.sessions.admission import admitted


@dataclass(frozen=True, slots=True, kw_only=True)
class EndSession:
    """Ends a session; ending it twice is ending it once."""

    sessions: SessionStore
    queue: RunQueue
    clock: Clock

    def __call__(self, key: SessionKey, agent_id: str, *, user_id: str | None = None) -> Run:
        """Mark the session ended and return the run that will settle it.

        The run is in the ledger before the queue hears of it. If the queue cannot be reached the run stays queued and
        the next reconcile sends its notice again: the end has happened all the same.

        Raises:
            NotFoundError: there is no such session for this agent and user.
            StorageUnavailableError: nothing has changed, or ending again will show what has.
        """
        admitted(self.sessions.get(key), agent_id, user_id)
        run = self.sessions.end(key, run_id=f"run_{uuid.uuid4().hex}", now=self.clock.now())
        if run.state is RunState.QUEUED:
            self._announce(run)
        return run

    def _announce(self, run: Run) -> None:
        notice = RunNotice(tenant=run.tenant, session_id=run.session_id, run_id=run.run_id, upto_seq=run.upto_seq)
        try:
            self.queue.send(notice, deduplication=f"{run.run_id}:{run.upto_seq}")
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
