"""What texts are about, by concept: finds 搬到杭州 for 住在上海, which share not one character."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import log

from strata.dedup.oppositions import oppositions
from strata.dedup.reading import read

_MOST_COMMON = 250
"""A concept in more texts than this tells nothing apart."""
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
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for index in sorted(range(len(texts)), key=self._total.__getitem__):
            for concept in concepts[index]:
                if counts[concept] <= _MOST_COMMON:
                    self._places[concept].append(index)
        self._members = {concept: frozenset(places) for concept, places in self._places.items()}

    def near(self, text: str, threshold: float, limit: int) -> Iterator[tuple[int, float]]:
        """Index and score of the ``limit`` texts that share most: the weight shared, of the lighter one's weight.

        Two texts about one property of one value (home, job, alarm) are near whatever else they say.
        """
        topic = topic_of(text)
        total = self._weight(topic)
        telling = self._telling(topic, threshold * total)
        near = []
        for index in self._candidates(telling, total, threshold):
            weight = 0.0
            for concept, its_weight in telling.items():
                if index in self._members[concept]:
                    weight += its_weight
            score = weight / min(total, self._total[index])
            if score >= threshold:
                near.append((score, index))
        for score, index in sorted(near, reverse=True)[:limit]:
            yield index, min(1.0, score)

    def _telling(self, topic: frozenset[str], of_one_value: float) -> dict[str, float]:
        """What concepts of ``topic`` weigh, those left out that are everywhere or nowhere."""
        topics = oppositions().topics
        return {
            concept: max(self._weights[concept], of_one_value if concept in topics else 0.0)
            for concept in topic
            if concept in self._places
        }

    def _candidates(self, telling: Mapping[str, float], total: float, threshold: float) -> set[int]:
        """The texts with a concept of ``telling``; of those that share only the lightest the ones that weigh so little
        themselves that it may be enough.
        """
        lightest = min(telling, key=telling.__getitem__, default="")
        found = set().union(*(self._members[concept] for concept in telling if concept != lightest))
        if not telling:
            return found
        places, enough = self._places[lightest], telling[lightest] / threshold + _SLACK
        if total > enough:
            places = places[: bisect_right(places, enough, key=self._total.__getitem__)]
        return found.union(places)

    def _weight(self, concepts: frozenset[str]) -> float:
        return sum(self._weights.get(concept, self._unseen) for concept in concepts) or 1.0


def topic_of(text: str) -> frozenset[str]:
    """The concepts ``text`` is about, without stance, time and amount."""
    return frozenset(concept for clause in read(text).clauses for concept in clause.content)
