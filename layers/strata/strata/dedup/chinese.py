"""A run of Chinese cut into words, the cheapest way through those that are known."""

import re
from collections.abc import Iterator

from strata.dedup.lexicon import lexicon
from strata.dedup.tokens import Kind, Token

_UNKNOWN_COST = 13
"""Per character no table knows: dearer than any frequent word, cheaper than two rare ones."""
_COMMA = "、"
_LIST_MARK = Token(_COMMA, Kind.DROP, "drop", _COMMA)
_SEPARABLE = re.compile(r"([\u4e00-\u9fff])(\d+(?:次|回|趟|遍|场))([\u4e00-\u9fff])([\u4e00-\u9fff]?)")
_COMPLETED = re.compile(r"(?![不得没])([\u4e00-\u9fff])(了|过|着|完)([\u4e00-\u9fff])([\u4e00-\u9fff]?)")
_POTENTIAL = re.compile(r"([\u4e00-\u9fff])([不得])[了起动]([\u4e00-\u9fff])")


def joined(text: str) -> str:
    """``text`` with a verb and its object that stand apart put together: 理1次发 is 理发1次, 动过手术 is 动手术过,
    熬不了夜 is 不能熬夜.
    """
    known = lexicon().chinese
    text = _COMPLETED.sub(_completed, text)
    text = _SEPARABLE.sub(_rejoined, text)
    return _POTENTIAL.sub(
        lambda m: f"{'不能' if m[2] == '不' else '能'}{m[1]}{m[3]}" if m[1] + m[3] in known else m[0], text
    )


def _rejoined(match: re.Match[str]) -> str:
    verb, times, first, second = match.groups()
    known = lexicon().chinese
    if second and verb + first + second in known:
        return verb + first + second + times
    return f"{verb}{first}{times}{second}" if verb + first in known else match[0]


def _completed(match: re.Match[str]) -> str:
    verb, particle, first, second = match.groups()
    known = lexicon().chinese
    if verb + particle in known:
        return match[0]
    kept = "" if particle == "完" else particle
    if second and verb + first + second in known:
        return verb + first + second + kept
    return f"{verb}{first}{kept}{second}" if verb + first in known else match[0]


def chinese(run: str) -> Iterator[Token]:
    """The tokens of a run of Han characters; neighbours no table knows are one word: a name."""
    unknown, words = "", _cheapest(run)
    for index, word in enumerate(words):
        if word == _A_HOUSE_OF and not unknown and _names_a_place(words[index + 1 : index + 2]):
            continue
        if _is_unknown(word):
            unknown += word
            continue
        if unknown:
            yield Token(unknown, Kind.THING, "?", unknown)
            unknown = ""
        yield from _known(word)
    if unknown:
        yield Token(unknown, Kind.THING, "?", unknown)


_A_HOUSE_OF = "一家"
_PLACES = frozenset({"place", "employer", "school"})


def _names_a_place(behind: list[str]) -> bool:
    """一家医院 is a hospital, no family."""
    entry = lexicon().chinese.get(behind[0]) if behind else None
    return entry is not None and entry[0].family in _PLACES


def _is_unknown(word: str) -> bool:
    return len(word) == 1 and word != _COMMA and word not in lexicon().chinese


def _known(word: str) -> Iterator[Token]:
    entry = lexicon().chinese.get(word)
    if word == _COMMA:
        yield _LIST_MARK
    elif entry is None:
        yield Token(word, Kind.ACT if word in lexicon().verbs else Kind.THING, "?", word)
    else:
        yield from entry


def _cheapest(run: str) -> list[str]:
    """``run`` cut into the words of least total cost."""
    costs, longest, size = lexicon().costs, lexicon().longest, len(run)
    best = [0] * (size + 1)
    cut = [0] * size
    for start in range(size - 1, -1, -1):
        first = run[start]
        least, end = best[start + 1] + costs.get(first, _UNKNOWN_COST), start + 1
        for stop in range(start + 2, min(start + longest.get(first, 1), size) + 1):
            cost = costs.get(run[start:stop])
            if cost is not None and cost + best[stop] < least:
                least, end = cost + best[stop], stop
        best[start], cut[start] = least, end
    return list(_pieces(run, cut))


def _pieces(run: str, cut: list[int]) -> Iterator[str]:
    start = 0
    while start < len(run):
        yield run[start : cut[start]]
        start = cut[start]
