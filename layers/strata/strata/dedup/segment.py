"""Text to tokens: Chinese by the cheapest way through known words, English by phrases and lemmas."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from strata.dedup.lemma import lemma
from strata.dedup.lexicon import NOT, Entry, Node, lexicon
from strata.dedup.quantities import Number, pieces, value
from strata.dedup.tokens import Kind, Token

_RUN = re.compile(r"[\u3400-\u9fff、]+|[a-z][a-z\u00c0-\u024f]*(?:[ ][a-z\u00c0-\u024f]+)*|[^\s]")
_UNKNOWN_COST = 13
"""Per character no table knows: dearer than any frequent word, cheaper than two rare ones."""

_COUNTED = frozenset({"measure", "body", "condition", "office_thing", "symptom"})
"""Families after which a bare number is an amount; after any other thing it is part of the name."""

_NUMERAL = "0"
"""Stands for the number an English run is followed by."""
_QUESTION = Token("QUESTION", Kind.MOOD, "mood", "?")
_PAST = Token("PAST", Kind.MOOD, "mood", "past tense")
_BY = Token("BY", Kind.DIRECTION, "direction", "by")
_MAY = Token("MAY", Kind.STANCE, "permission", "may")
_LASTING = frozenset({Kind.ACT, Kind.STANCE, Kind.THING})
_ON = Token("ON", Kind.STANCE, "state", "on")
_SWITCHED: dict[str, Entry] = {"on": (_ON,), "off": (NOT, _ON)}
_LIST_MARK = Token("、", Kind.DROP, "drop", "、")


_SEPARABLE = re.compile(r"([\u4e00-\u9fff])(\d+(?:次|回|趟|遍))([\u4e00-\u9fff])")
_POTENTIAL = re.compile(r"([\u4e00-\u9fff])([不得])[了起动]([\u4e00-\u9fff])")


def _joined(text: str) -> str:
    """A verb and its object that stand apart, as one word: 理1次发, 熬不了夜."""
    known = lexicon().chinese
    text = _SEPARABLE.sub(lambda m: f"{m[1]}{m[3]}{m[2]}" if m[1] + m[3] in known else m[0], text)
    return _POTENTIAL.sub(
        lambda m: f"{'不能' if m[2] == '不' else '能'}{m[1]}{m[3]}" if m[1] + m[3] in known else m[0], text
    )


def tokens(text: str) -> list[Token]:
    """The tokens of one segment of canonical text, function words included."""
    text = _joined(text)
    found: list[Token] = []
    for piece in pieces(text):
        if isinstance(piece, Token):
            found.append(piece)
        elif isinstance(piece, Number):
            found.append(_number(piece, found[-1] if found else None))
        else:
            found.extend(_words(piece, opening=not found))
    return found


def _number(number: Number, before: Token | None) -> Token:
    """After a thing it names (会议室302, Redis 7), elsewhere it counts (is 6, 血压150)."""
    if before and before.kind in {Kind.THING, Kind.VALUE} and before.family not in _COUNTED:
        return Token(f"#{number.digits}", Kind.THING, "id", number.digits)
    return value("count" if number.counts else "n", float(number.digits), number.digits)


def _words(text: str, *, opening: bool) -> Iterator[Token]:
    for run in _RUN.findall(text):
        if run[0] > "\u33ff":
            yield from _chinese(run)
        elif run[0].isalpha():
            goes_on = text.endswith(run + " ")
            words = (*run.split(" "), *([_NUMERAL] if goes_on else []))
            yield from _english(words, opening=opening)
        elif run == "、":
            yield _LIST_MARK
        else:
            yield Token(run, Kind.THING, "?", run)


def _chinese(run: str) -> Iterator[Token]:
    known, verbs = lexicon().chinese, lexicon().verbs
    unknown = ""
    for word in _cheapest(run):
        entry = known.get(word)
        if entry is None and len(word) == 1 and word != "、":
            unknown += word  # neighbours no table knows are one word: a name
            continue
        if unknown:
            yield Token(unknown, Kind.THING, "?", unknown)
            unknown = ""
        if word == "、":
            yield _LIST_MARK
        elif entry is None:
            yield Token(word, Kind.ACT if word in verbs else Kind.THING, "?", word)
        else:
            yield from entry
    if unknown:
        yield Token(unknown, Kind.THING, "?", unknown)


def _cheapest(run: str) -> list[str]:
    """``run`` cut into the words of least total cost."""
    costs, longest, size = lexicon().costs, lexicon().longest, len(run)
    best = [0] * (size + 1)
    cut = [0] * size
    for start in range(size - 1, -1, -1):
        least, end = best[start + 1] + costs.get(run[start], _UNKNOWN_COST), start + 1
        for stop in range(start + 2, min(start + longest, size) + 1):
            cost = costs.get(run[start:stop])
            if cost is not None and cost + best[stop] < least:
                least, end = cost + best[stop], stop
        best[start], cut[start] = least, end
    words = []
    start = 0
    while start < size:
        words.append(run[start : cut[start]])
        start = cut[start]
    return words


def _english(words: tuple[str, ...], *, opening: bool) -> Iterator[Token]:
    forms = [(word, lemma(word)) for word in words]
    last = len(forms) - (words[-1] == _NUMERAL)
    if opening and _is_question(forms):
        yield _QUESTION
    index = 0
    while index < last:
        size, entry = _longest_phrase(forms, index)
        if size and entry[-1].kind in _LASTING and _is_over(forms, index):
            yield _PAST
        if size == 1 and _is_agent_mark(forms, index):
            yield _BY
        elif size < 2 and index == len(forms) - 1 and index and forms[index][0] in _SWITCHED:
            yield from _SWITCHED[forms[index][0]]  # is on, left off: a preposition ends nothing
        elif size == 1 and _permits(forms, index):
            yield _MAY
        elif forms[index][0] == "left" and index and index == len(forms) - 1:
            pass  # no milk left: remaining
        elif size == 1 and index and forms[index - 1][0] in _TITLES:
            yield Token(forms[index][0], Kind.PERSON, "name", forms[index][0])
        elif not (size == 1 and _is_auxiliary(forms, index)):
            yield from entry if size else _single(forms, index)
        index += size or 1


def _longest_phrase(forms: Sequence[tuple[str, str]], index: int) -> tuple[int, Entry]:
    """How many words the longest known phrase at ``index`` takes, and its tokens; 0 = none stands there.

    A word matches as it is or in its dictionary form; determiners inside a phrase are skipped (*walk the dog* is
    *walk dog*).
    """
    size, entry = _longest(lexicon().english, forms, index)
    if size - index == 1 and forms[index][0] in _LETTER_OR_OBJECT and _stands_alone(forms, index):
        return 0, ()
    return size - index, entry


_DETERMINERS = frozenset("the a an their his her my our your its any some".split())


def _longest(node: Node, forms: Sequence[tuple[str, str]], index: int) -> tuple[int, Entry]:
    """Where the longest phrase that goes on from ``node`` at ``index`` ends, and its tokens."""
    best: tuple[int, Entry] = (index, node.entry or ())
    if index == len(forms) or not node.next:
        return best
    word, base = forms[index]
    for form in (word,) if word == base else (word, base):
        following = node.next.get(form)
        if following is not None:
            reached = _longest(following, forms, index + 1)
            if reached[1] and reached[0] > best[0]:
                best = reached
    if word in _DETERMINERS and node is not lexicon().english:
        reached = _longest(node, forms, index + 1)
        if reached[1] and reached[0] > best[0] + 1:
            best = reached
    return best


def _single(forms: Sequence[tuple[str, str]], index: int) -> Iterator[Token]:
    word, base = forms[index]
    if word == "her":
        yield Token("PRO", Kind.PERSON, "pronoun", word)
    elif len(word) == 1:
        yield Token(f"#{word}", Kind.THING, "id", word)
    elif index and forms[index - 1][0] in _TITLES:
        yield Token(word, Kind.PERSON, "name", word)
    else:
        yield from _denied(word) or (Token(base, Kind.THING, "?", word),)


_DENYING = ("un", "im", "in", "dis", "ir", "non")
_DENIABLE = frozenset({"trait", "style", "quality", "state", "attitude"})


def _denied(word: str) -> Entry:
    """*impatient* is not *patient*; empty for words that only begin like one."""
    for prefix in _DENYING:
        node = lexicon().english.next.get(word.removeprefix(prefix)) if word.startswith(prefix) else None
        if node and node.entry and len(node.entry) == 1 and node.entry[0].family in _DENIABLE:
            return (NOT, *node.entry)
    return ()


_TITLES = frozenset("mr mrs ms miss dr prof".split())
_LETTER_OR_OBJECT = frozenset({"a", "her"})
_NAMED_BY_LETTER = frozenset(
    "project team group plan vitamin section class room type hepatitis block building gate platform option point unit "
    "terminal zone hall wing phase series model grade level line bus product service branch party person".split()
)
_NO_NOUN = frozenset(
    "be is are was were have has had do does did will would can could should must may might not in on at to for of and "
    "or but with by from as if because when while than daily every each".split()
)


def _stands_alone(forms: Sequence[tuple[str, str]], index: int) -> bool:
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


_INVERTED = frozenset("can could should will would may shall must".split())
_ALWAYS_INVERTED = frozenset("does did is are was were has am".split())
_SUBJECTS = frozenset("the a user i he she they it we you my his her their this that there our".split())


def _is_question(forms: Sequence[tuple[str, str]]) -> bool:
    """Verb before subject: *Can the user eat …*, *Is Dad …*."""
    if len(forms) < 3 or forms[1][0] == "not":  # noqa: PLR2004 (verb, subject and something about it)
        return False
    first, second = forms[0][0], forms[1][0]
    return first in _ALWAYS_INVERTED or (first in _INVERTED and (second in _SUBJECTS or _is_person(second)))


@lru_cache(maxsize=1_024)  # first words repeat
def _is_person(word: str) -> bool:
    node = lexicon().english.next.get(word)
    return node is not None and node.entry is not None and node.entry[0].kind is Kind.PERSON


def _is_over(forms: Sequence[tuple[str, str]], index: int) -> bool:
    """A past tense of a lasting state: *lived in Paris*, not *has lived*, *was moved*."""
    word, base = forms[index]
    if base not in lexicon().stative or word in {base, base + "s", base + "es", "has"} or word.endswith("ing"):
        return False
    before = next((form[1] for form in reversed(forms[:index]) if form[0] not in _BETWEEN), "")
    return before not in {"be", "have", "get"}


def _is_auxiliary(forms: Sequence[tuple[str, str]], index: int) -> bool:
    """*has* before a participle: *has given up* owns nothing."""
    if forms[index][1] != "have":
        return False
    following = next((form for form in forms[index + 1 :] if form[0] not in _BETWEEN), ("", ""))
    word, base = following
    return word != base and not word.endswith(("s", "ing"))


_BETWEEN = frozenset("not never already just recently now always also".split())


def _permits(forms: Sequence[tuple[str, str]], index: int) -> bool:
    """*may be left at the door* permits; *may be late* guesses."""
    if forms[index][0] != "may" or index + 2 >= len(forms) or forms[index + 1][0] != "be":
        return False
    word, base = forms[index + 2]
    return word == "left" or (word != base and not word.endswith(("s", "ing")))


def _is_agent_mark(forms: Sequence[tuple[str, str]], index: int) -> bool:
    """*by* behind a passive names who did it: *was bitten by*, not *sits by the window*."""
    if forms[index][0] != "by" or index < 2:  # noqa: PLR2004 (a form of be and a participle)
        return False
    word, base = forms[index - 1]
    return word != base and not word.endswith(("s", "ing")) and any(form[1] in {"be", "get"} for form in forms[:index])
