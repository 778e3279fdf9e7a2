"""Mid-sentence corrections: of "almonds, no wait, walnuts" only the walnuts were said."""

import re
from functools import cache

from strata.consolidation.rule_data import table
from strata.consolidation.rules.lexicon import CLASSES, Coded, code
from strata.consolidation.rules.patterns import compiled

_KINDS = (frozenset("food alcohol allergen drug pet".split()), frozenset(("person",)), frozenset(("equipment",)))
_REACH = 28
"""Coded characters between what was said wrongly and its correction."""
_ROUNDS = 3


def corrected(text: str) -> Coded:
    """Return the coded text without what its speaker took back."""
    coded = code(text)
    for _ in range(_ROUNDS):
        span = _taken_back(coded)
        if span is None:
            break
        text = coded.original[: span[0]] + coded.original[span[1] :]
        coded = code(text)
    return coded


def _taken_back(coded: Coded) -> tuple[int, int] | None:
    """Return the original range from the wrong word to the right one."""
    for marker in _markers().finditer(coded.text):
        right = _next_entity(coded, marker.end())
        if right is None:
            continue
        wrong = _entity_before(coded.text, marker.start(), coded.text[right])
        if wrong is not None:
            return coded.starts[wrong], coded.starts[right]
    return None


def _next_entity(coded: Coded, start: int) -> int | None:
    """The first known word behind a marker that is not followed by another rejection of itself ("not dust, dogs")."""
    for index in range(start, min(start + _REACH, len(coded.text))):
        if coded.text[index] in _classes() and not _negated().search(coded.text, max(0, index - 5), index):
            return index
    return None


def _entity_before(text: str, end: int, like: str) -> int | None:
    """The start of the last word of the same kind before a marker, with the words that belong to it."""
    for index in range(end - 1, max(end - _REACH, -1), -1):
        if _same_kind(text[index], like):
            return _phrase_start(text, index)
    return None


def _phrase_start(text: str, index: int) -> int:
    while index >= 2 and text[index - 1] == " " and _same_kind(text[index - 2], text[index]):  # noqa: PLR2004
        index -= 2
    negation = _negated().search(text, max(0, index - 5), index)
    return negation.start() if negation else index


def _same_kind(character: str, other: str) -> bool:
    return any(character in kind and other in kind for kind in _kinds())


@cache
def _kinds() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(CLASSES[name] for name in kind) for kind in _KINDS)


@cache
def _classes() -> frozenset[str]:
    return frozenset().union(*_kinds())


@cache
def _markers() -> re.Pattern[str]:
    return compiled(table("talk")["corrections"]["marker"], {})


@cache
def _negated() -> re.Pattern[str]:
    return re.compile(table("talk")["corrections"]["negated"])
