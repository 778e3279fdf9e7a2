"""One form for matching: width, case, traditional characters, invisible characters and quotes made equal.

The folded text keeps, for every character, where it stood in the original, so that what is stored is always the
user's own spelling.
"""

import unicodedata
from dataclasses import dataclass

from strata.consolidation.rule_data import table
from strata.dedup.resources import load_json

_INVISIBLE = frozenset(
    "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufe0f\ufe0e"
)
_PRIVATE = range(0xE000, 0xF900)


@dataclass(frozen=True, slots=True)
class Folded:
    """Text in its matching form; ``offsets[i]`` is the original index of its i-th character."""

    text: str
    offsets: tuple[int, ...]


def fold(text: str) -> Folded:
    """Return the matching form: NFKC, lower case, simplified characters, no invisible characters, straight quotes."""
    if text.isascii():
        return Folded(text.lower(), tuple(range(len(text))))
    characters: list[str] = []
    offsets: list[int] = []
    for index, character in enumerate(text):
        for folded in _fold_character(character):
            characters.append(folded)
            offsets.append(index)
    return Folded("".join(characters), tuple(offsets))


def _fold_character(character: str) -> str:
    known = _CACHE.get(character)
    if known is None:
        known = _folded(character)
        _CACHE[character] = known
    return known


def _folded(character: str) -> str:
    if character in _INVISIBLE:
        return ""
    if ord(character) in _PRIVATE:
        return " "
    mapped = _MAP.get(character)
    if mapped is not None:
        return mapped
    plain = unicodedata.normalize("NFKC", character).lower()
    if unicodedata.category(character) in {"So", "Sk"}:
        return " "
    return "".join(_MAP.get(part, part) for part in plain)


def _mapping() -> dict[str, str]:
    simplified = load_json("simplified.json")
    return {**dict(zip(simplified["traditional"], simplified["simplified"], strict=True)), **table("fold")["signs"]}


_MAP = _mapping()
# Every character folds to the same text for ever; the cache is bounded by the size of Unicode.
_CACHE: dict[str, str] = {}
