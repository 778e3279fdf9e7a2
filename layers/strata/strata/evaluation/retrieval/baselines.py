"""What a memory has to beat: nothing, the last messages, everything, words alone, meaning alone.

All of them deliver turns as ``[2023-05-08] Name: text``. They are made here, not in the product; the vectors are the
product's own, so that nothing is embedded twice.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from strata.evaluation.retrieval.material import Conversation, Turn
from strata.evaluation.retrieval.scores import Unit
from strata.ranking.tokens import terms
from strata.sharing.episodes import MAX_PREVIOUS_CHARS
from strata.tokens.counter import TokenCounter

if TYPE_CHECKING:
    from strata.ports import Embedder

SATURATION, LENGTH_NORM = 1.2, 0.75
"""BM25's k1 and b, at their usual values."""
MOST = 100
BATCH = 64

_counter = TokenCounter()


class Baselines:
    """The turns of one conversation, indexed as the baselines need them; made at the first question."""

    def __init__(self, conversation: Conversation) -> None:
        self._sessions = [[turn for turn in session.turns if turn.text.strip()] for session in conversation.sessions]
        self._turns = [turn for session in self._sessions for turn in session]
        self._vectors: Any = None

    def asked(self, question: str, embedder: "Embedder | None") -> dict[str, list[list[Any]]]:
        """Return the ranked turns of each baseline that ranks, as a record; dense only where there is an embedder."""
        found = {"bm25": self._best(self._bm25(question))}
        if embedder is not None:
            found["dense"] = self._best(self._cosines(question, embedder))
        return found

    def newest_first(self) -> list[Unit]:
        """Return every turn, the last one first."""
        return [self._unit(place) for place in range(len(self._turns) - 1, -1, -1)]

    def _best(self, scores: Sequence[float]) -> list[list[Any]]:
        order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))[:MOST]
        return [[unit.tokens, *unit.turns] for unit in map(self._unit, order)]

    def _unit(self, place: int) -> Unit:
        return Unit(self._tokens[place], (self._turns[place].id,))

    @cached_property
    def _tokens(self) -> list[int]:
        return [_counter.count(f"[{turn.said_at:%Y-%m-%d}] {turn.line}\n") for turn in self._turns]

    @cached_property
    def _counts(self) -> list[Counter[str]]:
        return [Counter(terms(turn.line)) for turn in self._turns]

    @cached_property
    def _frequencies(self) -> Mapping[str, int]:
        return Counter(term for counts in self._counts for term in counts)

    def _bm25(self, question: str) -> list[float]:
        documents = len(self._counts)
        mean = max(1.0, sum(counts.total() for counts in self._counts) / max(1, documents))
        weights = {
            term: math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))
            for term in set(terms(question))
            if (frequency := self._frequencies.get(term, 0))
        }
        return [_matched(counts, weights, mean) for counts in self._counts]

    def _cosines(self, question: str, embedder: "Embedder") -> list[float]:
        import numpy as np

        if self._vectors is None:
            texts = [text for session in self._sessions for text in _embedded_texts(session)]
            made = [
                vector
                for start in range(0, len(texts), BATCH)
                for vector in embedder.embed(texts[start : start + BATCH])
            ]
            self._vectors = np.frombuffer(b"".join(made), dtype="<f4").reshape(len(texts), -1)
        [asked] = embedder.embed([question], query=True)
        cosines: list[float] = (self._vectors @ np.frombuffer(asked, dtype="<f4")).tolist()
        return cosines


def _matched(counts: Counter[str], weights: Mapping[str, float], mean: float) -> float:
    norm = SATURATION * (1 - LENGTH_NORM + LENGTH_NORM * counts.total() / mean)
    return math.fsum(
        weight * counts[term] * (SATURATION + 1) / (counts[term] + norm) for term, weight in weights.items()
    )


def _embedded_texts(turns: Sequence[Turn]) -> list[str]:
    """Return what the product embeds for a session's turns, which it remembers: each behind the end of the last one."""
    return [
        f"{before.speaker}: {before.text[-MAX_PREVIOUS_CHARS:]}\n{turn.line}" if before else turn.line
        for before, turn in zip([None, *turns[:-1]], turns, strict=True)
    ]
