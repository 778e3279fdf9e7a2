"""Which stored texts are worth a look: similarity proposes, the guard (``guard.decide``) disposes.

Exact, contained, sharing most characters, few edits apart, or about the same thing. No measure here may merge
anything: 不吃香菜 / 不吃芹菜 passes every character measure there is.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from strata.dedup.characters import CharacterIndex
from strata.dedup.fingerprint import normalise
from strata.dedup.topics import Topics


class Signal(StrEnum):
    """What two texts have in common, the stronger first."""

    EXACT = "exact"
    CONTAINS = "contains"
    CHARACTERS = "characters"
    EDITS = "edits"
    TOPIC = "topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """From where a pair is worth a look."""

    characters: float = 0.7
    """Jaccard index of the sets of characters; a Chinese character is a character."""
    edits: float = 0.8
    """Levenshtein similarity, on short texts only."""
    short: int = 30
    """Characters up to which a text is short."""
    topic: float = 0.5
    """Share of the weight of what the poorer text is about."""


class Proposal(NamedTuple):
    """One stored text to look at. A tuple, because thousands are made for a batch."""

    place: int
    """Where it stands among the stored texts."""
    signal: Signal
    score: float
    """In [0, 1], on the scale of its signal."""


_DEFAULTS = Thresholds()
_LEAST_CONTAINED = 3
"""Characters; a shorter text is contained in half of all others."""


class Profiles:
    """Stored texts prepared for comparison, once for many candidates.

    ``topics`` also reads what each text is about (some 100 µs a text): it finds paraphrases and contradictions that
    share no spelling.
    """

    def __init__(self, texts: Sequence[str], *, topics: bool = True) -> None:
        """Normalise ``texts`` and sort them by length."""
        self.texts = [normalise(text) for text in texts]
        self.topics = Topics(texts) if topics else None
        self._places: dict[str, list[int]] = {}
        for index, text in enumerate(self.texts):
            if text:
                self._places.setdefault(text, []).append(index)
        self._lengths = sorted({len(text) for text in self._places})
        self._characters = CharacterIndex(self.texts)

    def exact(self, text: str) -> Iterator[Proposal]:
        """The texts equal to normalised ``text``."""
        for index in self._places.get(text, ()):
            yield Proposal(index, Signal.EXACT, 1.0)

    def containing(self, text: str, limit: int) -> Iterator[Proposal]:
        """The first ``limit`` texts that contain ``text``, scored by how much of them it is."""
        if len(text) < _LEAST_CONTAINED:
            return
        found = (index for index in self._characters.holding(text) if text in self.texts[index])
        for index in islice(found, limit):
            yield Proposal(index, Signal.CONTAINS, len(text) / len(self.texts[index]))

    def contained(self, text: str) -> Iterator[Proposal]:
        """The texts that ``text`` contains."""
        size = len(text)
        lengths = self._lengths[bisect_left(self._lengths, _LEAST_CONTAINED) : bisect_left(self._lengths, size)]
        for length in lengths:
            for start in range(size - length + 1):
                for index in self._places.get(text[start : start + length], ()):
                    yield Proposal(index, Signal.CONTAINS, length / size)

    def sharing_characters(self, text: str, threshold: float, limit: int) -> list[Proposal]:
        """The texts whose sets of characters overlap most."""
        found = self._characters.near(text, threshold, limit)
        return [Proposal(index, Signal.CHARACTERS, score) for index, score in found]

    def few_edits_away(self, text: str, threshold: float, longest: int, limit: int) -> Iterator[Proposal]:
        """The texts of at most ``longest`` characters that differ in few."""
        places = list(self._characters.few_edits_away(text, threshold, longest))
        strings = [self.texts[place] for place in places]
        scorer = Levenshtein.normalized_similarity
        for _, score, found in process.extract(text, strings, scorer=scorer, score_cutoff=threshold, limit=limit):
            yield Proposal(places[found], Signal.EDITS, score)

    def about_the_same(self, raw: str, threshold: float, limit: int) -> Iterator[Proposal]:
        """The texts that are about most of what ``raw`` is about."""
        for index, score in self.topics.near(raw, threshold, limit) if self.topics else ():
            yield Proposal(index, Signal.TOPIC, score)


def propose(
    new: str, stored: Sequence[str] | Profiles, *, limit: int = 20, thresholds: Thresholds = _DEFAULTS
) -> list[Proposal]:
    """At most ``limit`` stored texts worth comparing with ``new``: by signal, then by score, each text once."""
    profiles = stored if isinstance(stored, Profiles) else Profiles(stored)
    text = normalise(new)
    if not text:
        return []
    best: dict[int, Proposal] = {}
    for found in _signals(new, text, profiles, limit, thresholds):
        for proposal in sorted(found, key=_rank):
            best.setdefault(proposal.place, proposal)
        if len(best) >= limit:
            break  # a weaker signal takes no place of a stronger one
    return list(best.values())[:limit]


def propose_batch(
    new: Sequence[str], stored: Sequence[str] | Profiles, *, limit: int = 20, thresholds: Thresholds = _DEFAULTS
) -> list[list[Proposal]]:
    """``propose`` for many candidates; the stored texts are prepared once."""
    profiles = stored if isinstance(stored, Profiles) else Profiles(stored)
    return [propose(text, profiles, limit=limit, thresholds=thresholds) for text in new]


def _signals(
    raw: str, text: str, profiles: Profiles, limit: int, thresholds: Thresholds
) -> Iterator[Iterable[Proposal]]:
    """What each signal proposes, the strongest first."""
    yield profiles.exact(text)
    yield chain(profiles.containing(text, limit), profiles.contained(text))
    yield profiles.sharing_characters(text, thresholds.characters, limit)
    if len(text) <= thresholds.short:
        yield profiles.few_edits_away(text, thresholds.edits, thresholds.short, limit)
    yield profiles.about_the_same(raw, thresholds.topic, limit)


def _rank(proposal: Proposal) -> tuple[float, int]:
    return -proposal.score, proposal.place
