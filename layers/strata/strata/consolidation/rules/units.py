"""What is judged: sentences, with their moods and with what the rules found in them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from strata.consolidation.rules.clauses import Sentence, sentences
from strata.consolidation.rules.features import features
from strata.consolidation.rules.lexicon import CLASSES, Coded
from strata.consolidation.rules.matching import Finding, found_in
from strata.consolidation.rules.moods import Moods, moods_of
from strata.consolidation.rules.names import names_in

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

    @property
    def text(self) -> str:
        """The original words."""
        return self.coded.source(self.sentence.start, self.sentence.end)

    @property
    def words(self) -> str:
        """The coded words."""
        return self.coded.text[self.sentence.start : self.sentence.end]

    @property
    def mixed(self) -> bool:
        """Whether facts of different kinds, or a fact and a question, stand in one sentence."""
        beliefs = {finding.rule.belief for finding in self.findings}
        return len(beliefs) > 1 or any(
            moods & finding.rule.blocks for finding in self.findings for moods in self.moods.clauses
        )

    def part(self, finding: Finding) -> "Unit":
        """Return what belongs to one finding: its clauses, and those beside them that say nothing else."""
        others = {index for other in self.findings if other is not finding for index in other.clauses}
        first, last = finding.clauses.start, finding.clauses.stop - 1
        free = [
            index not in others and not moods & finding.rule.blocks for index, moods in enumerate(self.moods.clauses)
        ]
        while last + 1 < len(free) and free[last + 1]:
            last += 1
        while first > 0 and free[first - 1]:
            first -= 1
        clauses = self.sentence.clauses[first : last + 1]
        sentence = Sentence(clauses[0].start, clauses[-1].end, "", clauses)
        moods = Moods(self.moods.clauses[first : last + 1], frozenset(), self.moods.quotes)
        return Unit(self.coded, sentence, moods, (finding,))

    def features(self) -> dict[str, float]:
        """What the weighing looks at."""
        held = frozenset[str]().union(*self.moods.clauses)
        coded = self.words.replace(CLASSES["nausea"], CLASSES["reaction"])
        return features(coded, held, self.findings)


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
    return Unit(found[0].coded, sentence, moods, tuple(_numbered_through(found)))


def _numbered_through(found: Sequence[Unit]) -> Iterator[Finding]:
    """Yield all findings, their clauses counted from the first sentence on."""
    before = 0
    for unit in found:
        for finding in unit.findings:
            clauses = range(finding.clauses.start + before, finding.clauses.stop + before)
            yield replace(finding, clauses=clauses)
        before += len(unit.sentence.clauses)


def _units(coded: Coded) -> Iterator[Unit]:
    lasting: frozenset[str] = frozenset()
    for sentence in sentences(coded.text):
        moods = moods_of(coded.text, sentence, lasting)
        lasting = moods.lasting
        found = found_in(coded.text, sentence, moods, names_in(coded, sentence))
        yield Unit(coded, sentence, moods, found)
