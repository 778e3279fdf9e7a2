"""Which facts of a sentence are kept: what the rules found unless the weighing doubts it, or else its own best."""

from dataclasses import dataclass

from strata.consolidation.rules.features import strongest
from strata.consolidation.rules.matching import Finding, Rule, rule_of_belief
from strata.consolidation.rules.units import Unit
from strata.consolidation.rules.weighing import NOTHING, Opinion, weights
from strata.consolidation.texts import has_han

KEEP = 0.2
"""A fact that a rule found is kept from this share of belief on."""
FIND = 0.45
"""A fact that no rule found is kept from this share on."""
VETOABLE = frozenset({"safety", "taboo", "like", "household", "decision", "shopping", "price_alert"})
"""Beliefs that do not stand against a rule that matched and does not hold (negated, asked, heard, made up)."""
REASONS = 4


@dataclass(frozen=True, slots=True)
class Verdict:
    """A fact to keep: by which rule, from which clauses of its sentence, for which reason."""

    rule: Rule
    clauses: frozenset[int]
    evidence: str
    confidence: float


def verdicts(unit: Unit, opinion: Opinion) -> list[Verdict]:
    """Return the facts of a unit."""
    found = [_verdict(unit, finding, opinion) for finding in unit.findings]
    return _joined([verdict for verdict in found if verdict.confidence >= KEEP]) or _learned(unit, opinion)


def _verdict(unit: Unit, finding: Finding, opinion: Opinion) -> Verdict:
    """A finding as a verdict, with the belief in it; in a mixed sentence its own part alone is weighed."""
    if unit.mixed:
        opinion = weights("words").opinion(unit.part(finding).features())
    evidence = unit.coded.source(finding.start, finding.end)
    return Verdict(finding.rule, frozenset(finding.clauses), evidence, opinion.shares[finding.rule.belief])


def _learned(unit: Unit, opinion: Opinion) -> list[Verdict]:
    if opinion.best == NOTHING or opinion.shares[opinion.best] < FIND or opinion.best in unit.vetoed & VETOABLE:
        return []
    rule = rule_of_belief("zh" if has_han(unit.text) else "en", opinion.best)
    clauses = frozenset(index for index, moods in enumerate(unit.moods.clauses) if not moods & rule.blocks)
    if not clauses:
        return []
    evidence = " · ".join(strongest(opinion.reasons, REASONS))
    return [Verdict(rule, clauses, evidence, opinion.shares[opinion.best])]


def _joined(found: list[Verdict]) -> list[Verdict]:
    """Facts of the same type from one sentence that are neighbours are one."""
    result: list[Verdict] = []
    for verdict in found:
        last = result[-1] if result else None
        if last is not None and _alike(last.rule, verdict.rule) and min(verdict.clauses) - max(last.clauses) <= 1:
            result[-1] = Verdict(last.rule, last.clauses | verdict.clauses, last.evidence, last.confidence)
        else:
            result.append(verdict)
    return result


def _alike(left: Rule, right: Rule) -> bool:
    return (left.memory_type, left.safety, left.scope) == (right.memory_type, right.safety, right.scope)
