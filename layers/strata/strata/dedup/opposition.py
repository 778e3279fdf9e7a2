"""What cannot be true at once: opposite signs, other values, exclusive words, another holder of a place."""

from strata.dedup.explanations import Difference, difference
from strata.dedup.holders import other_company, other_holder, other_person, other_way
from strata.dedup.mood import DEEDS
from strata.dedup.oppositions import Clash, oppositions
from strata.dedup.signs import opposed_signs
from strata.dedup.tokens import Clause
from strata.dedup.values import other_value

_MOST_WORDS = 2


def clash(left: Clause, right: Clause) -> Clash | None:
    """How two clauses contradict each other, or ``None``. Symmetric but for the words of the evidence."""
    if (left.moods or right.moods) and (not _of_one_mood(left, right) or not left.moods.isdisjoint(_NOT_SAID)):
        return None
    if left.people != right.people:
        return _of_others(left, right)
    if left.negative != right.negative:
        return opposed_signs(left, right) if left.negative else opposed_signs(right, left)
    if left.doubled != right.doubled or not may_clash(left, right):
        return None
    rest = difference(left, right)
    if rest.is_empty:
        return None
    return other_value(left, right, rest) or _opposite_words(left, right, rest) or _other_place(left, right, rest)


def _other_place(left: Clause, right: Clause, rest: Difference) -> Clash | None:
    return other_holder(left, right, rest) or other_way(left, right, rest)


_NOT_SAID = frozenset({"IF", "QUESTION"})


def _of_others(left: Clause, right: Clause) -> Clash | None:
    """Of other people only company can be denied, and only a change puts one in the place of another."""
    if "ALONE" in left.items or "ALONE" in right.items:
        found = other_company(left, right)
        if found:
            return found
    return other_person(left, right) if left.change or right.change else None


def may_clash(left: Clause, right: Clause) -> bool:
    """Tell whether there is anything to contradict: two amounts, two words that exclude each other, or a place held by
    one at a time.
    """
    if left.change == "SWITCH" or right.change == "SWITCH" or not left.slots.isdisjoint(right.slots):
        return True
    if (left.change or right.change) and not left.items.isdisjoint(_CHANGEABLE & right.items):
        return True
    if not left.excluded.isdisjoint(right.items):
        return True
    if left.equates and right.equates and len(left.content) == len(right.content) == _THING_AND_COLOUR:
        return True
    if not left.values or not right.values:
        return False
    return left.matter <= right.items and right.matter <= left.items


def _of_one_mood(left: Clause, right: Clause) -> bool:
    """Tell whether both are asserted alike; *won't come* answers *will come* too, and *must not* answers *may*."""
    return left.moods ^ right.moods <= DEEDS or _answers(left, right) or _answers(right, left)


def _answers(refusal: Clause, other: Clause) -> bool:
    if not refusal.negative or refusal.moods - DEEDS:
        return False
    if "~wont" in refusal.context:
        return other.moods == {"PLAN"}
    return "MAY" in refusal.stances and other.moods == {"HEARSAY"} and "~may" in other.context


def _opposite_words(left: Clause, right: Clause, rest: Difference) -> Clash | None:
    """Words of one property, all else equal: 安静的房间 / 热闹的房间."""
    if left.negative:
        return None
    rest = _without_frame(left, right, rest)
    if not 0 < len(rest.left) <= _MOST_WORDS or not 0 < len(rest.right) <= _MOST_WORDS:
        return None
    exclude = oppositions().exclude
    excluded = all(any(exclude(one, other) for other in rest.right) for one in rest.left)
    excluding = all(any(exclude(one, other) for other in rest.left) for one in rest.right)
    odd = (rest.left | rest.right) - _ONE_HABIT
    if _is_recoloured(left, right, rest):
        return Clash(reason="opposite", evidence=tuple(sorted(rest.left | rest.right)))
    if (excluded and excluding) or ((excluded or excluding) and not odd):
        return Clash(reason="opposite", evidence=tuple(sorted(rest.left | rest.right)))
    return None


_THING_AND_COLOUR = 2
_CHANGEABLE = frozenset({"COMMUTE"})
"""What a *now* is enough to change: the way to work."""


def _is_recoloured(left: Clause, right: Clause, rest: Difference) -> bool:
    """One thing that *is* of two colours, and nothing else said of it."""
    if not left.equates or not right.equates or len(left.content & right.content) != 1:
        return False
    coloured = {token.concept for clause in (left, right) for token in clause.tokens if token.family == "colour"}
    return len(rest.left) == len(rest.right) == 1 and rest.left | rest.right <= coloured


def _without_frame(left: Clause, right: Clause, rest: Difference) -> Difference:
    """``rest`` without what only holds the opposites: a house rented or bought, the verb of what was changed."""
    frame = set(_HOUSING) if not rest.left.isdisjoint(_TENURE) and not rest.right.isdisjoint(_TENURE) else set()
    if left.limits ^ right.limits == {"ONLY"}:
        frame.add("ONLY")
    if "SWITCH" in {left.change, right.change}:
        frame |= _HOLDERS
        frame |= {token.concept for clause in (left, right) for token in clause.tokens if token.family in _MEANS}
    return Difference(left=rest.left - frame, right=rest.right - frame) if frame else rest


_TENURE = frozenset({"BUY", "RENT_HOME", "HAVE"})
_HOUSING = frozenset({"HOUSE", "HOME_PLACE", "LIVE"})
_HOLDERS = frozenset({"COMPUTER", "LAPTOP", "PHONE", "CAR"})
_MEANS = frozenset({"home", "consume", "transact"})
_ONE_HABIT = frozenset({"EARLY_SLEEP", "EARLY_RISE", "LATE_SLEEP", "LATE_RISE"})
"""Halves of one habit: 早睡早起 is denied by either of its opposites."""
