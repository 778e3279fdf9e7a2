"""One spelling for characters that mean the same: width, case, traditional and simplified, quotes, separators.

Only for comparing. What is stored keeps every character it came with.
"""

import re
import unicodedata
from functools import lru_cache

from strata.dedup.resources import load_json

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""The ranges of Han characters, for use inside a character class."""

_SEPARATORS = dict.fromkeys(map(ord, ",;。!…‥·•|(){}[]<>〈〉《》【】〔〕~*_=^`\\—―─"), ",")
_QUOTES = dict.fromkeys(map(ord, '"“”„‟«»‹›「」『』〝〞'), None)
_DASHES = dict.fromkeys(map(ord, "‐‑‒–−"), "-")
_APOSTROPHES = dict.fromkeys(map(ord, "‘’‛ʼ´"), "'")
_AMPERSAND = {ord("&"): " and "}

_ABBREVIATIONS = (
    (re.compile(r"\b([a-z])\.(?:([a-z])\.)(?:([a-z])\.)?"), r"\1\2\3"),  # p.m. → pm
    (re.compile(r"\b(mr|mrs|ms|dr|prof|vs)\."), r"\1 "),
    (re.compile(r"(?<![a-z0-9])\.|\.(?![a-z0-9])"), ","),  # 3.5 and a@x.com keep their points
)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_INSIDE_NUMBERS = {
    ":": (re.compile(r"(?<!\d):|:(?!\d)"), ","),  # 10:30 keeps its colon
    "/": (re.compile(r"(?<!\d)/|/(?!\d)"), ","),
    "-": (re.compile(r"(?<!\d)-|-(?!\d)"), " "),  # left-handed is two words, 9-18 a range
}
_DIGIT_BY_LETTER = re.compile(r"(?<![@.])(?<=\d)(?=[a-z])(?!\S*[@.])|(?<=[a-z])(?=\d)(?!\S*[@.])")  # 70kg
_BESIDE_HAN = re.compile(rf"(?<=[{CJK}]) | (?=[{CJK}])")
_STOPS = re.compile(r" ?[,?][ ,?]*")


@lru_cache(maxsize=1)
def _characters() -> dict[int, str | None]:
    """Every single-character replacement in one table."""
    table = load_json("simplified.json")
    simplified = dict(zip(map(ord, table["traditional"]), table["simplified"], strict=True))
    return {**simplified, **_SEPARATORS, **_QUOTES, **_DASHES, **_APOSTROPHES, **_AMPERSAND}


def fold(text: str) -> str:
    """``text`` without the differences a reader would not call a difference.

    Separators become ``,`` (a question mark stays one), since where a clause ends can change what is said.
    """
    visible = _compatible(_visible(text))
    folded = _punctuated(_THOUSANDS.sub("", visible).translate(_characters()))
    return tidied(_DIGIT_BY_LETTER.sub(" ", folded))


def tidied(text: str) -> str:
    """``text`` with single spaces, none beside Han characters, and one mark per stop, none at the ends but ``?``."""
    spaced = " ".join(text.split())
    if " " in spaced:
        spaced = _BESIDE_HAN.sub("", spaced)
    if "," in spaced or "?" in spaced:
        spaced = _STOPS.sub(lambda stop: "?" if "?" in stop[0] else ",", spaced).strip(" ,")
    return spaced


def _punctuated(text: str) -> str:
    if "." in text:
        for pattern, replacement in _ABBREVIATIONS:
            text = pattern.sub(replacement, text)
    for mark, (pattern, replacement) in _INSIDE_NUMBERS.items():
        if mark in text:
            text = pattern.sub(replacement, text)
    return text


def _visible(text: str) -> str:
    """Drop what has no width: joiners, byte-order marks, variation selectors, controls."""
    return text if text.isprintable() and not _MARKED.search(text) else "".join(_shown(c) for c in text)


_MARKED = re.compile("[\ufe00-\ufe0f]")


def _shown(character: str) -> str:
    if character.isspace():
        return " "
    category = unicodedata.category(character)
    invisible = category in {"Cf", "Cc"} or "\ufe00" <= character <= "\ufe0f"
    return "" if invisible else character


def _compatible(text: str) -> str:
    """NFKC and case folding; the second NFKC undoes what folding took apart."""
    if text.isascii():
        return text.casefold()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
