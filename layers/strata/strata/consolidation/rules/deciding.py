"""Which facts of a sentence are kept: what the rules found unless the weighing doubts it, or else its own best."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from strata.consolidation.rules.compounds import adds
from strata.consolidation.rules.features import strongest
from strata.consolidation.rules.lexicon import CLASSES
from strata.consolidation.rules.matching import Finding, Rule, rule_of_belief
from strata.consolidation.rules.units import Unit
from strata.consolidation.rules.weighing import NOTHING, Opinion, weights
from strata.consolidation.texts import has_han
from strata.model.memories import Category


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """The shares of belief from which on a fact is kept."""

    keep: float
    """One that a rule found."""
    find: float
    """One that no rule found."""
    find_of: Mapping[str, float]
    """The same for single beliefs; more is asked for those that much else looks like."""
    find_unknown: float
    """One that would always be delivered, and that no word which the lexicon knows speaks for."""


SAFETY = "safety"
BY_WORDS = Bars(keep=0.3, find=0.45, find_of={"decision": 0.5, SAFETY: 0.5}, find_unknown=0.65)
BY_MEANING = Bars(
    keep=0.6,
    find=0.34,
    find_of={"like": 0.58, "household": 0.58, "taboo": 0.58, SAFETY: 0.6, "experience": 0.2},
    find_unknown=0.8,
)
SMALL_TALK = 0.6
"""Unless a model that has also seen small talk believes this much that it is nothing but that."""
IN_SO_MANY_WORDS = (".allergy.plain", ".allergy.explicit")
LIKE_SMALL_TALK = frozenset({"decision", SAFETY})
"""The beliefs that praise, thanks and tales are taken for."""
STANDING = frozenset({SAFETY, "taboo"})
"""Beliefs in what is always delivered."""
_TELLING = frozenset(
    CLASSES[name]
    for name in ("food", "alcohol", "allergen", "drug", "condition", "pregnant", "ailment", "reaction", "nausea")
)
SURE_OF_NOTHING = 0.99
"""A sentence of which the words alone say this much that it holds nothing is not embedded."""
SURE_OF_FACT = 0.97
"""Nor is one in which a rule found what the words believe this much."""
SURE_OF_MEANING = 0.95
"""What meaning believes this much is a fact also in a sentence that sounds supposed, heard or like small talk."""
SUPPOSED = frozenset({"hypothetical", "hearsay"})
"""*If I so much as touch latex*, *the doctor says I must not*: these moods stand with facts as well."""
SLIGHT = 0.01
REASONS = 4
RESOLVES = frozenset({"taboo", "decision", "like", "household", SAFETY})
"""What courage is taken for."""
_KEEPS_GOING = re.compile(
    r"\b(?:won't|will not|not (?:gonna|going to)|never|don't|can't|wouldn't) (?:ever |gonna )?"
    r"(?:let (?:\w+ ){1,4}?(?:down|back|stop)|give up|giv(?:e|ing) (?:it )?up on|quit|back down|lose hope"
    r"|stop (?:trying|dreaming|believing))"
    r"|\b(?:keep (?:going|pushing|believing|dreaming)|hang in there|stay (?:positive|strong|determined))\b"
    r"|(?:不会|绝不|永不|决不|别|不要|不能)(?:轻言|轻易)?(?:放弃|认输|言败|服输|气馁|退缩)|坚持(?:到底|下去)|(?:我|咱|一起)?加油[!！吧啊]",
    re.IGNORECASE,
)
"""*won't let anything stop me*, 绝不放弃: courage, and nothing that anybody has to mind."""
WISHES = frozenset({"like", "household"})
"""What a favour that is asked for once is taken for."""
_ASKS_A_FAVOUR = re.compile(
    r"\W*(?:(?:好的?|那|嗯|对了|ok(?:ay)?|so|and|then|hey|hi)[\s,，]+)?"
    r"(?:(?:能不能|可不可以|可以|能|请|麻烦你?|劳驾)?(?:帮我|替我|帮忙|给我[查找订挑推])|麻烦你"
    r"|(?:please )?(?:help me|find me|book me|pick me|look up|remind me)\b|(?:can|could|would|will) you\b)",
    re.IGNORECASE,
)
"""帮我挑一家餐厅, *could you find me a florist*: what is wanted now says nothing of what is liked."""
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
    found = [verdict for finding in unit.findings if (verdict := _verdict(unit, finding, opinion)) is not None]
    return _joined(found, unit) or _learned(unit, opinion)


def _verdict(unit: Unit, finding: Finding, opinion: Opinion) -> Verdict | None:
    """A finding as a verdict, if it is believed; in a mixed sentence its own part alone is weighed."""
    if unit.mixed:
        opinion = weights("words").opinion(unit.part(finding).features())
    evidence = unit.coded.source(finding.start, finding.end)
    keep, share = _bars(opinion).keep, opinion.shares[finding.rule.belief]
    if share < keep and not finding.rule.plain:
        return None
    return Verdict(finding.rule, frozenset(finding.clauses), evidence, max(share, keep))


def may_be_learned(unit: Unit, belief: str, opinion: Opinion | None = None) -> bool:
    """Tell whether the weighing may find a fact of this belief where no rule did."""
    if belief == NOTHING:
        return False
    if belief in WISHES and _ASKS_A_FAVOUR.match(unit.text):
        return False
    if belief in RESOLVES and _KEEPS_GOING.search(unit.text) and not (belief == SAFETY and _tells(unit)):
        return False
    if opinion is not None and _is_sure(opinion, belief):
        return True
    if belief not in LIKE_SMALL_TALK:
        return True
    return weights("talk").opinion(unit.features()).shares[NOTHING] < SMALL_TALK


def _is_sure(opinion: Opinion, belief: str) -> bool:
    return opinion.by_meaning and opinion.shares[belief] >= SURE_OF_MEANING


def _bars(opinion: Opinion) -> Bars:
    return BY_MEANING if opinion.by_meaning else BY_WORDS


def _least(unit: Unit, belief: str, opinion: Opinion) -> float:
    """The share from which on a fact of this belief is found."""
    bars = _bars(opinion)
    find = bars.find_of.get(belief, bars.find)
    if belief not in STANDING or _tells(unit):
        return find
    return find if belief != SAFETY and _NO.search(unit.words) else max(find, bars.find_unknown)


def _tells(unit: Unit) -> bool:
    """Tell whether a word that the lexicon knows speaks for what is always delivered."""
    return any(character in _TELLING for character in unit.words)


def _learned(unit: Unit, opinion: Opinion) -> list[Verdict]:
    belief = max((name for name in opinion.shares if name != NOTHING), key=lambda name: opinion.shares[name])
    if not may_be_learned(unit, belief, opinion) or opinion.shares[belief] < _least(unit, belief, opinion):
        return []
    rule = rule_of_belief("zh" if has_han(unit.text) else "en", belief)
    blocks = rule.blocks - SUPPOSED if _is_sure(opinion, belief) else rule.blocks
    clauses = frozenset(index for index, moods in enumerate(unit.moods.clauses) if not moods & blocks)
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
