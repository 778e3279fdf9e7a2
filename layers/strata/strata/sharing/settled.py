"""Hits put in order among themselves: one fact once, and of two that contradict each other the newer one first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from strata.dedup.guard import PairKind, decide
from strata.model.memories import Hit
from strata.sharing.index import EPISODE

ALIKE = 0.6
"""Share of search terms in common from which a pair is looked at closely."""
CLOSE_LOOKS = 6
"""Pairs looked at closely in one search: each costs a tenth of a millisecond."""


@dataclass(frozen=True, slots=True)
class ReadHit:
    """A hit and its search terms, each once."""

    hit: Hit
    terms: tuple[str, ...]


def settled(hits: Sequence[ReadHit]) -> list[ReadHit]:
    """Return the hits, best first, without restatements; turns of conversations are left as they are."""
    looks = _Looks()
    kept: list[ReadHit] = []
    for found in hits:
        _settle(kept, found, looks)
    return kept


class _Looks:
    """Close looks at pairs, as long as there are any left."""

    def __init__(self) -> None:
        self._left = CLOSE_LOOKS

    def kind(self, one: ReadHit, other: ReadHit) -> PairKind | None:
        """Return how two hits stand to each other; None if they are too different to ask, or about others."""
        ours, theirs = one.hit.memory, other.hit.memory
        if ours.user_id != theirs.user_id or EPISODE in {ours.memory_type, theirs.memory_type}:
            return None
        if ours.fingerprint == theirs.fingerprint != "":
            return PairKind.MERGE
        if self._left == 0 or _in_common(one.terms, other.terms) < ALIKE:
            return None
        self._left -= 1
        return decide(ours.content, theirs.content).kind


def _in_common(ours: Sequence[str], theirs: Sequence[str]) -> float:
    shared = len(set(ours).intersection(theirs))
    return shared / max(1, len(ours) + len(theirs) - shared)


def _settle(kept: list[ReadHit], found: ReadHit, looks: _Looks) -> None:
    for place, better in enumerate(kept):
        kind = looks.kind(better, found)
        if kind is PairKind.MERGE:
            kept[place] = replace(better, hit=replace(better.hit, signals=_signals(better.hit, found.hit)))
            return
        if _is_overtaken(better.hit, found.hit, kind):
            kept.insert(place, replace(found, hit=replace(found.hit, score=better.hit.score)))
            return
    kept.append(found)


def _is_overtaken(better: Hit, hit: Hit, kind: PairKind | None) -> bool:
    newer = hit.memory.said_at > better.memory.said_at
    return better.memory.superseded_by == hit.memory.memory_id or (kind is PairKind.CONFLICT and newer)


def _signals(one: Hit, other: Hit) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.signals + other.signals))
