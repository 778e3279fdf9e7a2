"""Steps 3 to 6: from a conversation to a plan. They read and decide; nothing is written but the judge's answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from strata.clock import Clock
from strata.consolidation.conflicts import Conflicts
from strata.consolidation.conversation import Conversation
from strata.consolidation.judge import Judge
from strata.consolidation.normalise import Normalise
from strata.consolidation.prune import Prune
from strata.consolidation.timing import Stopwatch
from strata.model.runs import Judgement, Plan, Run

Remaining = Callable[[], float]
"""Seconds that an invocation has left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """The steps that decide."""

    judge: Judge
    normalise: Normalise
    prune: Prune
    conflicts: Conflicts
    clock: Clock

    def plan(
        self, run: Run, talk: Conversation, judgement: Judgement, watch: Stopwatch, *, remaining_seconds: Remaining
    ) -> Plan:
        """Return the plan that follows from a judgement."""
        now = self.clock.now()
        with watch("normalise"):
            normal = self.normalise(run, talk, judgement.candidates, now=now)
        with watch("prune"):
            held = self.prune(run, normal.proposals, now=now)
        with watch("conflicts"):
            plan = self.conflicts(run, held, judgement, remaining_seconds=remaining_seconds)
        dropped = (*judgement.dropped.items(), *normal.dropped.items())
        counts = {"candidates": len(judgement.candidates)} | {f"dropped_{reason}": number for reason, number in dropped}
        return replace(plan, counts=counts)
