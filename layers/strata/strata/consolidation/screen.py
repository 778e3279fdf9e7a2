"""What must never be settled: secrets and card numbers, and text that tells a model what to do.

``redact`` is for everybody's words, before any judge or log sees them. ``instructs`` is for words that no user said:
tools, documents, other agents. Matching is done on folded text, so that full-width letters and invisible characters
hide nothing; what is stored keeps its own spelling.
"""

import re
from collections.abc import Iterator
from functools import cache

from strata.consolidation.folding import Folded, fold
from strata.consolidation.rule_data import table
from strata.consolidation.texts import has_han

MARK = "[redacted]"
MARK_ZH = "[已隐去]"
"""What stands where a secret stood, in the language of the text around it."""

_DIGITS = re.compile(r"(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d.])")
_ID_CARD = re.compile(r"(?<!\d)[1-9]\d{16}[\dx](?![\da-z])")
_IBAN = re.compile(r"\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){3,7}(?: ?[a-z0-9]{1,3})?\b")
_LETTER = re.compile("[a-z]")
_SPACED_LETTERS = re.compile(r"\b(?:[a-z][ .*_-]){5,}[a-z]\b")
_SPACED_HAN = re.compile(r"(?<=[\u4e00-\u9fff])[ .*_-]+(?=[\u4e00-\u9fff])")
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u051b\u03bf\u03b1\u03b9\u03bd\u03c1",
    "aeopcyxijsdhqoaivp",
)
"""Cyrillic and Greek letters that look like Latin ones, after folding to lower case."""
_QUOTED = re.compile(r'"[^"\n]{3,200}"|`[^`\n]{3,200}`|(?<!\w)\'[^\'\n]{3,200}\'(?!\w)')


def redact(text: str) -> str:
    """Return the text with passwords, keys, tokens, card and identity numbers taken out; the rest is untouched."""
    folded = fold(text)
    spans = sorted(_secrets(folded.text))
    if not spans:
        return text
    mark = MARK_ZH if has_han(text) else MARK
    parts: list[str] = []
    position = 0
    for start, end in _original(folded, spans):
        if start >= position:
            parts += [text[position:start], mark]
        position = max(position, end)
    return "".join([*parts, text[position:]])


def instructs(text: str) -> bool:
    """Tell whether a text gives standing orders to a model, takes over its role, or asks for what it hides."""
    folded = _without_mentions(fold(text).text)
    return any(pattern.search(seen) for seen in _ways_to_read(folded) for pattern in _orders_in(seen))


def _ways_to_read(folded: str) -> set[str]:
    """Return a text as it stands, without the gaps between its letters, and with the letters that some look like."""
    joined = _SPACED_LETTERS.sub(lambda match: re.sub(r"[ .*_-]", "", match.group()), folded)
    if folded.isascii():
        return {folded, joined}
    return {folded, joined, _SPACED_HAN.sub("", folded), folded.translate(_LOOKALIKES)}


def _orders_in(text: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns that may match a text, by the characters it has."""
    latin = _orders("latin") if _LETTER.search(text) else ()
    return latin if text.isascii() else latin + _orders("beyond")


def _secrets(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of folded text that must go."""
    for pattern in _labelled():
        for match in pattern.finditer(text):
            if _is_value(match["value"]):
                yield match.span("value")
    for pattern in _bare():
        yield from (match.span() for match in pattern.finditer(text))
    for match in _DIGITS.finditer(text):
        if _is_card(match.group()):
            yield match.span()
    yield from (match.span() for match in _ID_CARD.finditer(text) if _is_identity(match.group()))
    yield from (match.span() for match in _IBAN.finditer(text) if _is_iban(match.group()))


def _is_value(value: str) -> bool:
    bare = value.strip(".!?)]}'\"")
    return bare not in _no_values() and MARK.strip("[]") not in value and bool(bare)


def _is_card(number: str) -> bool:
    """Luhn's check, on what begins like a card number."""
    digits = re.sub(r"\D", "", number)
    if not _card_prefix().match(digits):
        return False
    doubled = (int(digit) * (1 + index % 2) for index, digit in enumerate(reversed(digits)))
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0  # noqa: PLR2004 (Luhn)


def _is_identity(number: str) -> bool:
    """The check character of a Chinese identity card (GB 11643)."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(weight * int(digit) for weight, digit in zip(weights, number[:17], strict=True))
    return "10x98765432"[total % 11] == number[17]


def _is_iban(text: str) -> bool:
    """The check of ISO 13616: letters as numbers, the first four characters last, modulo 97."""
    compact = text.replace(" ", "")
    moved = compact[4:] + compact[:4]
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1


def _original(folded: Folded, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for start, end in spans:
        yield folded.offsets[start], folded.offsets[end - 1] + 1


def _without_mentions(text: str) -> str:
    """Drop quotations from sentences that only speak about them."""
    unquoted = _QUOTED.sub(" ", text)
    return unquoted if unquoted != text and _mentions().search(unquoted) else text


@cache
def _labelled() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for pattern in table("screen")["secrets"]["labelled"])


@cache
def _bare() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.DOTALL) for pattern in table("screen")["secrets"]["bare"])


@cache
def _no_values() -> frozenset[str]:
    return frozenset(table("screen")["secrets"]["no_values"].split())


@cache
def _card_prefix() -> re.Pattern[str]:
    return re.compile(table("screen")["cards"]["prefix"])


@cache
def _orders(characters: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns that need ``latin`` letters, or characters ``beyond`` ASCII."""
    return tuple(re.compile(pattern) for pattern in table("screen")["instructions"][characters])


@cache
def _mentions() -> re.Pattern[str]:
    return re.compile(table("screen")["instructions"]["mentions"])
