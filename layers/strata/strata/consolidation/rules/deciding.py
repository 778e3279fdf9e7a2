"""Which facts of a sentence are kept: what the rules found unless the weighing doubts it, or else its own best."""

import re
from dataclasses import dataclass, replace

from strata.consolidation.rules.compounds import adds
from strata.consolidation.rules.features import strongest
from strata.consolidation.rules.lexicon import CLASSES
from strata.consolidation.rules.matching import Finding, Rule, rule_of_belief
from strata.consolidation.rules.units import Unit
from strata.consolidation.rules.weighing import NOTHING, Opinion, weights
from strata.consolidation.texts import has_han
from strata.model.memories import Category

KEEP = 0.2
"""A fact that a rule found is kept from this share of belief on."""
FIND = 0.45
"""A fact that no rule found is kept from this share on."""
SMALL_TALK = 0.6
"""Unless a model that has also seen small talk believes this much that it is nothing but that."""
FIND_UNKNOWN = 0.55
"""What would always be delivered and no word that the lexicon knows speaks for, is kept from this one on."""
SAFETY = "safety"
IN_SO_MANY_WORDS = (".allergy.plain", ".allergy.explicit")
LIKE_SMALL_TALK = frozenset({"decision", SAFETY})
"""The beliefs that praise, thanks and tales are taken for."""
STANDING = frozenset({SAFETY, "taboo"})
"""Beliefs in what is always delivered."""
_TELLING = frozenset(
    CLASSES[name]
    for name in ("food", "alcohol", "allergen", "drug", "condition", "pregnant", "ailment", "reaction", "nausea")
)
SURE_OF_NOTHING = 0.97
"""A sentence of which the words alone say this much that it holds nothing is not embedded."""
SURE_OF_FACT = 0.97
"""Nor is one in which a rule found what the words believe this much."""
SLIGHT = 0.01
VETOABLE = frozenset({"safety", "taboo", "like", "household", "decision", "shopping", "price_alert"})
"""Beliefs that do not stand against a rule that matched and does not hold (negated, asked, heard, made up)."""
REASONS = 4
_APART = frozenset({Category.SAFETY, Category.PREFERENCE})
_NO = re.compile(
    r"\b(?:no|not|never|nobody|nothing|none|don't|won't|can't|cannot|hates?|refuse|without|avoid|stop|\w+n't)\b|[不别没勿莫拒讨厌烦忌甭]"
)
"""What a taboo is said with."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A fact to keep: by which rule, from which clauses of its sentence, for which reason."""

    rule: Rule
    clauses: frozenset[int]
    evidence: str
    confidence: float


def is_doubtful(unit: Unit, opinion: Opinion) -> bool:
    """Tell whether meaning could change what the words of a unit say; if not, nobody is asked."""
    if opinion.shares[NOTHING] >= SURE_OF_NOTHING:
        return False
    if unit.findings:
        return unit.mixed or any(opinion.shares[finding.rule.belief] < SURE_OF_FACT for finding in unit.findings)
    return any(share >= SLIGHT and may_be_learned(unit, belief) for belief, share in opinion.shares.items())


def agreed(unit: Unit, words: Opinion, meaning: Opinion) -> Opinion:
    """Return what meaning says; a safety fact in so many words is dropped only if the words doubt it as well."""
    if not any(finding.rule.name.endswith(IN_SO_MANY_WORDS) for finding in unit.findings):
        return meaning
    return replace(meaning, shares={**meaning.shares, SAFETY: max(words.shares[SAFETY], meaning.shares[SAFETY])})


def verdicts(unit: Unit, opinion: Opinion) -> list[Verdict]:
    """Return the facts of a unit."""
    found = [_verdict(unit, finding, opinion) for finding in unit.findings]
    return _joined([verdict for verdict in found if verdict.confidence >= KEEP], unit) or _learned(unit, opinion)


def _verdict(unit: Unit, finding: Finding, opinion: Opinion) -> Verdict:
    """A finding as a verdict, with the belief in it; in a mixed sentence its own part alone is weighed."""
    if unit.mixed:
        opinion = weights("words").opinion(unit.part(finding).features())
    evidence = unit.coded.source(finding.start, finding.end)
    share = opinion.shares[finding.rule.belief]
    confidence = max(share, KEEP) if finding.rule.plain else share
    return Verdict(finding.rule, frozenset(finding.clauses), evidence, confidence)


def may_be_learned(unit: Unit, belief: str) -> bool:
    """Tell whether the weighing may find a fact of this belief where no rule did."""
    if belief == NOTHING or belief in unit.vetoed & VETOABLE:
        return False
    if belief not in LIKE_SMALL_TALK:
        return True
    return weights("talk").opinion(unit.features()).shares[NOTHING] < SMALL_TALK


def _least(unit: Unit, belief: str) -> float:
    """The share from which on a fact of this belief is found."""
    if belief not in STANDING or any(character in _TELLING for character in unit.words):
        return FIND
    return FIND if belief != SAFETY and _NO.search(unit.words) else FIND_UNKNOWN


def _learned(unit: Unit, opinion: Opinion) -> list[Verdict]:
    belief = max((name for name in opinion.shares if name != NOTHING), key=lambda name: opinion.shares[name])
    if not may_be_learned(unit, belief) or opinion.shares[belief] < _least(unit, belief):
        return []
    rule = rule_of_belief("zh" if has_han(unit.text) else "en", belief)
    clauses = frozenset(index for index, moods in enumerate(unit.moods.clauses) if not moods & rule.blocks)
    if not clauses:
        return []
    evidence = " · ".join(strongest(opinion.reasons, REASONS))
    return [Verdict(rule, clauses, evidence, opinion.shares[belief])]


def _joined(found: list[Verdict], unit: Unit) -> list[Verdict]:
    """Facts of the same type from one sentence that are neighbours are one, unless the later one stands by itself."""
    result: list[Verdict] = []
    for verdict in found:
        last = result[-1] if result else None
        if last is not None and _goes_on(unit, last, verdict):
            result[-1] = Verdict(last.rule, last.clauses | verdict.clauses, last.evidence, last.confidence)
        else:
            result.append(verdict)
    return result


def _goes_on(unit: Unit, last: Verdict, verdict: Verdict) -> bool:
    if not _alike(last.rule, verdict.rule) or min(verdict.clauses) - max(last.clauses) > 1:
        return False
    if verdict.rule.category not in _APART:
        return True
    return not adds(unit.coded.text, unit.sentence, _range(verdict), _range(last))


def _range(verdict: Verdict) -> range:
    return range(min(verdict.clauses), max(verdict.clauses) + 1)


def _alike(left: Rule, right: Rule) -> bool:
    return (left.memory_type, left.safety, left.scope) == (right.memory_type, right.safety, right.scope)
