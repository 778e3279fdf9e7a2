"""One order for what can be said from either end: passive and active, younger than and older than.

Runs before directions are bound to what they point at. What it cannot turn round it leaves as it stands.
"""

from collections.abc import Sequence

from strata.dedup.tokens import Kind, Token

VOICES = frozenset({"BY", "PASSIVE", "THAN", "FROM"})
"""Concepts without which there is nothing to turn round."""
_NAMED = frozenset({Kind.PERSON, Kind.THING})
_DOING = frozenset({Kind.ACT, Kind.DIRECTION})
_TURNS_THE_SIGN = frozenset({Kind.NOT, Kind.STANCE, Kind.MOOD})
_GREATER = {
    "YOUNGER": "OLDER",
    "SMALL": "BIG",
    "SHORT_HEIGHT": "HIGH",
    "SHORTER": "TALLER",
    "CHEAP": "EXPENSIVE",
    "LIGHT_WEIGHT": "HEAVY",
    "SLOW": "FAST_SPEED",
    "LATE": "EARLY",
}
"""The lesser of two ends and the greater: who is younger than somebody has somebody older."""
_USER = Token("USER", Kind.PERSON, "self", "user")


def weighed(group: list[Token]) -> list[Token]:
    """*prefers trains to planes*, *tea over coffee*: what stands behind is what is not preferred."""
    start = next((place for place, token in enumerate(group) if token.concept in _WEIGHING), len(group))
    for place in range(start + 2, len(group) - 1):
        if group[place].surface in _OVER and group[place].kind is not Kind.DIRECTION and _is_between(group, place):
            than = Token("THAN", Kind.DIRECTION, "direction", group[place].surface)
            return [*group[:place], than, *group[place + 1 :]]
    return group


def _is_between(group: Sequence[Token], place: int) -> bool:
    """Tell whether something stands directly in front and behind."""
    before = next((token for token in reversed(group[:place]) if token.kind is not Kind.DROP), None)
    behind = next((token for token in group[place + 1 :] if token.kind is not Kind.DROP), None)
    if before is None or behind is None or (behind.family in _PLACES and before.family != behind.family):
        return False
    return before.kind in _WEIGHABLE and behind.kind in _WEIGHABLE


_WEIGHING = frozenset({"PREFER"})
_OVER = frozenset({"to", "over"})
_WEIGHABLE = frozenset({Kind.THING, Kind.ACT})
_PLACES = frozenset({"place", "city", "room", "school"})


def turned(group: list[Token]) -> list[Token]:
    """``group`` with who does something before what it is done to, and with the greater of two compared in front."""
    by = _place(group, "BY")
    if by:
        return _active(group, by, _from_by(group, by))
    passive = _place(group, "PASSIVE")
    if passive is None:
        passive = next((place for place, token in enumerate(group) if token.surface == "由"), None)
    if passive:
        return _active(group, passive, _from_passive(group, passive))
    than = _place(group, "THAN")
    return _compared(group, than) if than is not None else group


def _place(group: Sequence[Token], concept: str) -> int | None:
    return next((place for place, token in enumerate(group) if token.concept == concept), None)


_Parts = tuple[list[Token], list[Token], list[Token], list[Token]]
"""Who, does what, to what, and the rest."""


def _active(group: list[Token], mark: int, parts: _Parts | None) -> list[Token]:
    if parts is None or any(token.kind in _TURNS_THE_SIGN for token in group[:mark]):
        return group
    who, does, what, rest = parts
    return [*who, *does, *what, *rest]


def _from_by(group: list[Token], by: int) -> _Parts | None:
    """*the dog is walked by Dad at 7*."""
    verb = next((place for place in range(by - 1, 0, -1) if group[place].kind in _DOING), 0)
    end = _end_of_name(group, by + 1)
    if not verb or end == by + 1 or not any(token.kind in _NAMED for token in group[:verb]):
        return None
    return group[by + 1 : end], group[verb:by], group[:verb], group[end:]


def _from_passive(group: list[Token], passive: int) -> _Parts | None:
    """用户被狗咬了."""
    end = _end_of_name(group, passive + 1)
    if end == passive + 1 or not group[end : end + 1] or group[end].kind not in _DOING:
        return None
    return group[passive + 1 : end], group[end : end + 1], group[:passive], group[end + 1 :]


def _end_of_name(group: Sequence[Token], start: int) -> int:
    """Where what is named from ``start`` on ends: articles, then people or things in a row."""
    end = start
    while end < len(group) and group[end].kind is Kind.DROP and group[end].surface in _ARTICLES:
        end += 1
    first = end
    while end < len(group) and group[end].kind in _NAMED:
        end += 1
    return end if end > first else start


_ARTICLES = frozenset({"the", "a", "an", "their", "his", "her", "my", "s"})


def _compared(group: list[Token], than: int) -> list[Token]:
    """弟弟比用户小 is 用户比弟弟大, *younger than* is *older than* the other way round."""
    lesser = next((place for place, token in enumerate(group) if token.concept in _GREATER), None)
    other = next((n for n in range(than + 1, len(group)) if group[n].kind in _NAMED), None)
    one = next((n for n in range(than) if group[n].kind in _NAMED), None)
    if lesser is None or other is None or lesser in {other, one}:
        return group
    found = list(group)
    small = found[lesser]
    found[lesser] = Token(_GREATER[small.concept], small.kind, small.family, small.surface)
    if one is None:
        found.insert(0, _USER)
        one, other = 0, other + 1
    found[one], found[other] = found[other], found[one]
    return found
