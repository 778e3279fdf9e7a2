"""What texts are about, by concept: finds 搬到杭州 for 住在上海, which share not one character."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
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
        self._least = min(self._total, default=1.0)
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for index, each in enumerate(concepts):
            for concept in each:
                self._places[concept].append(index)

    def near(self, text: str, threshold: float, limit: int) -> Iterator[tuple[int, float]]:
        """Index and score of the ``limit`` texts that share most: the weight shared, of the lighter one's weight.

        Two texts about one property of one value (home, job, alarm) are near whatever else they say.
        """
        topic = topic_of(text)
        total = self._weight(topic)
        telling = list(self._telling(topic, threshold * total))
        enough = threshold * min(total, self._least) - _SLACK
        if sum(weight for weight, _ in telling) < enough:
            return
        shared: defaultdict[int, float] = defaultdict(float)
        for weight, places in telling:
            for index in places:
                shared[index] += weight
        heavy = [(weight, index) for index, weight in shared.items() if weight >= enough]
        scores = ((weight / min(total, self._total[index]), index) for weight, index in heavy)
        near = [found for found in scores if found[0] >= threshold]
        for score, index in sorted(near, reverse=True)[:limit]:
            yield index, min(1.0, score)

    def _telling(self, topic: frozenset[str], of_one_value: float) -> Iterator[tuple[float, Sequence[int]]]:
        """What concepts of ``topic`` weigh and where they are, those left out that are everywhere."""
        for concept in topic:
            places = self._places.get(concept, ())
            if 0 < len(places) <= _MOST_COMMON:
                least = of_one_value if concept in oppositions().topics else 0.0
                yield max(self._weights[concept], least), places

    def _weight(self, concepts: frozenset[str]) -> float:
        return sum(self._weights.get(concept, self._unseen) for concept in concepts) or 1.0


def topic_of(text: str) -> frozenset[str]:
    """The concepts ``text`` is about, without stance, time and amount."""
    return frozenset(concept for clause in read(text).clauses for concept in clause.content)
