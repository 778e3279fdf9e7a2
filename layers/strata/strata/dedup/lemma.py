"""The dictionary form of an English word: inflection only, so that *hikes* and *hiking* are one word
and *hop* and *hope* are two.

The rules do the regular forms; ``data/lemmas_en.json`` holds what they would get wrong among common words.
"""

import re
from functools import lru_cache

from strata.dedup.resources import load_json

_DOUBLED = re.compile(r"([bdgmnprt])\1$")
_LOST_E = re.compile(
    r"(?:[^aeiou][aeiou][bcdgklmnpstvz]|[aeiou][uv]|[^aeiou]u|[aeiou]{2}[sz]|[cvz]|[lr]g|ng|dl|tl|rs|ns)$"
)
_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)es$")
_VOWEL = re.compile(r"[aeiouy]")


@lru_cache(maxsize=1)
def _exceptions() -> dict[str, str]:
    return load_json("lemmas_en.json")


@lru_cache(maxsize=16_384)
def lemma(word: str) -> str:
    """The dictionary form of one lower-case word; a word no rule knows comes back unchanged."""
    known = _exceptions().get(word)
    return known if known is not None else regular_lemma(word)


def regular_lemma(word: str) -> str:
    """The same by rule alone."""
    if len(word) < 4:  # noqa: PLR2004 (a plural or a tense needs a stem in front of it)
        return word
    if word.endswith("s"):
        return _without_s(word)
    if word.endswith("ied"):
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 1 and _VOWEL.search(stem):
            return _restored(stem)
    return word


def _without_s(word: str) -> str:
    if word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004 (ties, pies)
        return word[:-3] + "y"
    if _SIBILANT.search(word):
        return word[:-2]
    return word[:-1]


def _restored(stem: str) -> str:
    """*hik* → *hike*, *stopp* → *stop*."""
    if _DOUBLED.search(stem):
        return stem[:-1]
    return stem + "e" if _LOST_E.search(stem) else stem
