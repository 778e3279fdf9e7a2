"""Scores that mean the same for every query, collection and model: 0 = nothing in common, 1 = the same text.

Ranking says which memory is better, calibration how good it is, so that one threshold can leave out what is
unrelated. Two measures are read:

* *semantic*: how many deviations a cosine lies above those of unrelated texts of the same scripts under the same
  model. Measured with the bundled model on questions against memories in both languages: nine of ten unrelated pairs
  lie below 1.25 (score 0.3), half of all true answers above 3.8 (0.67), identical texts above 7.5.
  Stored texts against each other are closer: paraphrases lie above 2.1, where their scale reaches 0.85.
* *keyword*: the share of the question's words that a memory has, each weighed by its rarity; or the share of the
  memory's words that the question has, if that is more (a long message names a short memory in passing).
"""

from collections.abc import Sequence
from typing import Protocol


class Background(Protocol):
    """How close two unrelated texts are under an embedding model."""

    def __call__(self, dense_scripts: int, *, question: bool) -> tuple[float, float]:
        """Return mean and deviation of the cosine.

        ``dense_scripts``: how many of the two texts are written without spaces; ``question``: whether one is a query.
        """
        ...


QUESTION_CURVE = ((-1.0, 0.0), (0.0, 0.12), (1.25, 0.3), (4.0, 0.7), (7.5, 1.0))
"""(deviations above unrelated texts, score) for a question against a stored text."""
PASSAGE_CURVE = ((-1.0, 0.0), (0.0, 0.1), (1.7, 0.5), (2.1, 0.85), (5.5, 1.0))
"""The same for two stored texts."""

SUPPORT = 0.3
"""How much of the rest the weaker measure may add to the stronger one."""
NAMED_IN_PASSING = 0.9
"""What a memory is worth whose every word stands somewhere in a long message."""


def similarity(deviations: float, *, passage: bool = False) -> float:
    """Return the semantic score for a number of deviations above unrelated texts."""
    curve = PASSAGE_CURVE if passage else QUESTION_CURVE
    left, low = curve[0]
    for right, high in curve[1:]:
        if deviations < right:
            return max(low, low + (high - low) * (deviations - left) / (right - left))
        left, low = right, high
    return low


def coverage(shared: float, query: float, document: float) -> float:
    """Return the keyword score for the rarities of the shared words, of the question's and of the memory's."""
    if shared <= 0.0:
        return 0.0
    return min(1.0, max(shared / query, NAMED_IN_PASSING * shared / max(shared, document)))


def combined(semantic: float, keyword: float) -> float:
    """Return one score for both measures: the stronger, supported by the weaker."""
    strong, weak = max(semantic, keyword), min(semantic, keyword)
    return strong + (1.0 - strong) * SUPPORT * weak


def pooled(scores: Sequence[float]) -> list[float]:
    """Return scores that never rise along the ranking, by averaging neighbours that are out of order.

    The order stays what ranking made it (pool adjacent violators).
    """
    blocks: list[tuple[float, int]] = []
    for score in scores:
        total, count = score, 1
        while blocks and blocks[-1][0] / blocks[-1][1] < total / count:
            before, size = blocks.pop()
            total, count = total + before, count + size
        blocks.append((total, count))
    return [total / count for total, count in blocks for _ in range(count)]
