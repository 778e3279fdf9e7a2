"""Pairs worth a look, and what the guard says of them, in the words of the board."""

from collections.abc import Sequence

from strata.consolidation.board import Finding, Relation
from strata.dedup.guard import UNPROVEN, Keep, PairDecision, PairKind, decide
from strata.dedup.shelf import Shelf
from strata.dedup.similarity import Thresholds, propose_batch

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
        found = propose_batch(new, _SHELF.profiles(stored), limit=MOST_PROPOSED, thresholds=self._thresholds)
        return [(place, proposal.place) for place, proposals in enumerate(found) for proposal in proposals]

    def proposed_within(self, texts: Sequence[str]) -> list[tuple[int, int]]:
        """Return pairs of places within one batch, the lower first."""
        if len(texts) <= FEW:
            return [(one, other) for other in range(len(texts)) for one in range(other)]
        found = propose_batch(texts, texts, limit=MOST_PROPOSED, thresholds=self._thresholds)
        pairs = {
            tuple(sorted((place, proposal.place))) for place, proposals in enumerate(found) for proposal in proposals
        }
        return sorted((one, other) for one, other in pairs if one != other)

    def compared(self, old: str, new: str) -> Finding:
        """Return how ``new`` stands to ``old``, which was said before it."""
        decision = decide(old, new)
        if decision.kind is PairKind.DISTINCT:
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
