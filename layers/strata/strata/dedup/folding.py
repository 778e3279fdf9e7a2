"""One spelling for characters that mean the same: width, case, traditional and simplified, quotes, separators.

Only for comparing. What is stored keeps every character it came with.
"""

import unicodedata
from functools import lru_cache

from strata.dedup.patterns import pattern
from strata.dedup.resources import load_json

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""The ranges of Han characters, for use inside a character class."""

_SEPARATORS = dict.fromkeys(map(ord, ",;。!…‥·•|(){}[]<>〈〉《》【】〔〕~*_=^`\\—―─"), ",")
_QUOTES = dict.fromkeys(map(ord, '"“”„‟«»‹›「」『』〝〞'), None)
_DASHES = dict.fromkeys(map(ord, "‐‑‒–−"), "-")
_APOSTROPHES = dict.fromkeys(map(ord, "‘’‛ʼ´"), "'")
_AMPERSAND = {ord("&"): " and "}

_ABBREVIATIONS = (
    (pattern(r"\b([a-z])\.(?:([a-z])\.)(?:([a-z])\.)?"), r"\1\2\3"),  # p.m. → pm
    (pattern(r"\b(mr|mrs|ms|dr|prof|vs)\."), r"\1 "),
)
_LOOSE_POINT = pattern(r"(?<![a-z0-9])\.|\.(?![a-z0-9])")  # 3.5 and a@x.com keep theirs
_THOUSANDS = pattern(r"(?<=\d),(?=\d{3}(?!\d))")
_INSIDE_NUMBERS = {
    ":": (pattern(r"(?<!\d):|:(?!\d)"), ","),  # 10:30 keeps its colon
    "/": (pattern(r"(?<!\d)/|/(?!\d)"), ","),
    "-": (pattern(r"(?<!\d)-|-(?!\d)"), " "),  # left-handed is two words, 9-18 a range
}
_DIGIT_BY_LETTER = pattern(r"(?<![@.])(?<=\d)(?=[a-z])(?!\S{0,80}[@.])|(?<=[a-z])(?=\d)(?!\S{0,80}[@.])")  # 70kg
_BESIDE_HAN = pattern(rf"(?<=[{CJK}]) | (?=[{CJK}])")
_STOPS = pattern(r" ?[,?][ ,?]*")


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
    return tidied(folded)


def tidied(text: str) -> str:
    """``text`` with single spaces (one between a figure and its unit, none beside Han characters) and one mark per
    stop, none at the ends but ``?``.
    """
    pointed = _LOOSE_POINT.sub(",", text) if "." in text else text
    spaced = " ".join(_DIGIT_BY_LETTER.sub(" ", pointed).split())
    if " " in spaced:
        spaced = _BESIDE_HAN.sub("", spaced)
    if "," in spaced or "?" in spaced:
        spaced = _STOPS.sub(lambda stop: "?" if "?" in stop[0] else ",", spaced).strip(" ,")
    return spaced


def _punctuated(text: str) -> str:
    if "." in text:
        for found, replacement in _ABBREVIATIONS:
            text = found.sub(replacement, text)
    for mark, (found, replacement) in _INSIDE_NUMBERS.items():
        if mark in text:
            text = found.sub(replacement, text)
    return text


def _visible(text: str) -> str:
    """Drop what has no width: joiners, byte-order marks, variation selectors, controls."""
    return text if text.isprintable() and not _MARKED.search(text) else "".join(_shown(c) for c in text)


_MARKED = pattern("[\ufe00-\ufe0f]")


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
