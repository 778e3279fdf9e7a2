"""A stretch of canonical text as tokens, function words included."""

import re
from collections.abc import Iterator
from functools import lru_cache

from strata.dedup.chinese import chinese, joined
from strata.dedup.english import NUMERAL, english
from strata.dedup.quantities import Number, pieces, value
from strata.dedup.tokens import Kind, Token

_RUN = re.compile(r"[\u3400-\u9fff、]+|[a-z][a-z\u00c0-\u024f]*(?:[ ][a-z\u00c0-\u024f]+)*|[^\s]")
_LAST_LATIN = "\u33ff"

_COUNTED = frozenset({"measure", "body", "condition", "office_thing", "symptom"})
"""Families after which a bare number is an amount; after any other thing it is part of the name."""


@lru_cache(maxsize=4_096)  # what is remembered repeats itself, word for word between two commas
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of one segment of canonical text, in order."""
    found: list[Token] = []
    for piece in pieces(joined(text)):
        if isinstance(piece, Token):
            found.append(piece)
        elif isinstance(piece, Number):
            found.append(_number(piece, found[-1] if found else None))
        else:
            found.extend(_words(piece, opening=not found))
    if all(token.surface != "family" for token in found):
        return tuple(found)
    return tuple(_as_people(token, found[index + 1 : index + 2]) for index, token in enumerate(found))


def _as_people(token: Token, behind: list[Token]) -> Token:
    """*the family goes*: people; *the family cat*: a home."""
    if token.surface != "family" or (behind and behind[0].kind is Kind.THING):
        return token
    return Token("FAMILY_PEOPLE", Kind.PERSON, "role", token.surface)


def _number(number: Number, before: Token | None) -> Token:
    """After a thing it names (会议室302, Redis 7), elsewhere it counts (is 6, 血压150)."""
    if before and before.kind in {Kind.THING, Kind.VALUE} and before.family not in _COUNTED:
        return Token(f"#{number.digits}", Kind.THING, "id", number.digits)
    return value("count" if number.counts else "n", float(number.digits), number.digits)


def _words(text: str, *, opening: bool) -> Iterator[Token]:
    for run in _RUN.findall(text):
        if run[0] > _LAST_LATIN or run == "、":
            yield from _chinese(run)
        elif run[0].isalpha():
            words = (*run.split(" "), NUMERAL) if text.endswith(run + " ") else tuple(run.split(" "))
            yield from _english(words, opening=opening)
        else:
            yield Token(run, Kind.THING, "?", run)


@lru_cache(maxsize=2_048)  # what stands around a number repeats itself where the number does not
def _english(words: tuple[str, ...], *, opening: bool) -> tuple[Token, ...]:
    return tuple(english(words, opening=opening))


@lru_cache(maxsize=2_048)
def _chinese(run: str) -> tuple[Token, ...]:
    return tuple(chinese(run))
