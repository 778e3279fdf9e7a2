"""Step 8, record: what was done and what it cost; only now are the messages settled."""

from collections import Counter
from collections.abc import Mapping

from strata.clock import Clock
from strata.consolidation.claim import Hold
from strata.model.runs import Judgement, Plan, Run, WriteAction
from strata.ports import RunStore

_COUNTED = {
    WriteAction.INSERT: "inserted",
    WriteAction.SKIP: "skipped",
    WriteAction.REFINE: "refined",
    WriteAction.SUPERSEDE: "superseded",
    WriteAction.QUARANTINE: "quarantined",
}


class Record:
    """Step 8."""

    def __init__(self, runs: RunStore, clock: Clock) -> None:
        self._runs = runs
        self._clock = clock

    def __call__(self, hold: Hold, plan: Plan, timings_ms: Mapping[str, float]) -> Run:
        """Settle the messages and mark the run as succeeded. Raises LeaseLostError."""
        actions = Counter(_COUNTED[write.action] for write in plan.writes)
        return self._runs.finish(
            hold.lease,
            hold.run.tenant,
            counts={**dict.fromkeys(_COUNTED.values(), 0), **actions, **plan.counts, **hold.counts},
            timings_ms={step: round(taken, 3) for step, taken in timings_ms.items()},
            cost=_cost(hold.judgement),
            now=self._clock.now(),
        )


def _cost(judgement: Judgement | None) -> dict[str, object]:
    if judgement is None:
        return {}
    return {
        "model": judgement.model,
        "prompt_tokens": judgement.prompt_tokens,
        "completion_tokens": judgement.completion_tokens,
    }
