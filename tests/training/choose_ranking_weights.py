"""Look for the weights of ``strata.ranking.mix.EPISODES``, leaving one conversation out at a time.

    python tests/training/choose_ranking_weights.py FILE [--cache FILE] [--sweeps 1]

FILE has LoCoMo's format and stays where it is. For each conversation the weights are chosen on all the others, weight
by weight among a few round numbers, and measured on the one left out, which had no say. Beside them stands what the
shipped weights reach on it. Nothing is written but the cache of embeddings.
"""

import argparse
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from strata.evaluation.locomo import Locomo
from strata.evaluation.retrieval.material import Conversation, Question, Turn
from strata.evaluation.source import read
from strata.evaluation.task import Options
from strata.inference.local_embedding import LocalEmbedder
from strata.model.context import SearchMode
from strata.ranking import signals
from strata.ranking.asking import Asking
from strata.ranking.field import Field
from strata.ranking.fusion import best_rows, fused
from strata.ranking.mix import EPISODES, Mix
from strata.ranking.postings import statistics_of
from strata.ranking.query import prepared
from strata.ranking.shelf import Entry, Shelf
from strata.sharing.episodes import MAX_PREVIOUS_CHARS
from strata.tokens.counter import TokenCounter

CHOICES: Mapping[str, Sequence[Any]] = {
    "semantic": (0.5, 0.6, 0.7),
    "keyword": (0.1, 0.2, 0.3),
    "window": (0.1, 0.2, 0.3),
    "common": (0.0, 0.3, 0.6, 0.9),
    "speaker": (0.5, 1.0, 1.5, 2.0),
    "neighbours": ((0.1, 0.1, 0.1, 0.1), (0.2, 0.1, 0.1, 0.1), (0.2, 0.2, 0.1, 0.1), (0.0, 0.0, 0.0, 0.0)),
    "question": (0.4, 0.6, 0.8),
    "answer": (0.0, 0.2, 0.3, 0.4),
    "length": (0.2, 0.3, 0.4),
    "session": (0.1, 0.2, 0.3),
    "date": (0.5, 1.0, 1.5),
}
TOP, SESSIONS, BUDGET, DEPTH = 10, 5, 600, 100
LINE = "- (episode, 3 y ago, by agent) {}\n"
"""A turn as a context delivers it, by which tokens are counted."""
HEARD = ("semantic", "common", "keyword", "window", "speaker_named", "date_named")
NAMES = ("recall@10", "any@10", "recall in 600", "session any@5")

Scores = np.ndarray[Any, np.dtype[np.float64]]
"""Sums of the four measures, and what to divide each by."""

_counter = TokenCounter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, ready to be ranked for, and the rows that answer it."""

    asking: Asking
    evidence: Sequence[int]
    counts: bool


class Embeddings:
    """The bundled model, with a file that remembers."""

    def __init__(self, path: Path) -> None:
        self._model = LocalEmbedder()
        self._file = sqlite3.connect(path, isolation_level=None)
        self._file.execute("CREATE TABLE IF NOT EXISTS vectors (query INTEGER, text TEXT, vector BLOB)")
        self._file.execute("CREATE UNIQUE INDEX IF NOT EXISTS texts ON vectors (query, text)")
        self.background = self._model.background

    def of(self, text: str, *, query: bool) -> bytes:
        known = self._file.execute("SELECT vector FROM vectors WHERE query = ? AND text = ?", (query, text)).fetchone()
        if known:
            return bytes(known[0])
        (made,) = self._model.embed([text], query=query)
        self._file.execute("INSERT INTO vectors VALUES (?, ?, ?)", (query, text, made))
        return made


@dataclass
class Talk:
    """One conversation: its turns on a shelf, its questions, and how well weights do on it."""

    conversation: Conversation
    embeddings: Embeddings
    _known: dict[Mix, Scores] = field(default_factory=dict)

    def scores(self, mix: Mix) -> Scores:
        if mix not in self._known:
            self._known[mix] = np.sum([self._scores(asked, mix) for asked in self._questions], axis=0)
        return self._known[mix]

    def _scores(self, asked: Asked, mix: Mix) -> Scores:
        rows = best_rows(fused(self._field, replace(asked.asking, mix=mix)).ranking, DEPTH)
        evidence = set(asked.evidence)
        found = len(evidence & set(rows[:TOP])) / len(evidence)
        fitting = len(evidence & set(self._fitting(rows))) / len(evidence)
        sessions = list(dict.fromkeys(self._sessions[row] for row in rows))[:SESSIONS]
        of_session = bool({self._sessions[row] for row in evidence} & set(sessions))
        counts = asked.counts
        return np.array([counts * found, counts * (found > 0), counts * fitting, of_session, *[counts] * 3, 1.0])

    def _fitting(self, rows: Sequence[int]) -> Iterator[int]:
        left = BUDGET
        for row in rows:
            if self._tokens[row] <= left:
                left -= self._tokens[row]
                yield row

    @cached_property
    def _turns(self) -> list[Turn]:
        return list(self.conversation.turns)

    @cached_property
    def _tokens(self) -> list[int]:
        return [_counter.count(LINE.format(turn.line)) for turn in self._turns]

    @cached_property
    def _sessions(self) -> list[str]:
        session_of = self.conversation.session_of()
        return [session_of[turn.id] for turn in self._turns]

    @cached_property
    def _field(self) -> Field:
        shelf = Shelf("episode", self.embeddings._model.dimensions)
        for session in self.conversation.sessions:
            for place, turn in enumerate(session.turns, start=1):
                shelf.put(self._entry(turn, session.turns[place - 2] if place > 1 else None, session.id, place))
        return Field.of([shelf])

    def _entry(self, turn: Turn, before: Turn | None, session_id: str, place: int) -> Entry:
        text = f"{before.speaker}: {before.text[-MAX_PREVIOUS_CHARS:]}\n{turn.line}" if before else turn.line
        return Entry(
            memory_id=turn.id,
            text=turn.line,
            said_on=turn.said_at.date(),
            vector=self.embeddings.of(text, query=False),
            speaker=turn.speaker,
            session_id=session_id,
            seq=place,
            previous_seq=place - 1,
            dated=True,
        )

    @cached_property
    def _questions(self) -> list[Asked]:
        return [self._asked(question) for question in self.conversation.questions]

    def _asked(self, question: Question) -> Asked:
        query = prepared(question.text, vector=self.embeddings.of(question.text, query=True), now=0.0)
        asking = Asking(
            query=query,
            statistics=statistics_of([shelf.postings for shelf in self._field.shelves], query.terms),
            mix=EPISODES,
            mode=SearchMode.HYBRID,
            background=self.embeddings.background,
        )
        rows = {turn.id: row for row, turn in enumerate(self._turns)}
        return Asked(asking=asking, evidence=[rows[one] for one in question.evidence], counts=question.counts)


def main() -> None:
    """Choose and measure, fold by fold."""
    told = _arguments()
    for name in HEARD:
        setattr(signals, name, _heard_once(getattr(signals, name)))
    data = read(told.file)
    embeddings = Embeddings(told.cache)
    talks = [Talk(one, embeddings) for one in Locomo().read(Options(provider="native", data=data)).conversations]
    print(f"{'':<12}{''.join(f'{name:>16}' for name in NAMES)}   weights")
    print(_line("shipped", _shares(talks, EPISODES), EPISODES))
    chosen = [_left_out(talks, place, told.sweeps) for place in range(len(talks))]
    together = np.sum([talk.scores(mix) for talk, mix in zip(talks, chosen, strict=True)], axis=0)
    print(_line("all held out", together[:4] / together[4:], None))


def _left_out(talks: Sequence[Talk], place: int, sweeps: int) -> Mix:
    others = [talk for number, talk in enumerate(talks) if number != place]
    mix = _chosen(others, sweeps)
    name = talks[place].conversation.id
    print(_line(name, _shares([talks[place]], mix), mix), flush=True)
    print(_line("  shipped", _shares([talks[place]], EPISODES), None), flush=True)
    return mix


def _chosen(talks: Sequence[Talk], sweeps: int) -> Mix:
    """Choose weight by weight, beginning with the shipped ones; a tie changes nothing."""
    mix = EPISODES
    for _ in range(sweeps):
        for name, values in CHOICES.items():
            tried = [mix, *(replace(mix, **{name: value}) for value in values)]
            mix = max(tried, key=lambda one: float(_shares(talks, one).mean()))
    return mix


def _shares(talks: Sequence[Talk], mix: Mix) -> Scores:
    sums: Scores = np.sum([talk.scores(mix) for talk in talks], axis=0)
    return sums[:4] / sums[4:]


def _heard_once(signal: Callable[..., Any]) -> Callable[..., Any]:
    """A signal does not depend on its weight."""
    heard: dict[tuple[int, int], Any] = {}

    def once(place: Field, query: Any, *more: Any) -> Any:
        key = id(place), id(query)
        if key not in heard:
            heard[key] = signal(place, query, *more)
        return heard[key]

    return once


def _line(name: str, shares: Scores, mix: Mix | None) -> str:
    changed = [] if mix is None else [f"{key}={getattr(mix, key)}" for key in CHOICES]
    return f"{name:<12}{''.join(f'{100 * share:>16.2f}' for share in shares)}   {' '.join(changed)}"


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "strata-embeddings.db")
    parser.add_argument("--sweeps", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
