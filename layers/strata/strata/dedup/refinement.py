"""Small repairs once a clause's words are together: what one word means depends on its neighbours."""

from collections.abc import Callable, Sequence

from strata.dedup.bindings import BINDING, bound, owned
from strata.dedup.lexicon import NOT
from strata.dedup.moments import begun, belated, departed, due, employed, ended, left, resting, slept
from strata.dedup.quantities import value
from strata.dedup.senses import (
    addressed,
    binned,
    conveyed,
    drunk,
    excessive,
    grown,
    limited,
    needed,
    played,
    served,
    undressed,
)
from strata.dedup.tokens import Kind, Token
from strata.dedup.voices import VOICES, turned, weighed

_HALF_DAY = 720
_AFTER_NOON = frozenset({"AFTERNOON", "EVENING"})
_DAYPARTS = frozenset({"MORNING", "NOON", "AFTERNOON", "EVENING", "MIDNIGHT", "DAYTIME"})
_MOVABLE = frozenset({"event", "office_thing", "weekday", "clock", "clock12"})
_GOOD = Token("GOOD", Kind.STANCE, "quality", "because of")


def refined(group: Sequence[Token]) -> list[Token]:
    """``group`` with directions bound to what they point at, hours placed in their half of the day, and words that
    repeat or mislead taken out.
    """
    found = list(group)
    marks = {mark for token in found for mark in (token.concept, token.family, token.kind)}
    for place in sorted({place for mark in marks & _WHERE.keys() for place in _WHERE[mark]}):
        found = _REPAIRS[place][1](found)
    return found


def _preferred(group: list[Token]) -> list[Token]:
    """*trains to planes* as *trains rather than planes*."""
    found = weighed(group)
    return group if found is group else bound(found)


def _due(group: list[Token]) -> list[Token]:
    """*by 9* bound as *before 9*."""
    return bound(due(group))


def _forbidden(group: list[Token]) -> list[Token]:
    """不要 before something to do forbids it (不要打电话); before a thing it turns it down (不要香菜)."""
    return [
        token
        for index, token in enumerate(group)
        if not (
            token.surface == "要"
            and index
            and group[index - 1].kind is Kind.NOT
            and _something_to_do(group[index + 1 :])
        )
    ]


def _something_to_do(rest: Sequence[Token]) -> bool:
    following = next((token for token in rest if token.kind is not Kind.DROP), None)
    if following is None or following.kind is Kind.THING:
        return False
    return any(token.kind in {Kind.ACT, Kind.STANCE} for token in rest)


def _timed(group: list[Token]) -> list[Token]:
    """晚上9点 is 21:00; the part of the day is then said with the hour."""
    if not any("@clock12=" in token.concept for token in group):
        return group
    part = next((token.concept for token in group if token.concept in _DAYPARTS), "")
    if part:
        return [_on_clock(token, part) for token in group if token.concept not in _DAYPARTS]
    usual = next((_USUAL_PART[token.concept] for token in group if token.concept in _USUAL_PART), "")
    return [_on_clock(token, usual) if _is_usual(token) else token for token in group] if usual else group


_USUAL_PART = {
    "breakfast": "MORNING",
    "GET_UP": "MORNING",
    "lunch": "NOON",
    "dinner": "EVENING",
    "SLEEP": "EVENING",
}
"""When these are, unless something else is said: nobody has breakfast at 7 in the evening."""
_USUAL_HOURS = (5 * 60, 12 * 60)


def _is_usual(token: Token) -> bool:
    """Tell whether the hour leaves no doubt: bedtime at 9 is in the evening, at 12 or 1 it is night."""
    minutes = token.concept.partition("@clock12=")[2]
    return bool(minutes) and _USUAL_HOURS[0] <= float(minutes) < _USUAL_HOURS[1]


def _on_clock(token: Token, part: str) -> Token:
    prefix, marker, minutes = token.concept.partition("@clock12=")
    if not marker:
        return token
    late = part in _AFTER_NOON or (part == "NOON" and float(minutes) < _HALF_DAY / 3)
    hour = float(minutes) % _HALF_DAY + (_HALF_DAY if late or float(minutes) >= _HALF_DAY else 0)
    if part == "MIDNIGHT":
        hour %= _HALF_DAY
    timed = value("clock", hour, token.surface)
    return Token(prefix + timed.concept, timed.kind, timed.family, timed.surface)


def _diagnosed(group: list[Token]) -> list[Token]:
    """A condition is a problem already: 高血压的毛病 says no more than 高血压."""
    if not any(token.family == "condition" for token in group):
        return group
    return [
        token
        for index, token in enumerate(group)
        if not (_is_verdict(group, index) or (token is NOT and _is_verdict(group, index + 1)))
    ]


def _is_verdict(group: Sequence[Token], index: int) -> bool:
    """The GOOD of an embedded not-good."""
    return index < len(group) and index > 0 and group[index].concept == "GOOD" and group[index - 1] is NOT


def _moved(group: list[Token]) -> list[Token]:
    """A meeting that is moved to Tuesday does not live there."""
    if not any(token.family in _MOVABLE for token in group):
        return group
    return [token for token in group if not (token.concept == "LIVE" and token.surface.startswith("move"))]


def _ranked(group: list[Token]) -> list[Token]:
    """*likes best* is a favourite, *likes better* a preference."""
    rank = next((_RANKS[token.concept] for token in group if token.concept in _RANKS), None)
    if rank is None or all(token.concept != "LIKE" for token in group):
        return group
    return [
        Token(rank, token.kind, token.family, token.surface) if token.concept == "LIKE" else token
        for token in group
        if token.concept not in _RANKS
    ]


_RANKS = {"BEST": "FAVOURITE", "BETTER": "PREFER"}


def _qualified(group: list[Token]) -> list[Token]:
    """二楼的厕所, *Monday's meeting*: a value that says which one is part of the name, not a value of its own."""
    return [
        Token(token.concept, Kind.THING, "id", token.surface)
        if token.kind is Kind.VALUE and _tells_which(group, index)
        else token
        for index, token in enumerate(group)
    ]


def _tells_which(group: Sequence[Token], index: int) -> bool:
    """A value before 的 and a thing, or in *the toilet on the second floor is …*."""
    mark, behind = [*group[index + 1 : index + 3], *[_NOTHING] * 2][:2]
    if mark.surface in _POSSESSIVE and behind.kind in {Kind.THING, Kind.ACT}:
        return True
    before = [token.surface for token in group[max(0, index - 2) : index] if token.surface != "the"]
    is_placed = index > 1 and bool(before) and before[-1] in _PLACING
    return is_placed and any(token.kind is Kind.THING for token in group[:index]) and mark.surface == "be"


_NOTHING = Token("", Kind.DROP)
_POSSESSIVE = frozenset({"的", "s"})
_PLACING = frozenset({"on", "in", "of", "at"})


def _caused(group: list[Token]) -> list[Token]:
    """*because of her knees* gives the knees as a trouble."""
    said = [token for token in group if token.kind not in {Kind.DROP, Kind.LINK, Kind.PERSON}]
    is_cause = any(token.concept == "CAUSE" for token in group)
    if is_cause and said and all(token.family == "body" for token in said):
        return [*group, NOT, _GOOD]
    return group


_REPAIRS: tuple[tuple[frozenset[str], Callable[[list[Token]], list[Token]]], ...] = (
    (frozenset({"role", "profession"}), owned),
    (frozenset({"by"}), _due),
    (frozenset({"PREFER"}), _preferred),
    (VOICES, turned),
    (BINDING, bound),
    (frozenset({"clock12"}), _timed),
    (frozenset({"WANT"}), _forbidden),
    (frozenset({"condition"}), _diagnosed),
    (frozenset({"LIVE"}), _moved),
    (frozenset({"job"}), employed),
    (frozenset({"TAIL_NUMBER"}), ended),
    (frozenset({"SWITCH"}), begun),
    (frozenset({"LEAVE"}), departed),
    (frozenset({"DRINK"}), drunk),
    (frozenset({"GIVE"}), served),
    (frozenset({"UNDER"}), limited),
    (frozenset(_RANKS), _ranked),
    (frozenset({Kind.VALUE}), _qualified),
    (frozenset({"CAUSE"}), _caused),
    (frozenset({"得"}), needed),
    (frozenset({"TAKEOUT"}), binned),
    (frozenset({"STORE"}), left),
    (frozenset({"quality"}), resting),
    (frozenset({"LATE_RISE", "BORN_IN"}), slept),
    (frozenset({"VIDEO_GAME"}), played),
    (frozenset({Kind.NOT}), excessive),
    (frozenset({"AT_LEAST"}), conveyed),
    (frozenset({"DEPART", "DELETE"}), undressed),
    (frozenset({"CALL", "NAME"}), addressed),
    (frozenset({"SWITCH"}), belated),
    (frozenset({"SPEND"}), grown),
)
"""In their order, each with the concepts, families or kinds without which it has nothing to do."""
_WHERE = {
    trigger: tuple(place for place, (triggers, _) in enumerate(_REPAIRS) if trigger in triggers)
    for trigger in frozenset().union(*(triggers for triggers, _ in _REPAIRS))
}
"""By what calls for them, where the repairs stand."""
