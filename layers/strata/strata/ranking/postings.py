"""Okapi BM25 over numbered slots: an inverted index that is exact after any mix of adds and removals.

A collection is written all the time, so adding costs microseconds and nothing is ever rebuilt. Scoring takes its
statistics as an argument: several indexes searched together share theirs, which makes their scores comparable.
"""

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from numpy.typing import NDArray

SATURATION = 1.2
"""BM25's k1: how fast repeats in a document stop counting."""
LENGTH_NORM = 0.75
"""BM25's b: how much a long document is held back."""
HALF = 0.5
"""Keeps the rarity of a term that no document, or every document, has finite."""
QUERY_REPEATS = 2
"""Repeats of a word in the query that count (a long message names its topic more than once)."""


Lengths = TypeVar("Lengths", float, "NDArray[Any]")
"""A number, or an array of them."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 knows of all documents searched together."""

    documents: int
    mean_length: float
    frequencies: Mapping[str, int]

    def rarity(self, term: str) -> float:
        """Return the inverse document frequency; terms that occur nowhere are the rarest."""
        return math.log((self.documents + 1) / (self.frequencies.get(term, 0) + HALF))

    def norms(self, lengths: Lengths) -> Lengths:
        """Return BM25's length-dependent part for one length or an array of them."""
        return SATURATION * (1 - LENGTH_NORM) + (SATURATION * LENGTH_NORM / self.mean_length) * lengths

    def saturated(self, counts: Lengths, norms: Lengths) -> Lengths:
        """Return how much repeats of a term count, for one document or an array of them; at most k1 + 1."""
        counted: Lengths = counts * (SATURATION + 1) / (counts + norms)
        return counted


class Posting:
    """Where one term occurs: slots in rising order, with counts; and how common that makes it."""

    __slots__ = ("commonness", "counts", "slots", "term")

    def __init__(self, term: str) -> None:
        self.term = term
        self.slots = array("I")
        self.counts = array("I")
        self.commonness = 0.0
        """Logarithm of the document frequency, which is read far more often than it changes."""

    def put(self, slot: int, count: int) -> None:
        """Enter a slot in its place."""
        at = bisect_left(self.slots, slot)
        self.slots.insert(at, slot)
        self.counts.insert(at, count)
        self.commonness = math.log(len(self.slots) + HALF)

    def drop(self, slot: int) -> None:
        """Take a slot out."""
        at = bisect_left(self.slots, slot)
        del self.slots[at]
        del self.counts[at]
        self.commonness = math.log(len(self.slots) + HALF)


class Postings:
    """The terms of the documents in numbered slots. Not locked; the owner serialises."""

    def __init__(self) -> None:
        self._postings: dict[str, Posting] = {}
        self._documents: dict[int, tuple[Posting, ...]] = {}
        self._terms: dict[int, frozenset[str]] = {}
        """Of those documents that were asked about."""
        self._lengths = array("I")
        self.total_length = 0

    def __len__(self) -> int:
        return len(self._documents)

    @property
    def lengths(self) -> "array[int]":
        """Terms per slot, repeats included; 0 for a free slot."""
        return self._lengths

    def add(self, slot: int, terms: Sequence[str]) -> None:
        """Enter a document into a free slot."""
        counts = Counter(terms)
        self._documents[slot] = tuple(map(self._posting_of, counts))
        self._set_length(slot, len(terms))
        for posting, count in zip(self._documents[slot], counts.values(), strict=True):
            posting.put(slot, count)

    def remove(self, slot: int) -> None:
        """Free a slot."""
        self._terms.pop(slot, None)
        for posting in self._documents.pop(slot):
            posting.drop(slot)
            if not posting.slots:
                del self._postings[posting.term]
        self._set_length(slot, 0)

    def terms_of(self, slot: int) -> frozenset[str]:
        """Return the terms of a document."""
        known = self._terms.get(slot)
        if known is None:
            known = self._terms[slot] = frozenset([posting.term for posting in self._documents[slot]])
        return known

    def posting(self, term: str) -> Posting | None:
        """Return where a term occurs."""
        return self._postings.get(term)

    def frequency(self, term: str) -> int:
        """Return in how many documents a term occurs."""
        posting = self._postings.get(term)
        return len(posting.slots) if posting else 0

    def rarity_of(self, slot: int) -> float:
        """Return the rarities of a document's terms together, within this index."""
        terms = self._documents[slot]
        return len(terms) * math.log(len(self._documents) + 1) - sum([posting.commonness for posting in terms])

    def scores(self, query: Mapping[str, float], statistics: Statistics) -> dict[int, float]:
        """Return the score of every slot that shares a term with the weighted query; works without numpy."""
        found: dict[int, float] = {}
        for term, weight in query.items():
            for slot, count in self._occurrences(term):
                norm = statistics.norms(float(self._lengths[slot]))
                found[slot] = found.get(slot, 0.0) + weight * statistics.saturated(float(count), norm)
        return found

    def _posting_of(self, term: str) -> Posting:
        posting = self._postings.get(term)
        if posting is None:
            posting = self._postings[term] = Posting(term)
        return posting

    def _occurrences(self, term: str) -> Iterator[tuple[int, int]]:
        posting = self._postings.get(term)
        return zip(posting.slots, posting.counts, strict=True) if posting else iter(())

    def _set_length(self, slot: int, length: int) -> None:
        if slot >= len(self._lengths):
            self._lengths.extend([0] * (slot + 1 - len(self._lengths)))
        self.total_length += length - self._lengths[slot]
        self._lengths[slot] = length


def statistics_of(indexes: Iterable[Postings], terms: Iterable[str]) -> Statistics:
    """Add up the statistics of indexes that are searched together, for the terms of one query."""
    parts = list(indexes)
    documents = sum(len(part) for part in parts)
    return Statistics(
        documents=documents,
        mean_length=max(1.0, sum(part.total_length for part in parts) / max(1, documents)),
        frequencies={term: sum(part.frequency(term) for part in parts) for term in set(terms)},
    )


def weighted_query(terms: Sequence[str], statistics: Statistics) -> dict[str, float]:
    """Return each query term's weight: rarity times its repeats, as far as those count."""
    return {term: min(count, QUERY_REPEATS) * statistics.rarity(term) for term, count in Counter(terms).items()}


def best_score(query: Mapping[str, float]) -> float:
    """Return the score of a document of mean length that has every query term once."""
    return sum(query.values()) or 1.0
