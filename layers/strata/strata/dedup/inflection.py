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
_OWNING = _OWNERS | frozenset({"s", "your", "most"})
"""After these a participle is an adjective: *their preferred airline*."""
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


_PARTICLES = frozenset("on off up down out away back over in".split())
_NO_OBJECT = frozenset("to of in at for with and or but that be is are was were not from by if when".split())
_IRREGULAR_PLURALS = frozenset("children grandchildren men women people feet teeth mice geese".split())
_LIKE_ITS_ROOT = frozenset("left run come become put quit".split())
"""Participles that look like the plain form, or are kept as they stand."""
_PHRASAL = frozenset("after up off out down over on away".split())
_VERBAL = frozenset("planning planned plans grouped grouping typing typed pointing pointed".split())
_INTRANSITIVE = frozenset("be get go come have stay".split())
_THEN = frozenset("at in during when while overnight before after every each all until till if for by as and".split())
"""What may follow a phrase that a particle ends: *turn the heating off at night*."""
_FARTHEST_PARTICLE = 5


def rejoined(forms: Forms) -> Forms:
    """``forms`` with particles beside their verbs: *turn the heating off* as *turn off the heating*."""
    if _PARTICLES.isdisjoint(word for word, _ in forms):
        return forms
    found = list(forms)
    for index in range(len(found)):
        place = _particle_of(found, index)
        if place:
            found.insert(index + 1, found.pop(place))
    return found


def _particle_of(forms: Forms, index: int) -> int:
    """Where the particle stands that belongs to the verb at ``index`` past its object; 0 = nowhere."""
    if forms[index][1] in _INTRANSITIVE:
        return 0
    roots = lexicon().english.next
    nodes = [node for node in (roots.get(form) for form in forms[index]) if node]
    for place in range(index + 1, min(index + _FARTHEST_PARTICLE, len(forms))):
        word = forms[place][0]
        if place > index + 1 and word in _PARTICLES and ends_its_phrase(forms, place):
            return place if any(word in node.next and node.next[word].entry for node in nodes) else 0
        if word in _NO_OBJECT:
            return 0
    return 0


def ends_its_phrase(forms: Forms, index: int) -> bool:
    """Tell whether nothing follows that the word at ``index`` could belong to; *left* ends only what ends the run."""
    following = forms[index + 1][0] if index + 1 < len(forms) else ""
    return not following or (following in _THEN and forms[index][0] != "left")


def is_denied_copula(forms: Forms, index: int) -> bool:
    """*is not …*."""
    return forms[index][1] == "be" and index + 2 < len(forms) and forms[index + 1][0] == "not"


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
    if base not in lexicon().stative or word in {base, "has"} or word.endswith(("s", "ing")):
        return False
    before = next((form for form in reversed(forms[:index]) if form[0] not in _BETWEEN), ("", ""))
    return before[1] not in {"be", "have", "get"} and before[0] not in _OWNING


def was(forms: Forms, index: int) -> bool:
    """*was in hospital*, *were vegetarians*: a state that is over; not *was moved*, not *was reading*."""
    if forms[index][0] not in {"was", "were"} or not index:
        return False
    following = next((form for form in forms[index + 1 :] if form[0] not in _BETWEEN), ("", ""))
    return not (is_participle(following) or following[0].endswith("ing"))


def is_auxiliary(forms: Forms, index: int) -> bool:
    """*has* before a participle, *keeps* before *-ing*: *has given up* owns nothing, *keeps asking* keeps nothing."""
    base = forms[index][1]
    if base not in {"have", "keep"}:
        return False
    if base == "keep":
        return forms[index + 1 : index + 2] != [] and forms[index + 1][0].endswith("ing")
    following = next((form for form in forms[index + 1 :] if form[0] not in _BETWEEN), ("", ""))
    return forms[index][1] == "have" and is_participle(following)


def is_participle(form: Form) -> bool:
    """Any form that is neither the plain one nor *-s* nor *-ing*; *left* is kept as it stands."""
    word, base = form
    if word in _IRREGULAR_PLURALS:
        return False
    return word in _LIKE_ITS_ROOT or (word != base and not word.endswith(("s", "ing")))


def is_plan(forms: Forms, index: int) -> bool:
    """*rejected the plan*: a thing; *plans to*, *has no plans* are what is to come."""
    if forms[index][0] not in {"plan", "plans"} or not index:
        return False
    behind = forms[index + 1][0] if index + 1 < len(forms) else ""
    return forms[index - 1][0] in _OWNING | {"an", "this"} and behind not in {"to", "on"}


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
    done = is_participle(forms[index - 1]) or (forms[index - 1][0] in _PHRASAL and is_participle(forms[index - 2]))
    return done and any(form[1] in {"be", "get"} for form in forms[:index])


def stands_alone(forms: Forms, index: int) -> bool:
    """*a* without a singular noun behind it is a name (project A is, client A wants); *her* without one is an object
    (owes her).
    """
    following = forms[index + 1] if index + 1 < len(forms) else None
    if following is None or following[0] in _NO_NOUN:
        return True
    if forms[index][0] != "a":
        return False
    named = index > 0 and not {*forms[index - 1]}.isdisjoint(_NAMED_BY_LETTER) and forms[index - 1][0] not in _VERBAL
    is_one = index > 0 and forms[index - 1][1] == "be"  # is a Pisces
    return named or (not is_one and following[0].endswith("s") and following[0] != following[1])
