"""Porter's suffix stripping for English (M. F. Porter, "An algorithm for suffix stripping", 1980), rules as data.

Stems are compared with stems and never shown. Words are lower-case ASCII letters; others come back unchanged.
"""

import re
from functools import lru_cache

SHORTEST = 3
"""Words below this length have no suffix to lose."""
CACHED_WORDS = 32_768

_Y_AS_VOWEL = re.compile(r"(?<=[^aeiou])y")
_VOWELS = re.compile(r"[aeiouY]+")
_CONSONANTS = re.compile(r"[^V]+")
_DOUBLED = re.compile(r"([^aeioulsz])\1$")
_SHORT = re.compile(r"[^aeiouY][aeiouY][^aeiouwxyY]$")

_NOUNS = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_ADJECTIVES = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_ENDINGS = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti", "ous", "ive", "ize",
    "al", "er", "ic", "ou",
)  # fmt: skip


@lru_cache(maxsize=CACHED_WORDS)
def stem(word: str) -> str:
    """Return the stem, e.g. ``allergies`` and ``allergy`` → ``allergi``."""
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha()):
        return word
    word = _past(_plural(word))
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(_replaced(word, _NOUNS), _ADJECTIVES)
    return _final(_shortened(word))


def _sounds(text: str) -> str:
    return _CONSONANTS.sub("C", _VOWELS.sub("V", _Y_AS_VOWEL.sub("Y", text)))


def _measure(text: str) -> int:
    return _sounds(text).count("VC")


def _has_vowel(text: str) -> bool:
    return "V" in _sounds(text)


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        left = word.removesuffix(ending)
        if left != word and _has_vowel(left):
            return _restored(left)
    return word


def _restored(left: str) -> str:
    if left.endswith(("at", "bl", "iz")):
        return left + "e"
    if _DOUBLED.search(left):
        return left[:-1]
    return left + "e" if _measure(left) == 1 and _is_short(left) else left


def _is_short(text: str) -> bool:
    return _SHORT.search(_Y_AS_VOWEL.sub("Y", text)) is not None


def _replaced(word: str, rules: dict[str, str]) -> str:
    for ending, other in rules.items():
        if word.endswith(ending):
            left = word.removesuffix(ending)
            return left + other if _measure(left) else word
    return word


def _shortened(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending):
            left = word.removesuffix(ending)
            allowed = _measure(left) > 1 and (ending != "ion" or left.endswith(("s", "t")))
            return left if allowed else word
    return word


def _final(word: str) -> str:
    left = word.removesuffix("e")
    if left != word and (_measure(left) > 1 or (_measure(left) == 1 and not _is_short(left))):
        word = left
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
