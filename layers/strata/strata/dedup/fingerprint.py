"""The text a memory is compared by, and its digest.

Two memories with one fingerprint state the same fact in the same words; more than that the guard has to prove.
"""

import hashlib
import re
from functools import lru_cache

from strata.dedup.folding import fold, tidied
from strata.dedup.numerals import spell_out_numbers

_CONTRACTIONS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\bcan't\b|\bcannot\b|\bcan`t\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"\bshan't\b", "shall not"),
        (r"n't\b", " not"),
        (r"\b(do|does|did|is|are|was|were|has|have|had|ca|wo|should|would|could|must)nt\b", r"\1 not"),
        (r"\bo'clock\b", "oclock"),
        (r"'m\b", " am"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (r"'d\b", " would"),
        (r"'s\b", " s"),
        (r"(?<=s)'(?!\w)", " s"),
        (r"'", " "),
    )
)
_SHORTENED = re.compile(r"'|nt\b|cannot")

_REPORTED = re.compile(
    r"^(?:(?:已?(?:经)?[和跟与向]用户(?:再次)?(?:确认|核实|沟通)(?:过|了)?|用户(?:再次)?(?:确认|表示|提到|说过?|告知|强调|反映|透露|补充|明确)(?:了|过)?)"
    r"(?:,|说|自己|他|她|其)*"
    r"|(?:(?:it (?:is|was) )?(?:re)?confirmed (?:with|by) (?:the )?user|(?:the )?user (?:has )?(?:again )?"
    r"(?:said|says|mentioned|mentions|confirmed|confirms|stated|states|noted|told us|stressed|added|reported))"
    r"(?:,| that\b)* ?(?:(?:they|he|she) )?)"
)
_SUBJECT = re.compile(
    r"^(?:(?:用户|使用者)(?![名界手量数群体端组旅])(?:自己|本人)?(?:的(?!确))?"
    r"|我(?![们国家])(?:自己|本人)?(?:的(?!确))?"
    r"|(?:the )?user (?:s (?:own )?)?(?!(?:interface|name|manual|group|id|account|story|guide|base|experience)s?\b)"
    r"|i (?=[a-z])|my )"
)


@lru_cache(maxsize=16_384)  # the same stored texts are compared with every candidate of a batch
def canonical(text: str) -> str:
    """``text`` folded, with contractions taken apart and numbers in digits; every word still there."""
    folded = fold(text)
    if _SHORTENED.search(folded):
        for pattern, replacement in _CONTRACTIONS:
            folded = pattern.sub(replacement, folded)
    return tidied(spell_out_numbers(folded))


def normalise(text: str) -> str:
    """The form in which texts are compared: ``canonical`` without its report and subject prefix.

    Idempotent, and never stored in the place of the text. A text that is nothing but a prefix keeps it.
    """
    whole = canonical(text)
    bare = without_report(whole)
    return _SUBJECT.sub("", bare).strip(" ,") or bare


def without_report(text: str) -> str:
    """Canonical ``text`` without "confirmed with the user:" and the like: who wrote it down is not what it says."""
    rest = _REPORTED.sub("", text).lstrip(" ,")
    return rest or text


def fingerprint(text: str) -> str:
    """SHA-256 of the normalised text, hex."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()
