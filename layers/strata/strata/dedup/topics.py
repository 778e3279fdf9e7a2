"""What texts are about, by concept: finds 搬到杭州 for 住在上海, which share not one character."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import fsum, log

from strata.dedup.oppositions import oppositions
from strata.dedup.reading import read

_MOST_COMMON = 250
"""A concept in more texts than this tells nothing apart."""
_FEW = 8
"""Places looked through one by one."""
_DIGITS = 9
"""To which a score is told: what shares as much is as near, in whatever order it was weighed."""
_SLACK = 1e-9


class Topics:
    """The concepts of a collection of texts, each with the places it occurs in."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Read every text once."""
        concepts = [topic_of(text) for text in texts]
        counts = Counter(concept for each in concepts for concept in each)
        self._weights = {concept: log(1 + len(texts) / count) for concept, count in counts.items()}
        self._unseen = log(1 + len(texts))
        self._total = [self._weight(each) for each in concepts]
        places: defaultdict[str, list[int]] = defaultdict(list)
        for index in sorted(range(len(texts)), key=self._total.__getitem__):
            for concept in concepts[index]:
                if counts[concept] <= _MOST_COMMON:
                    places[concept].append(index)
        self._places = {concept: tuple(found) for concept, found in places.items()}
        self._members = {concept: frozenset(found) for concept, found in self._places.items() if len(found) > _FEW}

    def near(self, text: str, threshold: float, limit: int) -> list[tuple[int, float]]:
        """Index and score of the ``limit`` texts that share most: the weight shared, of the lighter one's weight.

        Two texts about one property of one value (home, job, alarm) are near whatever else they say.
        """
        topic = topic_of(text)
        total = self._weight(topic)
        shared = self._shared(self._telling(topic, threshold * total), total, threshold)
        scored = ((round(weight / min(total, self._total[index]), _DIGITS), index) for index, weight in shared.items())
        near = sorted([each for each in scored if each[0] >= threshold - _SLACK], reverse=True)
        return [(index, min(1.0, score)) for score, index in near[:limit]]

    def _telling(self, topic: frozenset[str], of_one_value: float) -> list[tuple[float, str]]:
        """What concepts of ``topic`` weigh, the lightest first, those left out that are everywhere or nowhere."""
        topics = oppositions().topics
        return sorted(
            (max(self._weights[concept], of_one_value if concept in topics else 0.0), concept)
            for concept in topic
            if concept in self._places
        )

    def _shared(self, telling: Sequence[tuple[float, str]], total: float, threshold: float) -> dict[int, float]:
        """What the texts share that may share enough, by place.

        The heaviest concept first: a text that has none heavier shares at most this one and all that are lighter.
        """
        most = list(accumulate(weight for weight, _ in telling))
        found: dict[int, float] = {}
        for (weight, concept), within_reach in zip(reversed(telling), reversed(most), strict=True):
            for index in self._with(concept, found) if found else ():
                found[index] += weight
            for index in self._no_heavier(concept, total, within_reach / threshold + _SLACK):
                found.setdefault(index, weight)
        return found

    def _with(self, concept: str, found: Mapping[int, float]) -> Iterable[int]:
        """Those of ``found`` that have a concept."""
        members = self._members.get(concept)
        if members is None:
            return [index for index in self._places[concept] if index in found]
        return members.intersection(found)

    def _no_heavier(self, concept: str, total: float, enough: float) -> Iterable[int]:
        """The texts with a concept that weigh at most ``enough`` themselves; all if the other text does."""
        places = self._places[concept]
        if total <= enough:
            return places
        if self._total[places[0]] > enough:
            return ()
        return places[: bisect_right(places, enough, key=self._total.__getitem__)]

    def _weight(self, concepts: frozenset[str]) -> float:
        return fsum([self._weights.get(concept, self._unseen) for concept in concepts]) or 1.0


def topic_of(text: str) -> frozenset[str]:
    """The concepts ``text`` is about, without stance, time and amount."""
    return _NONE.union(*[clause.content for clause in read(text).clauses])


_NONE: frozenset[str] = frozenset()
