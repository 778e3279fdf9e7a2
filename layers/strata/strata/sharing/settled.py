"""Hits put in order among themselves: one fact once, and of two that contradict each other the newer one first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from strata.dedup.guard import PairKind, decide
from strata.model.memories import Hit, Memory
from strata.sharing.index import EPISODE

ALIKE = 0.6
"""Share of search terms in common from which a pair is looked at closely."""
REMEMBERED_PAIRS = 4_096
CLOSE_LOOKS = 4
"""Pairs looked at closely in one search: each costs a tenth of a millisecond."""


@dataclass(frozen=True, slots=True)
class ReadHit:
    """A hit and its search terms."""

    hit: Hit
    terms: frozenset[str]

    def standing_for(self, memory: Memory) -> "ReadHit":
        """Return the hit with the memory as it was read again."""
        return self if memory is self.hit.memory else replace(self, hit=replace(self.hit, memory=memory))


def settled(hits: Sequence[ReadHit]) -> list[ReadHit]:
    """Return the hits, best first, without restatements; turns of conversations are left as they are."""
    looks, masks = CLOSE_LOOKS, _masks(hits)
    kept: list[ReadHit] = []
    for found in hits:
        for better in _alike(kept, found, masks)[:looks] if looks else ():
            looks -= 1
            if _settle(kept, better, found):
                break
        else:
            kept.append(found)
    return _successors_first(kept)


def _masks(hits: Sequence[ReadHit]) -> dict[frozenset[str], int]:
    """Return every set of terms as a number with a bit for each: what two have in common is then counted at once."""
    bits: dict[str, int] = {}
    masks: dict[frozenset[str], int] = {}
    for found in hits:
        mask = 0
        for term in found.terms:
            mask |= bits.setdefault(term, 1 << len(bits))
        masks[found.terms] = mask
    return masks


def _alike(kept: Sequence[ReadHit], found: ReadHit, masks: Mapping[frozenset[str], int]) -> list[ReadHit]:
    """Return the better hits about the same user with mostly the same words."""
    if found.hit.memory.memory_type == EPISODE or not found.terms:
        return []
    words, mask = len(found.terms), masks[found.terms]
    near = [
        better
        for better in kept
        if (1 + ALIKE) * (mask & masks[better.terms]).bit_count() >= ALIKE * (words + len(better.terms))
    ]
    return [
        better
        for better in near
        if better.hit.memory.user_id == found.hit.memory.user_id and better.hit.memory.memory_type != EPISODE
    ]


def _settle(kept: list[ReadHit], better: ReadHit, found: ReadHit) -> bool:
    """Give a hit its place beside one like it; tell whether that was needed."""
    place = kept.index(better)
    kind = _kind(better.hit.memory.content, found.hit.memory.content)
    if kind is PairKind.MERGE:
        kept[place] = replace(better, hit=replace(better.hit, signals=_signals(better.hit, found.hit)))
        return True
    if kind is PairKind.CONFLICT and found.hit.memory.said_at > better.hit.memory.said_at:
        kept.insert(place, replace(found, hit=replace(found.hit, score=better.hit.score)))
        return True
    return False


@lru_cache(maxsize=REMEMBERED_PAIRS)
def _kind(old: str, new: str) -> PairKind:
    """The same memories are found together again and again."""
    return decide(old, new).kind


def _successors_first(kept: list[ReadHit]) -> list[ReadHit]:
    """Move a memory that is superseded, and still shown, behind the one that supersedes it."""
    places = {found.hit.memory.memory_id: place for place, found in enumerate(kept)}
    for old in list(kept):
        successor = places.get(old.hit.memory.superseded_by or "")
        if successor is not None and successor > kept.index(old):
            newer = kept[successor]
            kept.remove(old)
            kept.insert(kept.index(newer) + 1, replace(old, hit=replace(old.hit, score=newer.hit.score)))
    return kept


def _signals(one: Hit, other: Hit) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.signals + other.signals))
