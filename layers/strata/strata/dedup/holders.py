"""A place that holds one at a time: a home, a job, a browser, a person in charge."""

from strata.dedup.explanations import Difference, difference
from strata.dedup.oppositions import Clash, oppositions
from strata.dedup.tokens import Clause, Kind, worded

_MOST_HELD = 2
"""Words the value of a property may take: a school's name, a make and a model."""
_MOST_ODD = 3


def other_holder(left: Clause, right: Clause, rest: Difference) -> Clash | None:
    """Another value of a property that has one, or a change that says what took the place of what."""
    ours, theirs = rest.left & left.content, rest.right & right.content
    if left.negative or not _is_held(left, ours) or not _is_held(right, theirs):
        return None
    slots = [name for name in sorted(left.items & right.items) if name in oppositions().slots]
    if any(_fills_slot(name, (left, ours), (right, theirs)) for name in slots):
        return Clash(reason="slot", evidence=(*slots, *worded(left, right)))
    if "SWITCH" in {left.change, right.change} and _takes_place(left, right, ours, theirs):
        return Clash(reason="update", evidence=worded(left, right))
    return None


def _is_held(clause: Clause, odd: frozenset[str]) -> bool:
    return len(odd) <= _MOST_ODD and 0 < len(_things(clause, odd)) <= _MOST_HELD


def _things(clause: Clause, concepts: frozenset[str]) -> list[str]:
    return [token.concept for token in clause.tokens if token.kind is Kind.THING and token.concept in concepts]


def _families(clause: Clause, concepts: frozenset[str]) -> set[str]:
    return {token.family for token in clause.tokens if token.kind is Kind.THING and token.concept in concepts}


def _fills_slot(name: str, *sides: tuple[Clause, frozenset[str]]) -> bool:
    """Values only, of a family the property takes and of one kind, of the same thing: 在北京上班 does not deny
    在腾讯上班, the cat's name not the dog's.
    """
    families = oppositions().slots[name]
    for clause, odd in sides:
        fits = "*" in families or _families(clause, odd) <= families
        if not fits or odd & clause.head or clause.limits or len(_things(clause, odd)) < len(odd):
            return False
    (left, ours), (right, theirs) = sides
    return ("city" in _families(left, ours)) == ("city" in _families(right, theirs))


def _takes_place(left: Clause, right: Clause, ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Something both speak of changed hands, or a thing of a kind took another's place (a browser a browser's)."""
    if (not left.equates and ours & left.head) or (not right.equates and theirs & right.head):
        return False
    if left.content & right.content:
        return True
    families = _families(left, ours)
    if (
        "JOB" in left.items ^ right.items
        and families
        and _families(right, theirs)
        and _are_firms(families | _families(right, theirs))
    ):
        return True
    if families == _families(right, theirs) and families <= oppositions().rivals:
        return True
    return _is_promoted(left, ours, theirs, right) or _is_promoted(right, theirs, ours, left)


def _are_firms(families: set[str]) -> bool:
    return families <= _FIRMS and "employer" in families


_FIRMS = frozenset("employer shop_app music_app phone_brand browser messenger payment map_app database_name".split())
"""Families whose names are companies, too."""


def _is_promoted(was: Clause, one: frozenset[str], other: frozenset[str], now: Clause) -> bool:
    """Who was promoted to something else is what he was no longer: a product manager, product director."""
    if now.change != "SWITCH" or _families(was, one) != {"profession"}:
        return False
    return _families(now, other) <= {"profession", "?"} and not any(token.kind is Kind.ACT for token in now.tokens)


def other_way(left: Clause, right: Clause, rest: Difference) -> Clash | None:
    """A change in how somebody gets to work: drove, and now takes the underground."""
    if not (left.change or right.change) or not left.items & right.items & _GETS_THERE or left.negative:
        return None
    odd = [
        token
        for clause, some in ((left, rest.left), (right, rest.right))
        for token in clause.tokens
        if token.concept in some
    ]
    if (
        not rest.left
        or not rest.right
        or any(token.family not in _WAYS and token.concept not in _USES for token in odd)
    ):
        return None
    return Clash(reason="update", evidence=worded(left, right))


_GETS_THERE = frozenset({"COMMUTE", "JOB", "SCHOOLING"})
_WAYS = frozenset({"vehicle", "motion", "sport", "body_act"})
_USES = frozenset({"TAKE", "USE"})


def other_person(left: Clause, right: Clause) -> Clash | None:
    """A change that puts one named person in the place of another: 负责人换成了小李, *her dentist is now Dr. Wu*."""
    ours, theirs = left.people - right.people, right.people - left.people
    changes = {left.change, right.change}
    is_renamed = "SWITCH" in changes or ("NOW" in changes and left.equates and right.equates)
    if not is_renamed or left.negative or right.negative:
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


def other_company(left: Clause, right: Clause) -> Clash | None:
    """Alone, or with somebody."""
    for alone, company in ((left, right), (right, left)):
        others = company.people - alone.people - {"USER"}
        if (
            "ALONE" not in alone.items
            or not alone.people <= company.people
            or not others
            or alone.negative
            or company.negative
        ):
            continue
        rest = difference(alone, company)
        if rest.left == {"ALONE"} and not rest.right and alone.content & company.content:
            return Clash(reason="opposite", evidence=("ALONE", *sorted(others)))
    return None
