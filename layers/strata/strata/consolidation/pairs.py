"""Pairs worth a look, and what the guard says of them, in the words of the board."""

from collections.abc import Sequence

from strata.consolidation.board import Finding, Relation
from strata.dedup.guard import UNPROVEN, Keep, PairDecision, PairKind, decide
from strata.dedup.shelf import Shelf
from strata.dedup.similarity import Profiles, Thresholds, propose

MOST_PROPOSED = 20
"""Stored texts looked at for one new one."""
FEW = 24
"""Up to so many texts of a batch are all compared with each other."""
_SHELF = Shelf()
"""One for the process, which outlives the runs it settles."""


_STRANGERS = Finding(relation=Relation.NEAR, reason=f"{PairKind.DISTINCT.value}: {UNPROVEN.reason}")


class Pairs:
    """Proposes by similarity, compares by the guard."""

    def __init__(self, thresholds: Thresholds | None = None) -> None:
        self._thresholds = thresholds or Thresholds()

    def proposed(self, new: Sequence[str], stored: Sequence[str]) -> list[tuple[int, int]]:
        """Return (place in new, place in stored) of pairs that may have to do with each other."""
        if not new or not stored:
            return []
        profiles = _SHELF.profiles(stored)
        return [(place, old) for place, text in enumerate(new) for old in self._places(text, profiles)]

    def proposed_within(self, texts: Sequence[str]) -> list[tuple[int, int]]:
        """Return pairs of places within one batch, the lower first."""
        if len(texts) <= FEW:
            return [(one, other) for other in range(len(texts)) for one in range(other)]
        profiles = Profiles(texts)
        found = ((place, other) for place, text in enumerate(texts) for other in self._places(text, profiles))
        return sorted({(min(pair), max(pair)) for pair in found if pair[0] != pair[1]})

    def _places(self, text: str, profiles: Profiles) -> list[int]:
        found = propose(text, profiles, limit=MOST_PROPOSED, thresholds=self._thresholds)
        return [proposal.place for proposal in found]

    def compared(self, old: str, new: str) -> Finding:
        """Return how ``new`` stands to ``old``, which was said before it."""
        decision = decide(old, new)
        if decision is UNPROVEN or decision.kind is PairKind.DISTINCT:
            return _STRANGERS
        words = f" ({', '.join(decision.evidence)})" if decision.evidence else ""
        return Finding(relation=_relation(decision), reason=f"{decision.kind.value}: {decision.reason}{words}")


def _relation(decision: PairDecision) -> Relation:
    if decision.kind is PairKind.CONFLICT:
        return Relation.AGAINST
    if decision.keep is Keep.NEW:
        return Relation.BEYOND
    if decision.kind is PairKind.MERGE:
        return Relation.SAME
    return Relation.WITHIN if decision.keep is Keep.OLD else Relation.DETAIL
