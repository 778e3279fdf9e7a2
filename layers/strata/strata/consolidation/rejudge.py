"""Judging again, by the model, what rules judged because the model was away.

The run keeps its id and its messages. Its new plan is held against what the first judgement stored like against
anything else, so what both found stays as it is; what only the rules found is given up in commit, except constraints:
those a user has to take back.
"""

from collections.abc import Iterator

from strata.clock import Clock
from strata.consolidation.judge import EMPTY
from strata.consolidation.replay import notice_of
from strata.errors import NotFoundError, RunStateError
from strata.model.runs import Run, RunState
from strata.ports import RunQueue, RunStore

PAGE = 100
_SETTLED = frozenset({"", EMPTY})
"""Reasons for which rules judged that no second judgement would change."""


class Rejudge:
    """Opens runs again and sends them."""

    def __init__(self, runs: RunStore, queue: RunQueue, clock: Clock) -> None:
        self._runs = runs
        self._queue = queue
        self._clock = clock

    def __call__(self, tenant: str, run_id: str, *, actor: str) -> Run:
        """Return the run, waiting to be judged again.

        Raises:
            NotFoundError: no such run.
            RunStateError: it has not succeeded, or the model had its say already.
        """
        run = self._runs.get(tenant, run_id)
        if run is None:
            raise NotFoundError
        if not was_makeshift(run):
            raise RunStateError("The run was not judged by rules for want of a model.")
        return self._opened(run, actor)

    def all(self, tenant: str, *, limit: int, actor: str) -> list[Run]:
        """Open up to ``limit`` runs of a tenant, newest first, and return them."""
        chosen: list[Run] = []
        for run in self._succeeded(tenant):
            if len(chosen) == limit:
                break
            if was_makeshift(run):
                chosen.append(run)
        return [self._opened(run, actor) for run in chosen]

    def _succeeded(self, tenant: str) -> Iterator[Run]:
        before = ""
        while page := self._runs.page(tenant, limit=PAGE, state=RunState.SUCCEEDED, before=before):
            yield from page
            before = page[-1].run_id

    def _opened(self, run: Run, actor: str) -> Run:
        now = self._clock.now()
        opened = self._runs.reopen(run.tenant, run.run_id, actor=actor, now=now)
        self._queue.send(notice_of(opened), deduplication=f"rejudge {now.isoformat()}")
        return opened


def was_makeshift(run: Run) -> bool:
    """Tell whether rules judged a run only because the model gave no usable answer."""
    plan = run.plan
    if run.state is not RunState.SUCCEEDED or plan is None:
        return False
    return plan.judge == "rules" and plan.judge_error not in _SETTLED
