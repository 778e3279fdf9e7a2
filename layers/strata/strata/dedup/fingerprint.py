"""The text a memory is compared by, and its digest.

Two memories with one fingerprint state the same fact in the same words; more than that the guard has to prove.
"""

import hashlib
from functools import lru_cache

from strata.dedup.folding import fold, tidied
from strata.dedup.numerals import spell_out_numbers
from strata.dedup.patterns import pattern

_CONTRACTIONS = tuple(
    (pattern(found), replacement)
    for found, replacement in (
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
_SHORTENED = pattern(r"'|cannot|\b(?:do|does|did|is|are|was|were|has|have|had|ca|wo|should|would|could|must)nt\b")

_REPORTED = pattern(
    r"^(?:(?:已?(?:经)?[和跟与向]用户(?:再次)?(?:确认|核实|沟通)(?:过|了)?|用户(?:再次)?(?:确认|表示|提到|说过?|告知|强调|反映|透露|补充|明确)(?:了|过)?)"
    r"(?:,|说|自己|他|她|其)*"
    r"|(?:(?:it (?:is|was) )?(?:re)?confirmed (?:with|by) (?:the )?user|(?:the )?user (?:has )?(?:again )?"
    r"(?:said|says|mentioned|mentions|confirmed|confirms|stated|states|noted|told us|stressed|added|reported))"
    r"(?:,| that\b)* ?(?:(?:they|he|she) )?)"
)
_SUBJECT = pattern(
    r"^(?:(?:用户|使用者)(?![名界手量数群体端组旅])(?:自己|本人)?(?:的(?!确))?"
    r"|我(?![们国家])(?:自己|本人)?(?:的(?!确))?"
    r"|(?:the )?user (?:s (?:own )?)?(?!(?:interface|name|manual|group|id|account|story|guide|base|experience)s?\b)"
    r"|i (?=[a-z])|my )"
)


@lru_cache(maxsize=32_768)  # the same stored texts are compared with every candidate of a batch
def canonical(text: str) -> str:
    """``text`` folded, with contractions taken apart and numbers in digits; every word still there."""
    folded = fold(text)
    if _SHORTENED.search(folded):
        for found, replacement in _CONTRACTIONS:
            folded = found.sub(replacement, folded)
        folded = tidied(folded)
    for _ in range(_MOST_PASSES):
        spelled = spell_out_numbers(folded)
        if spelled == folded:
            break
        folded = tidied(spelled)  # a number found may set another one free
    return folded


_MOST_PASSES = 8


@lru_cache(maxsize=32_768)
def normalise(text: str) -> str:
    """The form in which texts are compared: ``canonical`` without its report and subject prefix.

    Idempotent, and never stored in the place of the text. A text that is nothing but a prefix keeps it.
    """
    bare = canonical(text)
    while True:
        shorter = _SUBJECT.sub("", without_report(bare)).strip(" ,")
        if not shorter or shorter == bare:
            return bare
        bare = shorter


def without_report(text: str) -> str:
    """Canonical ``text`` without "confirmed with the user:" and the like: who wrote it down is not what it says."""
    rest = _REPORTED.sub("", text).lstrip(" ,")
    return rest or text


def fingerprint(text: str) -> str:
    """SHA-256 of the normalised text, hex."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()
