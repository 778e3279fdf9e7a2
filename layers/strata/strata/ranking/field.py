"""Shelves searched together as one: their rows numbered through, their features joined. Needs numpy."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from strata.ranking.columns import Array
from strata.ranking.query import Query
from strata.ranking.shelf import NOBODY, Shelf

_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Field:
    """The rows of several shelves in a row."""

    shelves: Sequence[Shelf]
    offsets: Sequence[int]
    size: int

    @classmethod
    def of(cls, shelves: Sequence[Shelf]) -> "Field":
        """Number the rows of the shelves that have any through."""
        filled = [shelf for shelf in shelves if len(shelf)]
        offsets, size = [], 0
        for shelf in filled:
            offsets.append(size)
            size += shelf.size
        return cls(filled, offsets, size)

    def places(self) -> Iterator[tuple[Shelf, int]]:
        """Return each shelf with the row of its first slot."""
        return zip(self.shelves, self.offsets, strict=True)

    def locate(self, row: int) -> tuple[Shelf, int]:
        """Return the shelf and slot of a row."""
        index = bisect_right(self.offsets, row) - 1
        return self.shelves[index], row - self.offsets[index]

    def column(self, name: str) -> Array:
        """Return a feature of every row."""
        return joined([shelf.column(name) for shelf in self.shelves])

    def links(self, name: str) -> Array:
        """Return a column of slots as rows; −1 = none."""
        return joined([_raised(shelf.column(name), at) for shelf, at in self.places()])

    def sessions(self) -> tuple[Array, int]:
        """Return each row's session as a number (−1 = none), and how many there are."""
        parts, known = [], 0
        for shelf in self.shelves:
            parts.append(_raised(shelf.column("session"), known))
            known += len(shelf.sessions.numbers)
        return joined(parts), known

    def lengths(self) -> Array:
        """Return the number of terms of every row."""
        return joined([lengths_of(shelf) for shelf in self.shelves])

    def candidates(self, query: Query) -> Array:
        """Return which rows may be found at all: in use, not expired, with every tag, not closed to the reader."""
        allowed: Array = self.column("live") & (self.column("expires") > query.now)
        for shelf, at in self.places():
            closed = shelf.slots_closed_to(query.reader)
            if closed:
                allowed[np.array(closed) + at] = False
        return allowed & self._tagged(query) if query.tags else allowed

    def occurrences(self, term: str) -> tuple[Array, Array]:
        """Return the rows that hold a term, and how often each does."""
        rows, counts = [_NONE], [_NONE]
        for shelf, at in self.places():
            posting = shelf.postings.posting(term)
            if posting is not None:
                rows.append(np.array(posting.slots, dtype=np.int64) + at)
                counts.append(np.array(posting.counts, dtype=np.int64))
        return joined(rows[1:] or rows), joined(counts[1:] or counts)

    def _tagged(self, query: Query) -> Array:
        tagged = np.zeros(self.size, dtype=bool)
        for shelf, at in self.places():
            slots = shelf.slots_with(query.tags) or set()
            tagged[np.fromiter(slots, dtype=np.int64, count=len(slots)) + at] = True
        return tagged


def joined(parts: Sequence[Array]) -> Array:
    """Return arrays one behind the other; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def shifted(values: Array, links: Array) -> Array:
    """Return the value of the row that each row links to; 0 where there is none."""
    found: Array = np.append(values, 0.0)[links]
    return found


def _raised(column: Array, by: int) -> Array:
    return column if by == 0 else np.where(column == NOBODY, NOBODY, column + by)


def lengths_of(shelf: Shelf) -> Array:
    """Return the number of terms of every slot."""
    known = np.array(shelf.postings.lengths, dtype=np.float64)
    return known if len(known) == shelf.size else np.append(known, np.zeros(shelf.size - len(known)))
