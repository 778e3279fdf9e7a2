"""Finding facts: the rules of the data, tried on the sentences of coded text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from strata.consolidation.rule_data import table
from strata.consolidation.rules.clauses import Sentence
from strata.consolidation.rules.compounds import adds
from strata.consolidation.rules.moods import Moods
from strata.consolidation.rules.patterns import compiled, expanded, needed_classes
from strata.model.memories import Category, Scope

FEW_WORDS = 4
"""Latin words in a Chinese sentence that do not make it an English one as well."""
Names = Sequence[tuple[int, int]]
"""Ranges of coded text."""
_HAN = re.compile(r"[\u4e00-\u9fff]")
_LATIN = re.compile(r"[a-z]{2,}")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the data, with what its group says."""

    name: str
    """``zh.allergy.explicit``"""
    priority: int
    belief: str
    """What the weighing calls such a fact."""
    memory_type: str
    category: Category
    importance: int
    scope: Scope
    safety: bool
    standing: bool
    dated: bool
    whole: bool
    """The fact is the whole sentence, not only the clauses of the match."""
    named: bool
    """The match holds a proper name: "my boss is Ines", not "my boss is nice"."""
    plain: bool
    """What it finds is said in so many words, and is never weighed away."""
    blocks: frozenset[str]
    absorbs: frozenset[str]
    """Groups and rules that are a consequence of this one when they stand in the same sentence."""
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None
    needs: frozenset[str]
    """Class characters of which the pattern needs at least one; empty if it can do without."""

    @property
    def group(self) -> str:
        """The group's name, the same in both languages."""
        return self.name.split(".")[1]

    def labels(self) -> frozenset[str]:
        """Return the names by which another group may absorb it: its group and its id."""
        return frozenset(self.name.split(".")[1:])


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that holds for a range of coded text."""

    rule: Rule
    start: int
    end: int
    clauses: range


def found_in(coded: str, sentence: Sentence, moods: Moods, names: Names = ()) -> tuple[Finding, ...]:
    """Return what the rules find in a sentence; each clause belongs to the first group that takes it."""
    taken: set[int] = set()
    held: list[Finding] = []
    for rule in _rules_for(coded[sentence.start : sentence.end]):
        if not rule.pattern.search(coded, sentence.start, sentence.end):
            continue
        matched = [hit for hit in _tried(rule, coded, sentence, moods) if not rule.named or _holds_name(hit, names)]
        for finding in matched:
            if taken.isdisjoint(finding.clauses):
                taken.update(finding.clauses)
                held.append(finding)
    kept = [finding for finding in held if not any(_absorbs(other, finding, coded, sentence) for other in held)]
    return tuple(sorted(kept, key=lambda finding: finding.start))


def _absorbs(stronger: Finding, other: Finding, coded: str, sentence: Sentence) -> bool:
    """Tell whether a fact is but the consequence of another; what is added to it is a fact of its own."""
    if not stronger.rule.absorbs & other.rule.labels():
        return False
    apart = stronger.rule.safety and other.rule.category is Category.PREFERENCE
    return not (apart and adds(coded, sentence, other.clauses, stronger.clauses))


def _tried(rule: Rule, coded: str, sentence: Sentence, moods: Moods) -> Iterator[Finding]:
    for match in rule.pattern.finditer(coded, sentence.start, sentence.end):
        clauses = sentence.covered(match.start(), match.end())
        if not clauses or rule.blocks & moods.over(clauses, match.start(), match.end()):
            continue
        span = coded[sentence.clauses[clauses.start].start : sentence.clauses[clauses.stop - 1].end]
        if rule.unless is None or not rule.unless.search(span):
            yield Finding(rule, match.start(), match.end(), clauses)


def _holds_name(finding: Finding, names: Names) -> bool:
    return any(finding.start <= start and end <= finding.end for start, end in names)


def _rules_for(text: str) -> Iterator[Rule]:
    characters = frozenset(text)
    for language in _languages(text):
        for rule in rules(language):
            if not rule.needs or rule.needs & characters:
                yield rule


def _languages(text: str) -> tuple[str, ...]:
    if not _HAN.search(text):
        return ("en",)
    return ("zh", "en") if len(_LATIN.findall(text)) > FEW_WORDS else ("zh",)


@cache
def rules(language: str) -> tuple[Rule, ...]:
    """Return the rules of a language (``zh`` or ``en``), the most important group first."""
    data = table(f"rules_{language}")
    found = [
        _rule(f"{language}.{name}.{item['id']}", _group(name), (group, item), data["macros"])
        for name, group in data["groups"].items()
        for item in group["rules"]
    ]
    return tuple(sorted(found, key=lambda rule: rule.priority))


@cache
def rule_of_belief(language: str, belief: str) -> Rule:
    """Return the rule that stands for facts which only the weighing found."""
    group = _group(table("groups")["classes"][belief])
    item = {"id": belief, "pattern": "", "importance": group["importance"] - 1}
    return _rule(f"{language}.learned.{belief}", group, ({}, item), {})


def _group(name: str) -> dict[str, Any]:
    data = table("groups")
    return {**data["defaults"], **data["groups"][name]}


def _rule(
    name: str, group: dict[str, Any], parts: tuple[dict[str, Any], dict[str, Any]], macros: dict[str, str]
) -> Rule:
    item = parts[1]
    merged = {**group, **item}
    unless = [part["unless"] for part in parts if part.get("unless")]
    return Rule(
        name=name,
        priority=merged["priority"],
        belief=merged["class"],
        memory_type=merged["memory_type"],
        category=Category(merged["category"]),
        importance=merged["importance"],
        scope=Scope(merged["scope"]),
        safety=merged["safety"],
        standing=merged["standing"],
        dated=merged["dated"],
        whole=merged["whole"],
        named=merged["named"],
        plain=merged["plain"],
        blocks=frozenset(merged["blocks"]),
        absorbs=frozenset(merged["absorbs"]),
        pattern=compiled(item["pattern"], macros),
        unless=compiled("|".join(unless), macros) if unless else None,
        needs=needed_classes(expanded(item["pattern"], macros)),
    )
