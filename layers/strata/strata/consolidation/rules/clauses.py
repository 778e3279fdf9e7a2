"""Sentences and their clauses, as ranges of coded text.

Moods (question, hearsay …) hold for clauses, facts are found in sentences: "I'm allergic to nuts, what can I eat?"
is a fact and a question.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SENTENCE_END = re.compile(r"[。！!?\n]+[\"')]*|(?<!\d)\.(?!\.)[\"')]*(?=\s|$)|(?<=\d)\.(?=\s+\D|\s*$)")
_ABBREVIATION = re.compile(r"(?:^|\W)(?:mr|mrs|ms|dr|st|vs|no|approx|e\.g|i\.e|a\.m|p\.m)\.$")
_CLAUSE_END = re.compile(
    r"[,;:—…~()]+|\.{3}|\s-+\s"
    r"|(?<=[\u4e00-\u9fff\ue000-\uf8ff])\s+(?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff\ue000-\uf8ff])"
    r"|\s(?=(?:but|because|although|though|however|except|yet)\b)"
    r"|\s(?=(?:so|since|and|while) (?:i|i'm|i've|we|we're|he|he's|she|she's|it|they|my|our|please|no|don't|the|that)\b)"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A range of coded text, without the separator behind it."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A range of coded text with its clauses, in order. ``mark`` is what ends it: ``?``, ``!``, ``.`` or nothing."""

    start: int
    end: int
    mark: str
    clauses: tuple[Clause, ...]

    def covered(self, start: int, end: int) -> range:
        """Return the indexes of the clauses that a range touches."""
        touched = [i for i, clause in enumerate(self.clauses) if clause.start < end and start < clause.end]
        return range(touched[0], touched[-1] + 1) if touched else range(0)


def sentences(coded: str) -> Iterator[Sentence]:
    """Yield the sentences of coded text; empty ones are left out."""
    start = 0
    for match in _SENTENCE_END.finditer(coded):
        if _ABBREVIATION.search(coded, start, match.end()) and match.end() < len(coded):
            continue
        yield from _sentence(coded, start, match.start(), match.group())
        start = match.end()
    yield from _sentence(coded, start, len(coded), "")


def _sentence(coded: str, start: int, end: int, mark: str) -> Iterator[Sentence]:
    clauses = tuple(_clauses(coded, start, end))
    if clauses:
        yield Sentence(clauses[0].start, clauses[-1].end, "?" if "?" in mark else mark[:1], clauses)


def _clauses(coded: str, start: int, end: int) -> Iterator[Clause]:
    for match in _CLAUSE_END.finditer(coded, start, end):
        yield from _clause(coded, start, match.start())
        start = match.end()
    yield from _clause(coded, start, end)


def _clause(coded: str, start: int, end: int) -> Iterator[Clause]:
    while start < end and coded[start].isspace():
        start += 1
    while start < end and coded[end - 1].isspace():
        end -= 1
    if start < end:
        yield Clause(start, end)
