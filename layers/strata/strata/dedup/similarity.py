"""Which stored texts are worth a look: similarity proposes, the guard (``guard.decide``) disposes.

Exact, contained, sharing most characters, few edits apart, or about the same thing. No measure here may merge
anything: 不吃香菜 / 不吃芹菜 passes every character measure there is.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from operator import itemgetter
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


Scored = tuple[int, float]
"""A place and its score."""
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
        self._places: dict[str, tuple[int, ...]] = {}
        for index, text in enumerate(self.texts):
            if text:
                self._places[text] = (*self._places.get(text, ()), index)
        self._lengths = _lengths(self._places)
        self._characters = CharacterIndex(self.texts)

    def exact(self, text: str) -> list[Scored]:
        """The texts equal to normalised ``text``."""
        return [(index, 1.0) for index in self._places.get(text, ())]

    def containing(self, text: str, limit: int) -> list[Scored]:
        """The first ``limit`` texts that contain ``text``, scored by how much of them it is."""
        if len(text) < _LEAST_CONTAINED:
            return []
        found = (index for index in self._characters.holding(text) if text in self.texts[index])
        return [(index, len(text) / len(self.texts[index])) for index in islice(found, limit)]

    def contained(self, text: str) -> list[Scored]:
        """The texts that ``text`` contains."""
        size, known, found = len(text), self._lengths, []
        beginnings = [text[start : start + _LEAST_CONTAINED] for start in range(size - _LEAST_CONTAINED + 1)]
        for start, beginning in enumerate(beginnings):
            for length in known.get(beginning, ()):
                part = text[start : start + length]
                if len(part) == length < size and part in self._places:
                    found += [(index, length / size) for index in self._places[part]]
        return found

    def sharing_characters(self, text: str, threshold: float, limit: int, known: Iterable[int] = ()) -> list[Scored]:
        """The texts whose sets of characters overlap most; none if they are all ``known`` already."""
        return self._characters.near(text, threshold, limit, known)

    def few_edits_away(
        self, text: str, threshold: float, longest: int, limit: int, known: Iterable[int] = ()
    ) -> list[Scored]:
        """The texts of at most ``longest`` characters that differ in few; those ``known`` already are left out."""
        places = list(self._characters.few_edits_away(text, threshold, longest, known))
        if not places:
            return []
        strings = [self.texts[place] for place in places]
        scorer = Levenshtein.normalized_similarity
        near = process.extract(text, strings, scorer=scorer, score_cutoff=threshold, limit=limit)
        return [(places[found], score) for _, score, found in near]

    def about_the_same(self, raw: str, threshold: float, limit: int) -> list[Scored]:
        """The texts that are about most of what ``raw`` is about."""
        return self.topics.near(raw, threshold, limit) if self.topics else []


def propose(
    new: str, stored: Sequence[str] | Profiles, *, limit: int = 20, thresholds: Thresholds = _DEFAULTS
) -> list[Proposal]:
    """At most ``limit`` stored texts worth comparing with ``new``: by signal, then by score, each text once."""
    profiles = stored if isinstance(stored, Profiles) else Profiles(stored)
    text = normalise(new)
    if not text:
        return []
    best: dict[int, Proposal] = {}
    for signal, found in _signals(new, text, profiles, limit, thresholds, best):
        for place, score in _ranked(found):
            if place not in best:
                best[place] = Proposal(place, signal, score)
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
    raw: str, text: str, profiles: Profiles, limit: int, thresholds: Thresholds, best: Mapping[int, Proposal]
) -> Iterator[tuple[Signal, list[Scored]]]:
    """What each signal proposes, the strongest first; ``best`` is what those before it have proposed."""
    yield Signal.EXACT, profiles.exact(text)
    yield Signal.CONTAINS, profiles.containing(text, limit) + profiles.contained(text)
    yield Signal.CHARACTERS, profiles.sharing_characters(text, thresholds.characters, limit, best)
    if len(text) <= thresholds.short:
        yield Signal.EDITS, profiles.few_edits_away(text, thresholds.edits, thresholds.short, limit, best)
    yield Signal.TOPIC, profiles.about_the_same(raw, thresholds.topic, limit)


def _ranked(found: list[Scored]) -> list[Scored]:
    """The best first, of equals the one stored first."""
    if len(found) > 1:
        found.sort(key=_PLACE)
        found.sort(key=_SCORE, reverse=True)
    return found


_PLACE, _SCORE = itemgetter(0), itemgetter(1)


def _lengths(texts: Iterable[str]) -> dict[str, list[int]]:
    """By how a text begins the lengths of those that do: where in another one of them may stand."""
    found: defaultdict[str, set[int]] = defaultdict(set)
    for text in texts:
        if len(text) >= _LEAST_CONTAINED:
            found[text[:_LEAST_CONTAINED]].add(len(text))
    return {start: sorted(lengths) for start, lengths in found.items()}
