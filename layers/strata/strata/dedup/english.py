"""A run of English words as tokens: the longest phrase a table knows, word by word in any inflection."""

from collections.abc import Callable, Iterator

from strata.dedup.inflection import (
    Forms,
    ends_its_phrase,
    is_agent_mark,
    is_auxiliary,
    is_denied_copula,
    is_departure,
    is_over,
    is_plan,
    is_question,
    permits,
    rejoined,
    stands_alone,
    was,
)
from strata.dedup.lemma import lemma
from strata.dedup.lexicon import NOT, Entry, Node, lexicon
from strata.dedup.tokens import Kind, Token

NUMERAL = "0"
"""Stands for the number a run of words is followed by."""

_QUESTION = Token("QUESTION", Kind.MOOD, "mood", "?")
_PAST = Token("PAST", Kind.MOOD, "mood", "past tense")
_BY = Token("BY", Kind.DIRECTION, "direction", "by")
_MAY = Token("MAY", Kind.STANCE, "permission", "may")
_NOT = Token("NOT", Kind.NOT, "negation", "not")
_LEAVE = Token("LEAVE", Kind.ACT, "motion", "left")
_ON = Token("ON", Kind.STANCE, "state", "on")
_BEST = Token("BEST", Kind.DEGREE, "degree", "most")
_AT_THE_END: dict[str, Entry] = {"most": (_BEST,), "on": (_ON,), "off": (NOT, _ON), "left": ()}
"""*is on*, *is off*: a preposition ends nothing; *no milk left* says no more than *no milk*."""
_LASTING = frozenset({Kind.ACT, Kind.STANCE, Kind.THING})
_SO_FAR = frozenset("did has have had".split())
_TITLES = frozenset("mr mrs ms miss dr prof".split())
_LETTER_OR_OBJECT = frozenset({"a", "her"})
_DETERMINERS = frozenset("the a an their his her my our your its any some".split())
_DENYING = ("un", "im", "in", "dis", "ir", "non")
_DENIABLE = frozenset({"trait", "style", "quality", "state", "attitude"})


def english(words: tuple[str, ...], *, opening: bool) -> Iterator[Token]:
    """The tokens of a run of words; ``opening`` = it begins its clause, where a verb before its subject asks."""
    forms = rejoined([(word, lemma(word)) for word in words])
    last = len(forms) - (words[-1] == NUMERAL)
    if opening and is_question(forms):
        yield _QUESTION
    index = 0
    while index < last:
        size, entry = _longest_phrase(forms, index)
        if size <= 1 and is_denied_copula(forms, index):
            size, entry = _denied_phrase(forms, index, (size, entry))
        if was(forms, index) or (size and entry[-1].kind in _LASTING and is_over(forms, index)):
            yield _PAST
        yield from entry if size > 1 else _word(forms, index, entry)
        index += size or 1


def _denied_phrase(forms: Forms, index: int, found: tuple[int, Entry]) -> tuple[int, Entry]:
    """*is not a vegetarian*: the phrase *be a vegetarian* around its *not*."""
    size, entry = _longest_phrase([*forms[index : index + 1], *forms[index + 2 :]], 0)
    return (size + 1, (_NOT, *entry)) if size > 1 else found


def _word(forms: Forms, index: int, entry: Entry) -> Entry:
    """The tokens of one word, by its place where that matters."""
    word = forms[index][0]
    if word in _AT_THE_END and index and ends_its_phrase(forms, index):
        return _AT_THE_END[word]
    if word == "not" and index and forms[index - 1][0] in _SO_FAR:
        return (Token("NOT", Kind.NOT, "negation", f"{forms[index - 1][0]} not"),)
    if index and forms[index - 1][0] in _TITLES:
        return (Token(word, Kind.PERSON, "name", word),)
    if is_auxiliary(forms, index):
        return ()
    holds, said = _BY_PLACE.get(word, _ANYWHERE)
    return (said if holds is not None and holds(forms, index) else entry) or _unknown(forms, index)


_PLAN = (Token("PLAN_NOUN", Kind.THING, "office_thing", "plan"),)
_BY_PLACE: dict[str, tuple[Callable[[Forms, int], bool] | None, Entry]] = {
    "plan": (is_plan, _PLAN),
    "plans": (is_plan, _PLAN),
    "by": (is_agent_mark, (_BY,)),
    "may": (permits, (_MAY,)),
    "left": (is_departure, (_LEAVE,)),
}
"""What some words are where they stand."""
_ANYWHERE: tuple[None, Entry] = (None, ())


def _longest_phrase(forms: Forms, index: int) -> tuple[int, Entry]:
    """How many words the longest known phrase at ``index`` takes, and its tokens; 0 = none stands there.

    A word matches as it is or in its dictionary form; determiners inside a phrase are skipped (*walk the dog* is
    *walk dog*).
    """
    end, entry = _longest(lexicon().english, forms, index)
    if end - index == 1 and forms[index][0] in _LETTER_OR_OBJECT and stands_alone(forms, index):
        return 0, ()
    return end - index, entry


def _longest(node: Node, forms: Forms, index: int) -> tuple[int, Entry]:
    """Where the longest phrase that goes on from ``node`` at ``index`` ends, and its tokens."""
    best: tuple[int, Entry] = (index, node.entry or ())
    if index == len(forms) or not node.next:
        return best
    word, base = forms[index]
    for form in (word,) if word == base else (word, base):
        following = node.next.get(form)
        if following is not None:
            best = _farther(best, _longest(following, forms, index + 1), index + 1)
    if word in _DETERMINERS and node is not lexicon().english:
        best = _farther(best, _longest(node, forms, index + 1), index + 2)
    return best


def _farther(best: tuple[int, Entry], reached: tuple[int, Entry], least: int) -> tuple[int, Entry]:
    return reached if reached[1] and reached[0] > best[0] and reached[0] >= least else best


def _unknown(forms: Forms, index: int) -> Entry:
    word, base = forms[index]
    if word == "her":
        return (Token("PRO", Kind.PERSON, "pronoun", word),)
    if len(word) == 1:
        return (Token(f"#{word}", Kind.THING, "id", word),)
    return _denied(word) or _adverb(word) or (Token(base, Kind.THING, "?", word),)


def _adverb(word: str) -> Entry:
    """*mildly* as *mild*."""
    node = lexicon().english.next.get(word.removesuffix("ly")) if word.endswith("ly") else None
    return node.entry if node and node.entry and node.entry[0].kind is Kind.THING else ()


def _denied(word: str) -> Entry:
    """*impatient* is not *patient*; empty for words that only begin like one."""
    for prefix in _DENYING:
        node = lexicon().english.next.get(word.removeprefix(prefix)) if word.startswith(prefix) else None
        if node and node.entry and len(node.entry) == 1 and node.entry[0].family in _DENIABLE:
            return (NOT, *node.entry)
    return ()
