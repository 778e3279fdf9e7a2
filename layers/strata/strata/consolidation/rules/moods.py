"""What a clause is when it is no plain statement: question, hypothesis, hearsay, joke, fiction, quotation …"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from strata.consolidation.rule_data import table
from strata.consolidation.rules.clauses import Sentence
from strata.consolidation.rules.patterns import compiled


@dataclass(frozen=True, slots=True)
class Mood:
    """One line of the mood data."""

    name: str
    scope: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Moods:
    """The moods of each clause of a sentence, and whether one of them holds for what follows too."""

    clauses: tuple[frozenset[str], ...]
    lasting: frozenset[str]
    quotes: tuple[tuple[int, int], ...]

    def over(self, clauses: range, start: int, end: int) -> frozenset[str]:
        """Return the moods that hold for a match over these clauses."""
        found = frozenset[str]().union(*(self.clauses[index] for index in clauses))
        if any(opening <= start and end <= closing for opening, closing in self.quotes):
            found |= {"quoted"}
        return found


def moods_of(coded: str, sentence: Sentence, lasting: frozenset[str] = frozenset()) -> Moods:
    """Return the moods of a sentence; ``lasting`` are those that an earlier sentence laid on the rest."""
    found: list[set[str]] = [set(lasting) for _ in sentence.clauses]
    stays = set(lasting)
    quotes: list[tuple[int, int]] = []
    for mood in _moods():
        for index, start, end in _hits(mood, coded, sentence):
            if mood.scope == "quote":
                quotes.append((start, end))
                continue
            for covered in _scope(mood.scope, index, len(found)):
                found[covered].add(mood.name)
            if mood.scope == "message":
                stays.add(mood.name)
    _asked(found, sentence)
    return Moods(tuple(map(frozenset, found)), frozenset(stays), tuple(quotes))


def _asked(found: list[set[str]], sentence: Sentence) -> None:
    """A question mark asks the last clause; what a question takes for granted is not asked."""
    if sentence.mark == "?":
        found[-1].add("question")
    for clause in found:
        if "presupposed" in clause:
            clause.discard("question")


def _hits(mood: Mood, coded: str, sentence: Sentence) -> Iterator[tuple[int, int, int]]:
    """Yield (clause index, start, end) of what a mood's pattern finds."""
    if mood.scope in {"sentence", "message", "quote"}:
        for match in mood.pattern.finditer(coded, sentence.start, sentence.end + 1):
            touched = sentence.covered(match.start(), match.end())
            yield (touched.start if touched else 0), match.start(), match.end()
        return
    for index, clause in enumerate(sentence.clauses):
        inside = mood.pattern.search(coded[clause.start : clause.end])
        if inside is not None:
            yield index, clause.start + inside.start(), clause.start + inside.end()


def _scope(scope: str, index: int, count: int) -> range:
    if scope == "clause":
        return range(index, index + 1)
    if scope == "forward":
        return range(index, count)
    return range(count)


@cache
def _moods() -> tuple[Mood, ...]:
    data = table("moods")
    macros = data["macros"]
    return tuple(Mood(item["id"], item["scope"], compiled(item["pattern"], macros)) for item in data["mood"])
