"""What is judged: sentences, with their moods and with what the rules found in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from strata.consolidation.rules.clauses import Sentence, sentences
from strata.consolidation.rules.features import features
from strata.consolidation.rules.lexicon import Coded
from strata.consolidation.rules.matching import Finding, found_in
from strata.consolidation.rules.moods import Moods, moods_of

WHOLE_SENTENCES = 3
WHOLE_CHARS = 160
"""A message of so few sentences and characters is also looked at as one."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, or a short message as a whole."""

    coded: Coded
    sentence: Sentence
    moods: Moods
    findings: tuple[Finding, ...]
    vetoed: frozenset[str]
    """Beliefs that a rule speaks against."""

    @property
    def text(self) -> str:
        """The original words."""
        return self.coded.source(self.sentence.start, self.sentence.end)

    def features(self) -> dict[str, float]:
        """What the weighing looks at."""
        held = frozenset[str]().union(*self.moods.clauses)
        return features(self.coded.text[self.sentence.start : self.sentence.end], held, self.findings)


def units(coded: Coded) -> list[Unit]:
    """Return the sentences of a message."""
    return list(_units(coded))


def whole(found: Sequence[Unit]) -> Unit | None:
    """Return a short message of several sentences as one unit; None if it is long or a single sentence."""
    if not 1 < len(found) <= WHOLE_SENTENCES or len(found[0].coded.original) > WHOLE_CHARS:
        return None
    return merged(found)


def merged(found: Sequence[Unit]) -> Unit:
    """Return several sentences as one."""
    if len(found) == 1:
        return found[0]
    clauses = tuple(clause for unit in found for clause in unit.sentence.clauses)
    sentence = Sentence(found[0].sentence.start, found[-1].sentence.end, found[-1].sentence.mark, clauses)
    moods = Moods(
        tuple(clause for unit in found for clause in unit.moods.clauses),
        found[-1].moods.lasting,
        tuple(quote for unit in found for quote in unit.moods.quotes),
    )
    vetoed = frozenset[str]().union(*(unit.vetoed for unit in found))
    return Unit(found[0].coded, sentence, moods, tuple(item for unit in found for item in unit.findings), vetoed)


def _units(coded: Coded) -> Iterator[Unit]:
    lasting: frozenset[str] = frozenset()
    for sentence in sentences(coded.text):
        moods = moods_of(coded.text, sentence, lasting)
        lasting = moods.lasting
        found = found_in(coded.text, sentence, moods)
        yield Unit(coded, sentence, moods, found.findings, found.vetoed)
