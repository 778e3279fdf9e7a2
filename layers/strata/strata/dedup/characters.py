"""How many characters each of many texts shares with one, for all of them at once.

For every character there is one long integer with a bit per text. Adding those of a query's characters, bit plane by
bit plane, counts for ten thousand texts in some thirty operations what comparing set by set takes ten thousand for.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from math import ceil
from typing import NamedTuple

from strata.dedup.bitsets import Shared, bitsets, positions, without

_BLANK = frozenset(" ,?")
_SLACK = 1e-9
"""So that 0.7 of ten is seven."""


class CharacterIndex:
    """The character sets of normalised texts; blanks and stops are no characters, an empty set is like nothing."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Index ``texts``, some 15 µs each."""
        sets = [characters(text) for text in texts]
        self._members = bitsets(dict(enumerate(sets)))
        self._sizes = bitsets({index: (len(each),) for index, each in enumerate(sets) if each})
        self._lengths = bitsets({index: (len(text),) for index, text in enumerate(texts) if text})
        self._known_smaller: dict[int, int] = {}
        self._known_reach: dict[tuple[int, float], _Reach] = {}
        self._known_lengths: dict[tuple[int, float, int], dict[int, int]] = {}
        self._latest: tuple[str, int, Shared] = "", 0, Shared(())

    def near(self, text: str, threshold: float, limit: int, known: Iterable[int] = ()) -> list[tuple[int, float]]:
        """Index and Jaccard index of the best ``limit`` texts, those ``known`` apart, that reach ``threshold`` (above
        0), best first.
        """
        size, shared = self._shared(text)
        reach = self._reach(size, threshold)
        fitting = _fitting(reach, shared, without(shared.at_least(reach.enough), known))
        near: list[tuple[int, float]] = []
        for score, its_size, count in reach.scores if fitting else ():
            if its_size in fitting and (found := fitting[its_size] & shared.exactly(count)):
                near += [(index, score) for index in islice(positions(found), limit - len(near))]
                if len(near) == limit:
                    break
        return near

    def holding(self, text: str) -> Iterable[int]:
        """The texts that have all of ``text``'s characters, in order; ``text`` must have some."""
        size, shared = self._shared(text)
        return positions(shared.at_least(size))

    def _reach(self, size: int, threshold: float) -> "_Reach":
        known = self._known_reach.get((size, threshold))
        if known is None:
            known = self._known_reach[size, threshold] = _reach(size, self._sizes, threshold)
        return known

    def few_edits_away(self, text: str, similarity: float, longest: int, known: Iterable[int] = ()) -> Iterable[int]:
        """The texts of at most ``longest`` characters, those ``known`` apart, that may be edited into ``text``: each
        edit puts one character in the place of one, so that only as many of either set may be without counterpart in
        the other.
        """
        (size, shared), fitting = self._shared(text), self._of_like_length(len(text), similarity, longest)
        possible = without(shared.at_least(max(1, size - max(fitting, default=0))), known)
        found = 0
        for edits, texts in fitting.items() if possible else ():
            if texts := texts & possible & shared.at_least(max(1, size - edits)):
                found |= texts & self._few_missing(shared, size, edits)
        return positions(found)

    def _of_like_length(self, length: int, similarity: float, longest: int) -> dict[int, int]:
        """By number of edits the texts that as many may turn into one of ``length``, by their lengths alone."""
        known = self._known_lengths.get((length, similarity, longest))
        if known is None:
            known = self._known_lengths[length, similarity, longest] = {}
            shortest, most = max(1, ceil(length * similarity - _SLACK)), min(longest, int(length / similarity + _SLACK))
            for its_length in range(shortest, most + 1):
                if having := self._lengths.get(its_length):
                    edits = int(max(length, its_length) * (1 - similarity) + _SLACK)
                    known[edits] = known.get(edits, 0) | having
        return known

    def _few_missing(self, shared: Shared, size: int, edits: int) -> int:
        """The texts of whose characters at most ``edits`` are not shared, among those with enough of ``size``."""
        found = self._no_larger(size)
        for its_size in range(size + 1, size + edits + 1):
            if having := self._sizes.get(its_size):
                found |= having & shared.at_least(max(1, its_size - edits))
        return found

    def _no_larger(self, size: int) -> int:
        known = self._known_smaller.get(size)
        if known is None:
            known = 0
            for its_size, having in self._sizes.items():
                known |= having if its_size <= size else 0
            self._known_smaller[size] = known
        return known

    def _shared(self, text: str) -> tuple[int, Shared]:
        """The size of a text's set and who shares it, kept for the signals that ask one after the other."""
        latest, size, shared = self._latest
        if latest != text:
            own = characters(text)
            size, shared = len(own), Shared([self._members[each] for each in own if each in self._members])
            self._latest = text, size, shared
        return size, shared


class _Reach(NamedTuple):
    """With what a set of one size reaches a Jaccard index."""

    enough: int
    """The smallest overlap that may be enough."""
    least: Sequence[tuple[int, int, int]]
    """The sizes of other sets, which texts have them, and the smallest overlap that is enough."""
    scores: Sequence[tuple[float, int, int]]
    """Every score that is enough, with the size and the overlap that make it, best first."""


def _reach(size: int, sizes: Mapping[int, int], threshold: float) -> _Reach:
    overlaps = ((its_size, having, _overlap(size, its_size, threshold)) for its_size, having in sizes.items())
    least = [each for each in overlaps if each[2] <= min(size, each[0])]
    scores = [
        (count / (size + its_size - count), its_size, count)
        for its_size, _, enough in least
        for count in range(enough, min(size, its_size) + 1)
    ]
    return _Reach(min((each[2] for each in least), default=size + 1), least, sorted(scores, reverse=True))


def _fitting(reach: _Reach, shared: Shared, possible: int) -> dict[int, int]:
    """By size of their sets the ``possible`` texts that share enough."""
    found: dict[int, int] = {}
    for its_size, having, least in reach.least if possible else ():
        if fitting := possible & having & shared.at_least(least):
            found[its_size] = fitting
    return found


def _overlap(size: int, its_size: int, threshold: float) -> int:
    """The smallest overlap with which two sets reach a Jaccard index."""
    return max(1, ceil(threshold / (1 + threshold) * (size + its_size) - _SLACK))


def characters(text: str) -> frozenset[str]:
    """The set of characters of a normalised text; a Chinese character is one."""
    return frozenset(text) - _BLANK
