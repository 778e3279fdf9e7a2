"""How many characters each of many texts shares with one, for all of them at once.

For every character there is one long integer with a bit per text. Adding those of a query's characters, bit plane by
bit plane, counts for ten thousand texts in some thirty operations what comparing set by set takes ten thousand for.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from math import ceil

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
        self._known_lengths: dict[tuple[int, float, int], dict[int, int]] = {}
        self._latest: tuple[str, int, Shared] = "", 0, Shared(())

    def near(self, text: str, threshold: float, limit: int, known: Iterable[int] = ()) -> list[tuple[int, float]]:
        """Index and Jaccard index of the best ``limit`` texts that reach ``threshold`` (above 0), best first; none if
        nothing but what is ``known`` can.
        """
        size, shared = self._shared(text)
        fitting = self._fitting(_least_overlaps(size, threshold), shared, known)
        near: list[tuple[int, float]] = []
        for score, its_size, count in _scores(size, fitting, shared.most):
            if found := fitting[its_size][1] & shared.exactly(count):
                near += [(index, score) for index in islice(positions(found), limit - len(near))]
                if len(near) == limit:
                    break
        return near

    def _fitting(self, least: Mapping[int, int], shared: Shared, known: Iterable[int]) -> dict[int, tuple[int, int]]:
        """By size of their sets the ``least`` overlap that is enough and the texts that have it."""
        enough = min(least.values(), default=shared.most + 1)
        possible = shared.at_least(enough)
        found: dict[int, tuple[int, int]] = {}
        for its_size, overlap in least.items() if without(possible, known) else ():
            having = self._sizes.get(its_size)
            if having and (fitting := possible & having & shared.at_least(overlap)):
                found[its_size] = overlap, fitting
        return found

    def holding(self, text: str) -> Iterable[int]:
        """The texts that have all of ``text``'s characters, in order; ``text`` must have some."""
        size, shared = self._shared(text)
        return positions(shared.at_least(size))

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


@lru_cache(maxsize=256)
def _least_overlaps(size: int, threshold: float) -> dict[int, int]:
    """By the sizes of sets that can reach a Jaccard index the smallest overlap that is enough."""
    sizes = range(max(1, ceil(size * threshold - _SLACK)), int(size / threshold + _SLACK) + 1)
    overlaps = ((its_size, _overlap(size, its_size, threshold)) for its_size in sizes)
    return {its_size: overlap for its_size, overlap in overlaps if overlap <= min(size, its_size)}


def _scores(size: int, fitting: Mapping[int, tuple[int, int]], most: int) -> list[tuple[float, int, int]]:
    """Every score that is enough, with the size and the overlap that make it, best first."""
    return sorted(
        [
            (count / (size + its_size - count), its_size, count)
            for its_size, (least, _) in fitting.items()
            for count in range(least, min(size, its_size, most) + 1)
        ],
        reverse=True,
    )


def _overlap(size: int, its_size: int, threshold: float) -> int:
    """The smallest overlap with which two sets reach a Jaccard index."""
    return max(1, ceil(threshold / (1 + threshold) * (size + its_size) - _SLACK))


def characters(text: str) -> frozenset[str]:
    """The set of characters of a normalised text; a Chinese character is one."""
    return frozenset(text) - _BLANK
