"""The same thing with another number, date or hour."""

from collections.abc import Mapping

from strata.dedup.explanations import Difference
from strata.dedup.oppositions import Clash, oppositions
from strata.dedup.tokens import Clause, Kind, Token

Values = Mapping[str, frozenset[str]]
"""By what they measure."""

_WHEN = frozenset({"clock", "weekday", "daypart", "date", "month", "monthday", "year"})
_COUNTED = frozenset({"daypart", "frequency"})
_HALF_DAY = 720


def other_value(left: Clause, right: Clause, rest: Difference) -> Clash | None:
    """A value that differs where nothing else does."""
    switched = "SWITCH" in {left.change, right.change}
    ours = _by_family(left, rest.left, switched=switched)
    theirs = _by_family(right, rest.right, switched=switched)
    differing = [family for family in sorted(ours.keys() & theirs.keys()) if not _agree(ours[family], theirs[family])]
    if not differing or any(
        _unexplained(*side, switched=switched) for side in ((left, rest.left), (right, rest.right))
    ):
        return None
    if not left.change and not right.change and (_is_another_occasion(differing) or _may_hold_at_both(left, differing)):
        return None
    if not left.content & right.content and not oppositions().own_measures.intersection(differing):
        return None
    return Clash(reason="value", evidence=_surfaces(differing, (left, ours), (right, theirs)))


def _is_another_occasion(differing: list[str]) -> bool:
    """Another time and another amount: two in the morning and one at night deny nothing."""
    return 0 < len(_WHEN.intersection(differing)) < len(differing)


def _may_hold_at_both(clause: Clause, differing: list[str]) -> bool:
    """Who likes to run in the morning may like to run in the evening."""
    return clause.stances == {"LIKE"} and differing == ["daypart"]


def _by_family(clause: Clause, odd: frozenset[str], *, switched: bool) -> Values:
    found: dict[str, frozenset[str]] = {}
    for token in clause.tokens:
        if (token.concept in odd or token.concept == "@count=1") and _measures(token, switched=switched):
            measured = token.concept[1:].partition("=")[0] if token.kind is Kind.THING else token.family
            family = _FAMILIES.get(measured, measured)
            found[family] = found.get(family, frozenset()) | {token.concept}
    return found


_FAMILIES = {"article": "count", "clock12": "clock", "code": "n"}
"""The 1 of 一辆 counts when the other side does; an hour is an hour; 10,000 is a number like 8,000."""


def _measures(token: Token, *, switched: bool) -> bool:
    """A value that tells things apart (二楼的厕所) is none, unless a change says that it is."""
    if token.kind is Kind.VALUE or token.family in _COUNTED:
        return True
    return switched and token.concept.startswith("@")


def _agree(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Equal, or an hour that may be the same once its half of the day is known."""
    return bool(ours & theirs) or any(_compatible(one, other) for one in ours for other in theirs)


def _compatible(one: str, other: str) -> bool:
    """The same with something left open: March and March 2027, an hour of either half of the day."""
    (family, _, ours), (_, _, theirs) = one.partition("="), other.partition("=")
    if family in _OPEN_YEAR:
        return ours.endswith(f"-{theirs}") or theirs.endswith(f"-{ours}")
    return _same_hour(one, other)


_OPEN_YEAR = frozenset({"@date", "@month"})


def _same_hour(one: str, other: str) -> bool:
    if ("clock12" in one) == ("clock12" in other):
        return False
    return float(one.partition("=")[2]) % _HALF_DAY == float(other.partition("=")[2]) % _HALF_DAY


def _unexplained(clause: Clause, odd: frozenset[str], *, switched: bool) -> frozenset[str]:
    """What stands on one side besides values; what was changed may have had a verb of its own: booked for Monday."""
    left_over = odd & (clause.content | clause.stances)
    if not switched:
        return left_over
    allowed = {token.concept for token in clause.tokens if token.kind is Kind.ACT or token.concept.startswith("@")}
    return left_over - allowed


def _surfaces(families: list[str], *sides: tuple[Clause, Values]) -> tuple[str, ...]:
    return tuple(
        token.surface
        for clause, values in sides
        for family in families
        for token in clause.tokens
        if token.concept in values[family]
    )
