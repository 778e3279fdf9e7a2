"""Bringing a run that stopped back into the queue: failed, parked, or lost with a dead letter."""

from contextlib import suppress

from strata.clock import Clock
from strata.errors import NotFoundError, RunStateError
from strata.model.runs import Run, RunNotice, RunState
from strata.ports import RunQueue, RunStore

STOPPED = (RunState.PARKED, RunState.FAILED)


def notice_of(run: Run) -> RunNotice:
    """Return what travels on the queue for a run."""
    return RunNotice(tenant=run.tenant, session_id=run.session_id, run_id=run.run_id, upto_seq=run.upto_seq)


class Replay:
    """Sends a run again; what it had planned or written already is taken up, not repeated."""

    def __init__(self, runs: RunStore, queue: RunQueue, clock: Clock) -> None:
        self._runs = runs
        self._queue = queue
        self._clock = clock

    def __call__(self, tenant: str, run_id: str, *, actor: str) -> Run:
        """Return the run, waiting in the queue again.

        Raises:
            NotFoundError: no such run.
            RunStateError: it succeeded or was undone, or a worker holds it.
            QueueUnavailableError: it is brought back, but not sent; reconcile will send it.
        """
        now = self._clock.now()
        run = self._runs.requeue(tenant, run_id, now=now, actor=actor)
        self._queue.send(notice_of(run), deduplication=f"replay {now.isoformat()}")
        return run

    def all(self, tenant: str, *, limit: int, actor: str) -> list[Run]:
        """Send up to ``limit`` stopped runs of a tenant again, longest waiting first, and return them.

        Raises QueueUnavailableError: those brought back so far will be sent by reconcile.
        """
        stopped = [run for state in STOPPED for run in self._runs.page(tenant, limit=limit, state=state)]
        sent: list[Run] = []
        for run in sorted(stopped, key=lambda run: run.created_at)[:limit]:
            with suppress(RunStateError, NotFoundError):  # somebody else has brought it back meanwhile
                sent.append(self(tenant, run.run_id, actor=actor))
        return sent
