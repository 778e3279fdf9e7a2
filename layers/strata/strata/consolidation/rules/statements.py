"""The words of a fact: which clauses belong to it, and whom they speak of."""

import re
from collections.abc import Iterable
from functools import cache

from strata.consolidation.rules.deciding import Verdict
from strata.consolidation.rules.lexicon import CLASSES, NAMES
from strata.consolidation.rules.patterns import compiled
from strata.consolidation.rules.units import Unit
from strata.consolidation.rules.wording import person_named

_SELF = re.compile(r"[我咱俺]|\b(?:i|my|we|our|me|i'm|i've)\b")


_SELF_SUBJECT = re.compile(r"[我咱俺](?!们?家?的?[\ue000-\uf8ff])|\b(?:i|i'm|i've|we|we're|we've)\b")
"""The user as the one who does it, not as the one whose son does."""


def statement(unit: Unit, verdict: Verdict, owned: frozenset[int]) -> str:
    """The words of a fact: its clauses, and those around it that belong to no other fact."""
    clauses = unit.sentence.clauses
    first, last = min(verdict.clauses), max(verdict.clauses)
    free = [index for index in range(len(clauses)) if _is_free(unit, verdict, index, owned)]
    while last + 1 in free:
        last += 1
    leading = [index for index in range(first) if all(place in free for place in range(index, first))]
    if not verdict.rule.whole:
        speaking = (place for place, index in enumerate(leading) if _speaks_of_something(unit, index))
        leading = leading[next(speaking, len(leading)) :]
    return unit.coded.source(clauses[min([*leading, first])].start, clauses[last].end)


def _is_free(unit: Unit, verdict: Verdict, index: int, owned: frozenset[int]) -> bool:
    return index not in owned and not unit.moods.clauses[index] & verdict.rule.blocks


def _speaks_of_something(unit: Unit, index: int) -> bool:
    """A clause in front of a fact is kept from the first on that names the user or a known thing: not "what a day"."""
    clause = unit.sentence.clauses[index]
    text = unit.coded.text[clause.start : clause.end]
    return any(character in NAMES for character in text) or bool(_SELF.search(text))


def names_person(unit: Unit, verdict: Verdict) -> bool:
    clauses = unit.sentence.clauses
    start, end = clauses[min(verdict.clauses)].start, clauses[max(verdict.clauses)].end
    return any(CLASSES[name] in unit.coded.text[start:end] for name in ("person", "pet", "stranger"))


def last_person(found: Iterable[Unit]) -> str:
    """The last mention of a person, as a memory would name them."""
    mention = ""
    for unit in found:
        for match in _mention().finditer(unit.coded.text, unit.sentence.start, unit.sentence.end):
            mention = person_named(unit.coded.source(match.start(), match.end()))
    return mention


def subject_before(unit: Unit, verdict: Verdict, person: str) -> str:
    """The person whom the words of a fact go on about: the last one in its sentence before it, or ``person``.

    If the user spoke of himself since, it is nobody: "my son hates peas, I don't eat celery either".
    """
    start = unit.sentence.clauses[min(verdict.clauses)].start
    said = unit.coded.text[unit.sentence.start : start]
    mentions = list(_mention().finditer(said))
    own = [match.end() for match in _SELF_SUBJECT.finditer(said)]
    if not mentions:
        return "" if own else person
    last = mentions[-1]
    if any(last.end() <= place for place in own):
        return ""
    offset = unit.sentence.start
    return person_named(unit.coded.source(offset + last.start(), offset + last.end()))


@cache
def _mention() -> re.Pattern[str]:
    return compiled(r"(?:(?:我|咱|俺)(?:们|家|们家)?的?|(?:my|our|the) (?:\w+ )?)?<person>", {})
