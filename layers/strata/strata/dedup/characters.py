"""How many characters each of many texts shares with one, for all of them at once.

For every character there is one long integer with a bit per text. Adding those of a query's characters, bit plane by
bit plane, counts for ten thousand texts in some thirty operations what comparing set by set takes ten thousand for.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import ceil
from typing import TypeVar

Scores = list[tuple[float, int, int]]
_Key = TypeVar("_Key", bound=Hashable)

_FEW_BITS = 8
_NOT_EMPTY = re.compile(rb"[^\0]")
_BITS = tuple(tuple(bit for bit in range(8) if octet >> bit & 1) for octet in range(256))
"""By octet the places of its bits."""
_BLANK = frozenset(" ,?")
_SLACK = 1e-9
"""So that 0.7 of ten is seven."""


class CharacterIndex:
    """The character sets of normalised texts; blanks and stops are no characters, an empty set is like nothing."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Index ``texts``, some 15 µs each."""
        self._sets = [characters(text) for text in texts]
        self._members = _bitsets(dict(enumerate(self._sets)))
        self._sizes = _bitsets({index: (len(each),) for index, each in enumerate(self._sets) if each})
        self._lengths = _bitsets({index: (len(text),) for index, text in enumerate(texts) if text})
        self._known_smaller: dict[int, int] = {}
        self._known_scores: dict[tuple[int, float], Scores] = {}
        self._latest: tuple[str, int, Shared] = "", 0, Shared(())

    def near(self, text: str, threshold: float, limit: int) -> list[tuple[int, float]]:
        """Index and Jaccard index of the best ``limit`` texts that reach ``threshold`` (above 0), best first."""
        size, shared = self._shared(text)
        near: list[tuple[int, float]] = []
        for score, its_size, count in self._scores(size, threshold):
            if count > shared.most:
                continue
            found = self._sizes[its_size] & shared.exactly(count)
            if found:
                near += [(index, score) for index in islice(positions(found), limit - len(near))]
                if len(near) == limit:
                    break
        return near

    def holding(self, text: str) -> Iterator[int]:
        """The texts that have all of ``text``'s characters, in order; ``text`` must have some."""
        size, shared = self._shared(text)
        return positions(shared.at_least(size))

    def _scores(self, size: int, threshold: float) -> Scores:
        """Every score a set of ``size`` can have, with the size and the overlap that make it, best first."""
        known = self._known_scores.get((size, threshold))
        if known is None:
            known = self._known_scores[size, threshold] = sorted(
                (
                    (count / (size + its_size - count), its_size, count)
                    for its_size in self._sizes
                    for count in range(_overlap(size, its_size, threshold), min(size, its_size) + 1)
                ),
                reverse=True,
            )
        return known

    def few_edits_away(self, text: str, similarity: float, longest: int) -> Iterator[int]:
        """The texts of at most ``longest`` characters that may be edited into ``text``: each edit puts one character
        in the place of one, so that only as many of either set may be without counterpart in the other.
        """
        (size, shared), length = self._shared(text), len(text)
        fitting: defaultdict[int, int] = defaultdict(int)
        for its_length in range(max(1, ceil(length * similarity - _SLACK)), min(longest, int(length / similarity)) + 1):
            edits = int(max(length, its_length) * (1 - similarity) + _SLACK)
            fitting[edits] |= self._lengths.get(its_length, 0)
        found = 0
        for edits, texts in fitting.items():
            if texts := texts & shared.at_least(max(1, size - edits)):
                found |= texts & self._few_missing(shared, size, edits)
        return positions(found)

    def _few_missing(self, shared: "Shared", size: int, edits: int) -> int:
        """The texts of whose characters at most ``edits`` are not shared, among those with enough of ``size``."""
        found = self._no_larger(size)
        for its_size in range(size + 1, size + edits + 1):
            found |= self._sizes.get(its_size, 0) & shared.at_least(max(1, its_size - edits))
        return found

    def _no_larger(self, size: int) -> int:
        known = self._known_smaller.get(size)
        if known is None:
            known = 0
            for its_size, having in self._sizes.items():
                known |= having if its_size <= size else 0
            self._known_smaller[size] = known
        return known

    def _shared(self, text: str) -> tuple[int, "Shared"]:
        """The size of a text's set and who shares it, kept for the signals that ask one after the other."""
        latest, size, shared = self._latest
        if latest != text:
            own = characters(text)
            size, shared = len(own), Shared([self._members[each] for each in own if each in self._members])
            self._latest = text, size, shared
        return size, shared


def _overlap(size: int, its_size: int, threshold: float) -> int:
    """The smallest overlap with which two sets reach a Jaccard index."""
    return max(1, ceil(threshold / (1 + threshold) * (size + its_size) - _SLACK))


class Shared:
    """How many of some bit sets every position is in."""

    def __init__(self, bitsets: Sequence[int]) -> None:
        """Count by adding one-bit numbers in parallel."""
        self._planes: list[int] = []
        for carry in bitsets:
            self._add(carry)
        self.most = self._most()
        """The number of sets that some position is in, and none is in more."""
        self._known: dict[int, int] = {}
        self._exactly: dict[int, int] = {}

    def _add(self, carry: int) -> None:
        for weight, plane in enumerate(self._planes):
            self._planes[weight], carry = plane ^ carry, plane & carry
            if not carry:
                return
        self._planes.append(carry)

    def _most(self) -> int:
        """Keep from the heaviest bit plane down the positions that none exceeds."""
        if not self._planes:
            return 0
        largest = self._planes[-1]
        most = 1 << len(self._planes) - 1
        for weight in reversed(range(len(self._planes) - 1)):
            if both := largest & self._planes[weight]:
                largest = both
                most += 1 << weight
        return most

    def at_least(self, least: int) -> int:
        """The positions that are in ``least`` sets or more (``least`` above 0)."""
        known = self._known.get(least)
        if known is None:
            known = self._known[least] = self._compared(least)
        return known

    def exactly(self, count: int) -> int:
        """The positions that are in ``count`` sets (above 0)."""
        known = self._exactly.get(count)
        if known is None:
            known = self._exactly[count] = self.at_least(count) ^ self.at_least(count + 1)
        return known

    def _compared(self, least: int) -> int:
        """Compare every position's count with a constant, from the heaviest bit plane down."""
        if least > self.most:
            return 0
        more, equal = 0, -1
        for weight in reversed(range(len(self._planes))):
            both = equal & self._planes[weight]
            if least >> weight & 1:
                equal = both
            else:
                more |= both
                equal ^= both
        return more | equal


def characters(text: str) -> frozenset[str]:
    """The set of characters of a normalised text; a Chinese character is one."""
    return frozenset(text) - _BLANK


def positions(bitset: int) -> Iterator[int]:
    """The places of the bits that are set, in order: few one by one, many octet by octet."""
    if bitset.bit_count() <= _FEW_BITS:
        while bitset:
            lowest = bitset & -bitset
            yield lowest.bit_length() - 1
            bitset ^= lowest
        return
    octets = bitset.to_bytes((bitset.bit_length() + 7) >> 3, "little")
    for match in _NOT_EMPTY.finditer(octets):
        start = match.start()
        for bit in _BITS[octets[start]]:
            yield start * 8 + bit


def _bitsets(keys: Mapping[int, Iterable[_Key]]) -> dict[_Key, int]:
    """For each key the positions that have it."""
    width = (max(keys, default=0) >> 3) + 1
    found: defaultdict[_Key, bytearray] = defaultdict(lambda: bytearray(width))
    for index, each in keys.items():
        for key in each:
            found[key][index >> 3] |= 1 << (index & 7)
    return {key: int.from_bytes(bits, "little") for key, bits in found.items()}
