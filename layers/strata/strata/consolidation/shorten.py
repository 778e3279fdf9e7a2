"""Cutting a text to a length without cutting a word, a number or a character in two."""

import re
import unicodedata

MARK = "…"
"""Stands for what was cut off."""
_SENTENCE_END = re.compile(r"[。！？!?；;]|\.(?=\s)")
_CLAUSE_END = re.compile(r"[，,、：:]")
_LEAST_SHARE = 0.5
"""A sentence or clause that ends before this share of the limit is too little to keep."""


def shortened(text: str, limit: int) -> str:
    """Return ``text`` if it has at most ``limit`` characters, else whole sentences of it, or whole words and a mark."""
    if len(text) <= limit:
        return text
    for boundary in (_SENTENCE_END, _CLAUSE_END):
        ends = [match.end() for match in boundary.finditer(text, 0, limit)]
        if ends and ends[-1] >= limit * _LEAST_SHARE:
            return text[: ends[-1]].rstrip("，,、：:； ")
    return text[: _word_end(text, limit - len(MARK))].rstrip() + MARK


def _word_end(text: str, limit: int) -> int:
    """Return the last place up to ``limit`` between two words; ``limit`` if the text is one endless word."""
    for place in range(limit, 0, -1):
        if _is_boundary(text[place - 1], text[place]):
            return place
    return limit


def _is_boundary(before: str, after: str) -> bool:
    if unicodedata.combining(after) or after in "\u200d\ufe0f\ufe0e" or before == "\u200d":
        return False
    if _is_number(before) and (_is_number(after) or after.isalpha()):
        return False  # 500|毫升, 12|:30, 3|kg
    return not (_is_word(before) and _is_word(after))


def _is_word(letter: str) -> bool:
    """Letters of scripts that put spaces between words, and what joins them."""
    return (letter.isalnum() and not _is_ideograph(letter)) or letter in "'’-_@"


def _is_number(letter: str) -> bool:
    return letter.isdigit() or letter in ".,:/%-" or letter in "零一二三四五六七八九十百千万亿两"


def _is_ideograph(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in {"W", "F"} and letter.isalpha()
