"""The pattern language of the rule data.

Patterns are regular expressions over coded text. ``<food>`` is a class or a macro; ``~8`` is a gap of up to eight
characters; a blank in an English pattern is a blank.
"""

import re
from collections.abc import Iterator, Mapping

from strata.consolidation.rules.lexicon import CLASSES

_REFERENCE = re.compile(r"(?<!\?P)(?<!\(\?)<([a-z][a-z0-9_]*)>")
_GAP = re.compile(r"~(\d+)")
_DEPTH = 6
_WIDER: Mapping[str, tuple[str, ...]] = {"reaction": ("reaction", "nausea"), "harm": ("reaction",)}
"""Nausea is a reaction too, but one that a mere smell can cause; harm is any other."""


def compiled(pattern: str, macros: Mapping[str, str]) -> re.Pattern[str]:
    """Compile a pattern of the rule data. Raises KeyError for an unknown reference, re.error for bad syntax."""
    return re.compile(expanded(pattern, macros))


def expanded(pattern: str, macros: Mapping[str, str]) -> str:
    """Return the regular expression behind a pattern."""
    text = "".join(line.strip() if "\n" in pattern else line for line in pattern.split("\n"))
    for _ in range(_DEPTH):
        text, count = _REFERENCE.subn(lambda match: _meaning(match.group(1), macros), text)
        if not count:
            break
    return _GAP.sub(r".{0,\1}?", text)


def _meaning(name: str, macros: Mapping[str, str]) -> str:
    if name in _WIDER:
        return f"(?:{'|'.join(CLASSES[part] for part in _WIDER[name])})"
    if name in CLASSES:
        return CLASSES[name]
    return f"(?:{macros[name]})"


def needed_classes(expression: str) -> frozenset[str]:
    """Return class characters of which every match holds at least one; empty if it may hold none."""
    needed: frozenset[str] = frozenset()
    for alternative in _alternatives(expression):
        found = next((classes for atom in _atoms(alternative) if (classes := _needed_by(atom))), frozenset[str]())
        if not found:
            return frozenset()
        needed |= found
    return needed


def _needed_by(atom: str) -> frozenset[str]:
    if atom in _CLASS_CHARACTERS:
        return frozenset(atom)
    if atom.startswith("(?:") and atom.endswith(")"):
        return needed_classes(atom[3:-1])
    return frozenset()


def _alternatives(expression: str) -> Iterator[str]:
    """Split at the bars outside of groups."""
    start = 0
    for index, character, depth in _depths(expression):
        if character == "|" and depth == 0:
            yield expression[start:index]
            start = index + 1
    yield expression[start:]


def _atoms(sequence: str) -> Iterator[str]:
    """Yield the characters and groups of a sequence that no quantifier makes optional."""
    start = 0
    for index, character, depth in _depths(sequence):
        if depth == 0 and character != "(" and not sequence.startswith(_OPTIONAL, index + 1):
            yield sequence[start : index + 1] if character == ")" else character
        if depth == 0:
            start = index + 1 if character != "(" else start


def _depths(expression: str) -> Iterator[tuple[int, str, int]]:
    """Yield index, character and nesting behind it, for every character that is not escaped."""
    depth = 0
    escaped = False
    for index, character in enumerate(expression):
        if escaped or character == "\\":
            escaped = not escaped
            continue
        depth += (character in "([") - (character in ")]")
        yield index, character, depth


_OPTIONAL = ("?", "*", "{0")
_CLASS_CHARACTERS = frozenset(CLASSES.values())
