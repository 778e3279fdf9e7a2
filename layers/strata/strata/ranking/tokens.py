"""Text to search terms: one folding for everything that is searched, English stems, Chinese characters and bigrams.

Only searching folds; what is stored and delivered stays as it was written.
"""

import re
import unicodedata
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise

from strata.ranking.stems import stem

_HAN = "\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA_HANGUL = "\u3041-\u30ff\u31f0-\u31ff\uac00-\ud7af"
_DENSE = re.compile(f"[{_HAN}{_KANA_HANGUL}]")
_TOKEN = re.compile(f"[{_HAN}{_KANA_HANGUL}]+|[0-9]+(?:[.,][0-9]+)*|(?:(?![0-9{_HAN}{_KANA_HANGUL}_])\\w)+")
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]")
_ACCENT = re.compile("(?<=[a-z])[\u0300-\u036f]+")

DENSE_WORD_CHARACTERS = 3
"""A character of a dense script says about as much as this many letters."""

ENGLISH_STOP_WORDS = frozenset(
    """a about after again ain all am an and any are aren as at be because been before being but by can could
    couldn d did didn do does doesn doing don down during each few for from further had hadn has hasn have haven
    having he her here hers herself him himself his how i if in into is isn it its itself just ll m me more most
    my myself no nor not now o of off on once only or other our ours out over own re s same she should shouldn
    so some such t than that the their theirs them themselves then there these they this those through to too
    under until up us ve very was wasn we were weren what when where which while who whom why will with won
    would wouldn y you your yours yourself""".split()
)
CHINESE_STOP_CHARACTERS = frozenset(
    "的了着过是在我你他她它们这那有和与及就都也很吗呢吧啊呀哦嗯么之个得地把被让给对从到为以而"
)


def fold(text: str) -> str:
    """Return what two spellings of one text have in common.

    NFKC, lower case, no invisible characters, no accents on Latin letters, traditional Chinese as simplified.
    """
    if text.isascii():
        return text.lower()
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).casefold())
    if _DENSE.search(plain):
        plain = plain.translate(_simplified())
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", plain)))


@lru_cache(maxsize=512)  # a text that is looked for before it is stored is put on the shelf right afterwards
def terms(text: str) -> tuple[str, ...]:
    """Return the search terms of a text in their order, repeats included; stop words left out."""
    found: list[str] = []
    for token in _TOKEN.findall(fold(text)):
        if _DENSE.match(token):
            found.extend(_dense_terms(token))
        else:
            found.extend(_word_terms(token))
    return tuple(found)


def is_dense(text: str) -> bool:
    """Tell whether a text is written mainly without spaces (Chinese, Japanese, Korean)."""
    dense = len(_DENSE.findall(text))
    return dense > 0 and DENSE_WORD_CHARACTERS * dense >= sum(map(str.isalpha, text))


def _word_terms(token: str) -> list[str]:
    if token[0].isdigit():
        return [token.replace(",", "")]
    return [] if token in ENGLISH_STOP_WORDS else [stem(token)]


def _dense_terms(run: str) -> list[str]:
    """Characters and bigrams of a run without spaces; a bigram of two function words says nothing."""
    single = [character for character in run if character not in CHINESE_STOP_CHARACTERS]
    pairs = pairwise(run)
    return single + [a + b for a, b in pairs if not (a in CHINESE_STOP_CHARACTERS and b in CHINESE_STOP_CHARACTERS)]


@lru_cache(maxsize=1)
def _simplified() -> dict[int, str]:
    lines = (files("strata.ranking") / "data" / "simplified.txt").read_text(encoding="utf-8").splitlines()[1:]
    return {ord(pair[0]): pair[1] for line in lines for pair in line.split(" ")}
