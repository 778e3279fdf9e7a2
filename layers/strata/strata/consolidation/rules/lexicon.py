"""Words by class: a text with its foods, people, reactions … replaced by one class character each.

Rules are written over classes (``<food>``, ``<reaction>``), so that what they know about one food they know about all.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from strata.consolidation.folding import Folded, fold
from strata.consolidation.rule_data import table

CLASSES: Mapping[str, str] = {
    name: chr(0xE000 + index)
    for index, name in enumerate(
        (
            "food",
            "alcohol",
            "allergen",
            "drug",
            "condition",
            "pregnant",
            "ailment",
            "reaction",
            "body",
            "person",
            "stranger",
            "pet",
            "equipment",
            "agent",
            "nausea",
        )
    )
}
"""Class name to its character in coded text."""

NAMES: Mapping[str, str] = {character: name for name, character in CLASSES.items()}


@dataclass(frozen=True, slots=True)
class Coded:
    """A text over words and class characters; ``starts`` and ``ends`` give each character's place in the original."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    original: str

    def source(self, start: int, end: int) -> str:
        """Return the original text of a coded range."""
        if start >= end:
            return ""
        return self.original[self.starts[start] : self.ends[end - 1]]


def code(text: str) -> Coded:
    """Return the text with every known word replaced by its class character."""
    folded = fold(text)
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for piece, start, end in _pieces(folded):
        parts.append(piece)
        starts.append(folded.offsets[start])
        ends.append(folded.offsets[end - 1] + 1)
    return Coded("".join(parts), tuple(starts), tuple(ends), text)


def _pieces(folded: Folded) -> Iterator[tuple[str, int, int]]:
    """Yield (character, start, end) over the folded text; a known word is one class character."""
    text, index = folded.text, _index()
    reached = 0
    for token in _TOKEN.finditer(text):
        start, end = token.span()
        if start < reached:
            continue
        word, name = _longest(text, start, index.get(token.group(), ()))
        reached = max(end, start + len(word))
        if name in CLASSES:
            yield CLASSES[name], start, reached
        else:
            yield from ((text[place], place, place + 1) for place in range(start, reached))


def _longest(text: str, start: int, candidates: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """Return the longest word that begins here and its class; ('', '') if there is none."""
    for word, name in candidates:
        if text.startswith(word, start) and not _RUNS_ON.match(text, start + len(word) - 1):
            return word, name
    return "", ""


_LATIN = "a-z0-9&\u00e0-\u024f"
_TOKEN = re.compile(f"[{_LATIN}]+|.", re.DOTALL)
_RUNS_ON = re.compile(f"[{_LATIN}]{{2}}")
"""Over the last letter of a Latin word and what follows: the word goes on."""


@cache
def _index() -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the words by what they begin with (a Latin word or a character), longest first."""
    grouped: dict[str, dict[str, str]] = {}
    for word, name in _entries():
        first = _TOKEN.match(word)
        key = first.group() if first else word
        grouped.setdefault(key, {}).setdefault(word, name)
    return {key: tuple(sorted(words.items(), key=lambda item: -len(item[0]))) for key, words in grouped.items()}


def _entries() -> Iterator[tuple[str, str]]:
    """Yield every word with its class; hidden words first, so that they win."""
    for name, words in table("lexicon_zh")["classes"].items():
        for word in words.split():
            yield fold(word).text, name
    for name, words in table("lexicon_en")["classes"].items():
        for word in words.replace("\n", " ").split(","):
            plain = " ".join(fold(word).text.split())
            if plain:
                yield plain, name
                if name not in {"none", "reaction", "nausea"}:
                    yield _plural(plain), name


def _plural(noun: str) -> str:
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun if noun.endswith("s") else noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    if noun.endswith("o"):
        return noun + "es" if noun.endswith(("to", "go")) else noun + "s"
    return noun + "s"
