"""Words by class: a text with its foods, people, reactions … replaced by one class character each.

Rules are written over classes (``<food>``, ``<reaction>``), so that what they know about one food they know about all.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from strata.consolidation.rule_data import table
from strata.consolidation.folding import Folded, fold

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
        )
    )
}
"""Class name to its character in coded text."""

NAMES: Mapping[str, str] = {character: name for name, character in CLASSES.items()}


@dataclass(frozen=True, slots=True)
class Coded:
    """A text over words and class characters. ``starts`` and ``ends`` give, per character, its place in the original."""

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
    """Yield (character, start, end) over the folded text."""
    text = folded.text
    position = 0
    while position < len(text):
        word, name = _longest(text, position)
        if name == "none" or not word:
            for index in range(position, position + max(len(word), 1)):
                yield text[index], index, index + 1
            position += max(len(word), 1)
        else:
            yield CLASSES[name], position, position + len(word)
            position += len(word)


def _longest(text: str, position: int) -> tuple[str, str]:
    """Return the longest word that begins here and its class; ('', '') if there is none."""
    index = _index()
    first = text[position]
    if first.isascii():
        if not first.isalnum() or (position and _is_latin(text[position - 1])):
            return "", ""
        match = _LATIN_WORD.match(text, position)
        candidates = index.get(match.group(), ()) if match else ()
    else:
        candidates = index.get(first, ())
    for word, name in candidates:
        if text.startswith(word, position) and not _runs_on(text, position + len(word)):
            return word, name
    return "", ""


_LATIN_WORD = re.compile(r"[a-z0-9&]+")


def _is_latin(character: str) -> bool:
    return character.isalnum() and (character.isascii() or character < "\u0250")


def _runs_on(text: str, end: int) -> bool:
    """Tell whether a Latin word goes on behind ``end``."""
    return end < len(text) and _is_latin(text[end - 1]) and _is_latin(text[end])


@cache
def _index() -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the words by what they begin with (a Latin word or a character), longest first."""
    grouped: dict[str, dict[str, str]] = {}
    for word, name in _entries():
        match = _LATIN_WORD.match(word)
        key = match.group() if match else word[0]
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
                if name not in {"none", "reaction"}:
                    yield _plural(plain), name


def _plural(noun: str) -> str:
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun if noun.endswith("s") else noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    if noun.endswith("o"):
        return noun + "es" if noun.endswith(("to", "go")) else noun + "s"
    return noun + "s"
