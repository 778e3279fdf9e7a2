"""Steps 3 to 6: from a conversation to a plan. They read and decide; nothing is written but the judge's answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from strata.clock import Clock
from strata.consolidation.conflicts import Conflicts
from strata.consolidation.conversation import Conversation
from strata.consolidation.judge import Judge
from strata.consolidation.normalise import Normalise
from strata.consolidation.proposals import Proposal
from strata.consolidation.prune import Prune
from strata.consolidation.timing import Stopwatch
from strata.model.runs import Judgement, Plan, Run

MOST_PLANS = 3
"""In a collection that is written to all the time the third plan has to do."""
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
        """Return the plan that follows from a judgement.

        It is made again if somebody wrote to one of its collections meanwhile: two sessions of a user that end
        together would else both be held against what was there before either.
        """
        with watch("normalise"):
            normal = self.normalise(run, talk, judgement.candidates, now=self.clock.now())
        attempt = _Attempt(run, normal.proposals, judgement, remaining_seconds)
        plan, is_current = self._held_against_what_is_there(attempt, watch)
        for _ in range(MOST_PLANS - 1):
            if is_current:
                break
            plan, is_current = self._held_against_what_is_there(attempt, watch)
        dropped = (*judgement.dropped.items(), *normal.dropped.items())
        counts = {"candidates": len(judgement.candidates)} | {f"dropped_{reason}": number for reason, number in dropped}
        return replace(plan, counts=counts)

    def _held_against_what_is_there(self, attempt: "_Attempt", watch: Stopwatch) -> tuple[Plan, bool]:
        """Return a plan, and whether what it rests on is still there."""
        run, now = attempt.run, self.clock.now()
        collections = list(dict.fromkeys(proposal.collection for proposal in attempt.proposals))
        before = self.conflicts.state(run, collections, now=now)
        with watch("prune"):
            held = self.prune(run, attempt.proposals, now=now)
        with watch("conflicts"):
            plan = self.conflicts(run, held, attempt.judgement, remaining_seconds=attempt.remaining_seconds)
        return replace(plan, seen=before), self.conflicts.state(run, collections, now=now) == before


class _Attempt(NamedTuple):
    """What a plan is made from."""

    run: Run
    proposals: Sequence[Proposal]
    judgement: Judgement
    remaining_seconds: Remaining
