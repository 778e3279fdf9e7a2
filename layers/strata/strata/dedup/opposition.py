"""What cannot be true at once: opposite signs, exclusive words, other values, another holder of a place."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from strata.dedup.explanations import Difference, difference
from strata.dedup.resources import load_toml
from strata.dedup.tokens import Clause, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Why two clauses contradict each other."""

    reason: str
    """``polarity``, ``opposite``, ``value``, ``slot``, ``update``."""
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    exclusive: frozenset[frozenset[str]]
    thing_slots: frozenset[str]
    value_slots: frozenset[str]
    attitude: frozenset[str]
    ability: frozenset[str]
    of_food: frozenset[str]
    with_bare: frozenset[str]
    limits: frozenset[str]
    rivals: frozenset[str]


@lru_cache(maxsize=1)  # read-only tables
def _tables() -> _Tables:
    data = load_toml("oppositions.toml")
    slots, stances = data["slots"], data["stances"]
    return _Tables(
        exclusive=frozenset(_exclusive_pairs(data["exclusive"]["_"])),
        thing_slots=_names(slots["thing"]),
        value_slots=_names(slots["value"]),
        attitude=_names(stances["attitude"]),
        ability=_names(stances["ability"]),
        of_food=_names(stances["of_food"]),
        with_bare=_names(stances["with_bare"]),
        limits=_names(stances["limits"]),
        rivals=_names(slots["rivals"]),
    )


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(","))


def _exclusive_pairs(text: str) -> Iterator[frozenset[str]]:
    for line in text.split("\n"):
        words = line.split()
        yield from (frozenset((one, other)) for i, one in enumerate(words) for other in words[i + 1 :])


def clash(left: Clause, right: Clause) -> Clash | None:
    """How two clauses contradict each other, or ``None``. Symmetric but for the words of the evidence."""
    if not _of_one_mood(left, right) or left.moods & {"IF", "QUESTION"}:
        return None
    if left.people != right.people:
        return _other_person(left, right)
    if left.negative != right.negative:
        return _opposed_signs(left, right) if left.negative else _opposed_signs(right, left)
    rest = difference(left, right)
    if rest.is_empty or left.doubled != right.doubled:
        return None
    return _other_value(left, right, rest) or _opposite_words(left, rest) or _other_holder(left, right, rest)


def _of_one_mood(left: Clause, right: Clause) -> bool:
    """*won't come* answers *will come* as well as *comes*."""
    refusal, other = (left, right) if "~wont" in left.context else (right, left)
    return left.moods == right.moods or ("~wont" in refusal.context and other.moods == {"PLAN"} and not refusal.moods)


# ---------------------------------------------------------------------------------------------- signs


def _opposed_signs(no: Clause, yes: Clause) -> Clash | None:
    """A denial contradicts an affirmation of the same or of something narrower; not of something wider."""
    if (no.items | yes.items) & _tables().limits or not _comparable(no, yes):
        return None
    rest = difference(no, yes)
    if not _about_the_same(no, yes) or not _covers(no, yes, rest):
        return None
    return Clash(reason="polarity", evidence=_words(no, yes))


def _about_the_same(no: Clause, yes: Clause) -> bool:
    if no.content & yes.content:
        return True
    return not no.content and not yes.content and bool(no.stances & yes.stances)


def _covers(no: Clause, yes: Clause, rest: Difference) -> bool:
    """Tell whether nothing narrows the denial (symptoms and organs only say how) and nothing in front of the
    affirmation makes it about something else.
    """
    extra = rest.left - no.stances
    harmless = {token.concept for token in no.tokens if token.family in {"symptom", "body"}} | _ACTS_OF_TAKING
    if extra - harmless or rest.left & no.head - harmless:
        return False
    added = rest.right - yes.stances
    return not added & yes.head and len(added) <= _MOST_ADDED


_ACTS_OF_TAKING = frozenset({"EAT", "DRINK", "TAKE", "AVOID", "USE", "WANT", "HAVE", "MAKE"})
_MOST_ADDED = 4


def _comparable(no: Clause, yes: Clause) -> bool:
    """Tell whether the two stances speak of one another: hating meetings does not deny having one."""
    tables = _tables()
    if no.stances & yes.stances:
        return True
    if not no.stances:
        return yes.stances <= tables.with_bare
    if not yes.stances:
        return no.stances <= tables.with_bare - tables.attitude | {"WILL", "ACCEPT", "AGREE", "WANT"}
    families = {token.family for token in (*no.tokens, *yes.tokens)}
    return any(_related(one, other, families) for one in no.stances for other in yes.stances)


def _related(one: str, other: str, families: set[str]) -> bool:
    tables = _tables()
    if one in tables.ability:
        return other in tables.ability or (_of_food(one, other) and bool(families & _FOODS))
    if one in tables.attitude:
        return other in tables.attitude or (_of_food(other, one) and bool(families & _FOODS))
    return {one, other} <= {"NEED", "WANT"} or {one, other} <= {"HAVE", "WANT"}


def _of_food(ability: str, attitude: str) -> bool:
    """Who likes a food and cannot eat it contradicts himself; who only wants it does not."""
    return ability in _tables().of_food and attitude in _tables().attitude and attitude != "WISH"


_FOODS = frozenset({"food", "drink", "consume"})


# --------------------------------------------------------------------------------------------- values


def _other_value(left: Clause, right: Clause, rest: Difference) -> Clash | None:
    """The same thing with another number, date or hour."""
    ours, theirs = _by_family(left, rest.left), _by_family(right, rest.right)
    differing = sorted(family for family in ours.keys() & theirs.keys() if not _agree(ours[family], theirs[family]))
    if not differing or _unexplained(left, rest.left) or _unexplained(right, rest.right):
        return None
    return Clash(
        reason="value",
        evidence=tuple(_surface(c, side, f) for f in differing for c, side in ((left, ours), (right, theirs))),
    )


_MEASURED = frozenset({"article", "count"})


def _by_family(clause: Clause, concepts: frozenset[str]) -> dict[str, set[str]]:
    """Values by what they measure; the 1 of 一辆 is a count when the other side counts."""
    found: dict[str, set[str]] = {}
    for token in clause.tokens:
        is_value = token.kind is Kind.VALUE or token.family in {"daypart", "frequency"}
        if is_value and (token.concept in concepts or token.family == "article"):
            family = "count" if token.family == "article" else "clock" if token.family == "clock12" else token.family
            found.setdefault(family, set()).add(token.concept)
    return found


def _agree(ours: set[str], theirs: set[str]) -> bool:
    """Equal, or an hour that may be the same once its half of the day is known."""
    if ours & theirs:
        return True
    return any(_same_hour(one, other) for one in ours for other in theirs)


def _same_hour(one: str, other: str) -> bool:
    if ("clock12" in one) == ("clock12" in other):
        return False
    return float(one.partition("=")[2]) % 720 == float(other.partition("=")[2]) % 720


def _unexplained(clause: Clause, concepts: frozenset[str]) -> frozenset[str]:
    """What stands on one side besides values; a change may bring its own verb."""
    odd = concepts & (clause.content | clause.stances)
    if not clause.change:
        return odd
    return odd - {token.concept for token in clause.tokens if token.kind is Kind.ACT}


def _surface(clause: Clause, by_family: dict[str, set[str]], family: str) -> str:
    return next((t.surface for t in clause.tokens if t.concept in by_family[family]), family)


# ---------------------------------------------------------------------------------------------- words


def _opposite_words(left: Clause, rest: Difference) -> Clash | None:
    """Two words of one property, all else equal: 安静的房间 / 热闹的房间."""
    if left.negative or not 0 < len(rest.left) <= _MOST_HELD or not 0 < len(rest.right) <= _MOST_HELD:
        return None
    for fewer, more in ((rest.left, rest.right), (rest.right, rest.left)):
        if all(any({word, other} in _tables().exclusive for other in more) for word in fewer):
            odd = {word for word in more if not any({word, other} in _tables().exclusive for other in fewer)}
            if odd <= left.items | _SAME_HABIT:
                return Clash(reason="opposite", evidence=tuple(sorted(fewer | more)))
    return None


_SAME_HABIT = frozenset({"EARLY_SLEEP", "EARLY_RISE", "LATE_SLEEP", "LATE_RISE"})
"""Halves of one habit: 早睡早起 is denied by either of its opposites."""


# ---------------------------------------------------------------------------------------------- slots


def _other_holder(left: Clause, right: Clause, rest: Difference) -> Clash | None:
    """A place that holds one value at a time has another, or a change says that something took its place."""
    if left.negative or not _both_hold_something(left, right, rest):
        return None
    ours, theirs = rest.left & left.content, rest.right & right.content
    if (not left.equates and ours & left.head) or (not right.equates and theirs & right.head):
        return None
    slots = left.items & right.items & _tables().thing_slots
    if slots and not left.limits | right.limits and _one_kind(left, right, ours, theirs):
        return Clash(reason="slot", evidence=(*sorted(slots), *_words(left, right)))
    switched = "SWITCH" in {left.change, right.change} and (
        left.content & right.content or _are_rivals(left, right, ours, theirs)
    )
    return Clash(reason="update", evidence=_words(left, right)) if switched else None


def _other_person(left: Clause, right: Clause) -> Clash | None:
    """A change that puts one named person in the place of another: 负责人换成了小李."""
    ours, theirs = left.people - right.people, right.people - left.people
    if "SWITCH" not in {left.change, right.change} or left.negative or right.negative:
        return None
    shared = left.content & right.content or (left.people & right.people) - {"USER"}
    if not (shared and _are_names(left, ours) and _are_names(right, theirs)):
        return None
    rest = difference(left, right)
    if rest.left & left.content or rest.right & right.content:
        return None
    return Clash(reason="update", evidence=(*sorted(ours), *sorted(theirs)))


def _are_names(clause: Clause, people: frozenset[str]) -> bool:
    named = {token.concept for token in clause.tokens if token.family == "name"}
    return bool(people) and people <= named


_MOST_HELD = 2
"""Words the value of a property may take: a school's name, a make and a model."""
_MOST_ODD = 3


def _both_hold_something(left: Clause, right: Clause, rest: Difference) -> bool:
    ours, theirs = rest.left & left.content, rest.right & right.content
    if max(len(ours), len(theirs)) > _MOST_ODD:
        return False
    return 0 < len(_things(left, ours)) <= _MOST_HELD and 0 < len(_things(right, theirs)) <= _MOST_HELD


def _things(clause: Clause, concepts: frozenset[str]) -> list[str]:
    return [token.concept for token in clause.tokens if token.kind is Kind.THING and token.concept in concepts]


def _are_rivals(left: Clause, right: Clause, ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Two things of a kind one has one of: a browser for a browser."""
    families = _families(left, ours)
    return families == _families(right, theirs) and families <= _tables().rivals


def _families(clause: Clause, concepts: frozenset[str]) -> set[str]:
    return {token.family for token in clause.tokens if token.kind is Kind.THING and token.concept in concepts}


def _one_kind(left: Clause, right: Clause, ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """A city beside an employer fills another place: 在北京上班 does not deny 在腾讯上班."""
    return _is_place(left, ours) == _is_place(right, theirs)


def _is_place(clause: Clause, concepts: frozenset[str]) -> bool:
    return "city" in _families(clause, concepts)


def _words(*clauses: Clause) -> tuple[str, ...]:
    return tuple(" ".join(token.surface for token in clause.tokens) for clause in clauses)
