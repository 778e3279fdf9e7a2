"""What a run would do, without doing it: nothing is claimed, stored or sent."""

from strata.clock import Clock
from strata.consolidation.fresh import Fresh
from strata.consolidation.planning import Planning, Remaining
from strata.consolidation.timing import Stopwatch
from strata.errors import NotFoundError
from strata.model.runs import Plan
from strata.ports import RunStore


class DryRun:
    """Plans all messages of a run anew."""

    def __init__(self, runs: RunStore, fresh: Fresh, planning: Planning, clock: Clock) -> None:
        self._runs = runs
        self._fresh = fresh
        self._planning = planning
        self._clock = clock

    def __call__(self, tenant: str, run_id: str, *, remaining_seconds: Remaining) -> Plan:
        """Return the plan. A model, if there is one, is asked. Raises NotFoundError."""
        run = self._runs.get(tenant, run_id)
        if run is None:
            raise NotFoundError
        talk = self._fresh.preview(run)
        watch = Stopwatch(self._clock, lambda _step: None)
        judgement = self._planning.judge(talk, remaining_seconds=remaining_seconds, last_chance=True)
        return self._planning.plan(run, talk, judgement, watch, remaining_seconds=remaining_seconds)
