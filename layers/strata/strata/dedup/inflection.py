"""What the form of English words says beside their meaning: tense, voice, question, and letters that are names."""

from collections.abc import Sequence

from strata.dedup.lexicon import lexicon
from strata.dedup.tokens import Kind

Form = tuple[str, str]
"""A word as it stands, and its dictionary form."""
Forms = Sequence[Form]

_INVERTED = frozenset("can could should will would may shall must".split())
_ALWAYS_INVERTED = frozenset("does did is are was were has am".split())
_SUBJECTS = frozenset("the a user i he she they it we you my his her their this that there our".split())
_OWNERS = frozenset("the a my his her their our that this".split())
_BETWEEN = frozenset("not never already just recently now always also".split())
_NAMED_BY_LETTER = frozenset(
    "project team group plan vitamin section class room type hepatitis block building gate platform option point unit "
    "terminal zone hall wing phase series model grade level line bus product service branch party person".split()
)
_NO_NOUN = frozenset(
    "be is are was were have has had do does did will would can could should must may might not in on at to for of and "
    "or but with by from as if because when while than daily every each".split()
)
_VERB_SUBJECT_REST = 3


def is_question(forms: Forms) -> bool:
    """Verb before subject: *Can the user eat …*, *Is Dad …*."""
    if len(forms) < _VERB_SUBJECT_REST or forms[1][0] == "not":
        return False
    first, second = forms[0][0], forms[1][0]
    return first in _ALWAYS_INVERTED or (first in _INVERTED and (second in _SUBJECTS or _is_person(second)))


def _is_person(word: str) -> bool:
    node = lexicon().english.next.get(word)
    return node is not None and node.entry is not None and node.entry[0].kind is Kind.PERSON


def is_over(forms: Forms, index: int) -> bool:
    """A past tense of a lasting state: *lived in Paris*, not *has lived*, *was moved*."""
    word, base = forms[index]
    if base not in lexicon().stative or word in {base, base + "s", base + "es", "has"} or word.endswith("ing"):
        return False
    before = next((form[1] for form in reversed(forms[:index]) if form[0] not in _BETWEEN), "")
    return before not in {"be", "have", "get"}


def is_auxiliary(forms: Forms, index: int) -> bool:
    """*has* before a participle: *has given up* owns nothing."""
    following = next((form for form in forms[index + 1 :] if form[0] not in _BETWEEN), ("", ""))
    return forms[index][1] == "have" and is_participle(following)


def is_participle(form: Form) -> bool:
    """Any form that is neither the plain one nor *-s* nor *-ing*; *left* is kept as it stands."""
    word, base = form
    return word == "left" or (word != base and not word.endswith(("s", "ing")))


def is_departure(forms: Forms, index: int) -> bool:
    """*she left early*, *has left*, *is left with the doorman*: the verb, not the side."""
    if forms[index][0] != "left":
        return False
    before = next((form for form in reversed(forms[:index]) if form[0] not in _BETWEEN), ("", ""))
    return before[1] in {"be", "have", "get"} or before[0] in _SUBJECTS - _OWNERS or _is_person(before[0])


def permits(forms: Forms, index: int) -> bool:
    """*may be left at the door* permits; *may be late* guesses."""
    following = [*forms[index + 1 : index + 3], ("", ""), ("", "")]
    return forms[index][0] == "may" and following[0][0] == "be" and is_participle(following[1])


def is_agent_mark(forms: Forms, index: int) -> bool:
    """*by* behind a passive names who did it: *was bitten by*, not *sits by the window*."""
    if forms[index][0] != "by" or not index:
        return False
    return is_participle(forms[index - 1]) and any(form[1] in {"be", "get"} for form in forms[:index])


def stands_alone(forms: Forms, index: int) -> bool:
    """*a* without a singular noun behind it is a name (project A is, client A wants); *her* without one is an object
    (owes her).
    """
    following = forms[index + 1] if index + 1 < len(forms) else None
    if following is None or following[0] in _NO_NOUN:
        return True
    if forms[index][0] != "a":
        return False
    named = index > 0 and forms[index - 1][1] in _NAMED_BY_LETTER
    return named or (following[0].endswith("s") and following[0] != following[1])
