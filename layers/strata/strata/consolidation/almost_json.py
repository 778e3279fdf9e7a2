"""JSON as models write it: Python literals, single or curly quotes, trailing commas, comments, bare keys, full-width
punctuation, quotes inside quotes, backslashes that escape nothing.

It forgives spelling, never an ending: a text that stops inside a value is Unfinished, and nothing is closed in its
stead, because half an answer that parses would be taken for a whole one.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

MAX_DEPTH = 32

_QUOTES = {'"': '"', "'": "'", "“": '”“"', "”": '”"', "‘": "’'", "＂": "＂", "「": "」", "『": "』"}
_OPENINGS = {"{": "{", "｛": "{", "[": "[", "［": "[", "【": "["}
_CLOSINGS = {"}": "}", "｝": "}", "]": "]", "］": "]", "】": "]"}
_COMMAS = ",，、"
_COLONS = ":："
_AFTER_VALUE = frozenset(_COMMAS + "".join(_CLOSINGS))
_AFTER_KEY = frozenset(_COLONS + "=")
_WORDS = {"true": True, "false": False, "null": None, "none": None, "undefined": None, "nan": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_SPACE = re.compile(r"(?:[\s\ufeff\u200b]+|//[^\n]*|\#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[^\W\d][\w-]*")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_JSON_BEGINS = re.compile(
    r"[{｛]\s*(?:[\"'“”‘＂「『}｝/#]|[^\W\d][\w-]*\s*[:：])|[\[［【]\s*(?:[\"'“‘＂「『{｛\]］】/]|-?\d+\s*[,\]])"
)


class Unfinished(ValueError):
    """The text ends inside a value."""


class Malformed(ValueError):
    """The text is no JSON, not even nearly."""


def _joined(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object. A name that comes twice has both lists; two different values are no answer to anything."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        before = found.get(name, value)
        if isinstance(before, list) and isinstance(value, list) and name in found:
            value = [*before, *value]  # noqa: PLW2901 both of them
        elif before != value:
            raise Malformed
        found[name] = value
    return found


_STRICT = json.JSONDecoder(strict=False, object_pairs_hook=_joined)


def begins(text: str, at: int = 0) -> int | None:
    """Return where the next object or array begins that is meant as JSON, or None."""
    found = _JSON_BEGINS.search(text, at)
    return found.start() if found else None


def read(text: str, at: int) -> tuple[Any, int]:
    """Return the value that begins at ``at`` and where it ends.

    Raises:
        Unfinished: the text ends before the value does.
        Malformed: it is no value.
    """
    try:
        return _STRICT.raw_decode(text, at)
    except Malformed:
        raise
    except ValueError:
        reader = _Reader(text, at)
        return reader.value(0), reader.at
    except RecursionError:
        raise Malformed from None


class _Reader:
    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def value(self, depth: int) -> object:
        letter = self._peek()
        if depth > MAX_DEPTH:
            raise Malformed
        if letter in _OPENINGS:
            return self._object(depth) if _OPENINGS[letter] == "{" else self._array(depth)
        if letter in _QUOTES:
            return self._string(_AFTER_VALUE)
        return self._scalar()

    def _peek(self) -> str:
        """Skip space and comments; return the next letter."""
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        if self.at >= len(self.text):
            raise Unfinished
        return self.text[self.at]

    def _object(self, depth: int) -> dict[str, object]:
        self.at += 1
        pairs: list[tuple[str, object]] = []
        while not self._closed("}"):
            key = self._key()
            if self._peek() not in _AFTER_KEY:
                raise Malformed
            self.at += 2 if self.text.startswith("=>", self.at) else 1
            pairs.append((key, self.value(depth + 1)))
        return _joined(pairs)

    def _array(self, depth: int) -> list[object]:
        self.at += 1
        found: list[object] = []
        while not self._closed("]"):
            found.append(self.value(depth + 1))
        return found

    def _closed(self, closing: str) -> bool:
        """Skip commas, also superfluous ones; tell whether the container ends here."""
        while (letter := self._peek()) in _COMMAS:
            self.at += 1
        if letter not in _CLOSINGS:
            return False
        if _CLOSINGS[letter] != closing:
            raise Malformed
        self.at += 1
        return True

    def _key(self) -> str:
        if self._peek() in _QUOTES:
            return self._string(_AFTER_KEY)
        return self._match(_WORD)

    def _scalar(self) -> object:
        if _NUMBER.match(self.text, self.at):
            number = float(self._match(_NUMBER))
            return int(number) if number.is_integer() else number
        word = self._match(_WORD).lower()
        if word in _WORDS:
            return _WORDS[word]
        if self.at >= len(self.text):
            raise Unfinished
        raise Malformed

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise Malformed
        self.at = found.end()
        return found[0]

    def _string(self, followers: frozenset[str]) -> str:
        """Read on to a closing quote with one of ``followers`` behind it; other quotes belong to the text."""
        closers = _QUOTES[self.text[self.at]]
        self.at += 1
        letters: list[str] = []
        while self.at < len(self.text):
            letter = self.text[self.at]
            self.at += 1
            if letter == "\\":
                letters.append(self._escape())
            elif letter in closers and self._ends(followers):
                return "".join(letters)
            else:
                letters.append(letter)
        raise Unfinished

    def _ends(self, followers: frozenset[str]) -> bool:
        space = _SPACE.match(self.text, self.at)
        behind = space.end() if space else self.at
        if behind >= len(self.text):
            return True
        if behind > self.at and self.text[behind] in _QUOTES:
            raise Malformed  # two strings without a comma, or a quotation: nobody can tell
        return self.text[behind] in followers

    def _escape(self) -> str:
        if self.at >= len(self.text):
            raise Unfinished
        letter = self.text[self.at]
        self.at += 1
        if letter != "u":
            return _ESCAPES.get(letter, "\\" + letter)
        found = _HEX.match(self.text, self.at)
        if found is None:
            return "\\u"
        self.at += 4
        return chr(int(found[0], 16))
