"""Sets of places as long integers with a bit per place: what is asked of ten thousand places is one operation."""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

_Key = TypeVar("_Key", bound=Hashable)

_FEW_BITS = 8
_NOT_EMPTY = re.compile(rb"[^\0]")
_BITS = tuple(tuple(bit for bit in range(8) if octet >> bit & 1) for octet in range(256))
"""By octet the places of its bits."""


class Shared:
    """How many of some bit sets every position is in."""

    def __init__(self, bitsets: Sequence[int]) -> None:
        """Count by adding one-bit numbers in parallel."""
        self._planes = _counted(bitsets)
        self.most = self._most()
        """The number of sets that some position is in, and none is in more."""
        self._known: dict[int, int] = {}
        self._exactly: dict[int, int] = {}

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


def _counted(bitsets: Sequence[int]) -> list[int]:
    """By weight the bit planes of how many of ``bitsets`` every position is in, the lightest first.

    Three bits of one weight are one of that weight and one of the next: five operations take one number away, where
    adding the numbers one by one takes two for each plane they carry through.
    """
    planes: list[int] = []
    same = list(bitsets)
    while same:
        heavier: list[int] = []
        while len(same) > 2:  # noqa: PLR2004 (three bits become two)
            rest = same[len(same) // 3 * 3 :]
            for one, other, third in zip(same[::3], same[1::3], same[2::3], strict=False):
                odd = one ^ other
                rest.append(odd ^ third)
                heavier.append(one & other | odd & third)
            same = rest
        if len(same) > 1:
            heavier.append(same[0] & same[1])
            same[0] ^= same[1]
        planes.append(same[0])
        same = heavier
    while planes and not planes[-1]:
        planes.pop()
    return planes


def positions(bitset: int) -> Iterable[int]:
    """The places of the bits that are set, in order: few one by one, many octet by octet."""
    found: list[int] = []
    rest = bitset
    while rest:
        if len(found) == _FEW_BITS:
            return _by_octets(bitset)
        found.append(rest.bit_length() - 1)
        rest ^= 1 << found[-1]
    return reversed(found)


def _by_octets(bitset: int) -> Iterator[int]:
    octets = bitset.to_bytes((bitset.bit_length() + 7) >> 3, "little")
    for match in _NOT_EMPTY.finditer(octets):
        start = match.start()
        for bit in _BITS[octets[start]]:
            yield start * 8 + bit


def bitsets(keys: Mapping[int, Iterable[_Key]]) -> dict[_Key, int]:
    """For each key the positions that have it."""
    width = (max(keys, default=0) >> 3) + 1
    found: defaultdict[_Key, bytearray] = defaultdict(lambda: bytearray(width))
    for index, each in keys.items():
        for key in each:
            found[key][index >> 3] |= 1 << (index & 7)
    return {key: int.from_bytes(bits, "little") for key, bits in found.items()}


def without(bitset: int, known: Iterable[int]) -> int:
    """``bitset`` without the places ``known``."""
    for index in known if bitset else ():
        if bitset >> index & 1:
            bitset ^= 1 << index
    return bitset
