"""How close texts are, under a model, that have nothing to do with each other: the zero of every similarity score."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean, pstdev
from typing import Protocol

QUESTIONS = (
    "推荐一首歌",
    "怎么修自行车",
    "明天天气怎么样",
    "帮我写一封请假邮件",
    "我的快递到哪了",
    "recommend a song",
    "how do I fix a flat tyre",
    "what is the weather tomorrow",
    "write an email asking for leave",
    "where is my parcel",
)
FACTS = (
    "用户对花生过敏",
    "家里养了一只橘猫",
    "用户正在备考注册会计师",
    "番茄价格三块五一斤",
    "用户的丈夫有高血压，要少盐",
    "User is allergic to peanuts",
    "The family has an orange cat",
    "User is preparing for the CPA exam",
    "Tomatoes cost 3.50 a pound",
    "User's husband has high blood pressure and needs less salt",
)
CHINESE = 5
"""The first of each are Chinese, the others say the same in English."""
LEAST_DEVIATION = 0.005


class Vectors(Protocol):
    """Unit vectors of texts."""

    def __call__(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        """Return one vector per text."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Mean and deviation of cosines of unrelated texts, by the number of texts in a dense script."""

    dimensions: int
    questions: tuple[tuple[float, float], ...]
    passages: tuple[tuple[float, float], ...]

    def background(self, dense_scripts: int, *, question: bool) -> tuple[float, float]:
        """Return mean and deviation."""
        return (self.questions if question else self.passages)[dense_scripts]


def measured(vectors: Vectors) -> Scale:
    """Measure a model. Raises as the model does."""
    questions, facts = vectors(QUESTIONS, query=True), vectors(FACTS, query=False)
    return Scale(dimensions=len(facts[0]), questions=_background(questions, facts), passages=_background(facts, facts))


def _background(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> tuple[tuple[float, float], ...]:
    cosines: list[list[float]] = [[], [], []]
    for (left, one), (right, other) in product(enumerate(ours), enumerate(theirs)):
        if ours is theirs and left % CHINESE == right % CHINESE:
            continue  # the same fact, or its translation
        cosines[(left < CHINESE) + (right < CHINESE)].append(sum(map(float.__mul__, one, other)))
    return tuple((fmean(found), max(LEAST_DEVIATION, pstdev(found))) for found in cosines)
