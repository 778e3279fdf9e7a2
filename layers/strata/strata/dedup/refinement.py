"""Small repairs once a clause's words are together: what one word means depends on its neighbours."""

from collections.abc import Callable, Sequence

from strata.dedup.bindings import BINDING, bound
from strata.dedup.lexicon import NOT
from strata.dedup.quantities import value
from strata.dedup.tokens import Kind, Token

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
    for triggers, repair in _REPAIRS:
        if not triggers.isdisjoint(marks):
            found = repair(found)
    return found


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
    part = next((token.concept for token in group if token.concept in _DAYPARTS), "")
    if not part or not any("@clock12=" in token.concept for token in group):
        return group
    return [_on_clock(token, part) for token in group if token.concept not in _DAYPARTS]


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


def _served(group: list[Token]) -> list[Token]:
    """给孩子喝奶茶: who is given it drinks it."""
    return [
        token
        for index, token in enumerate(group)
        if not (token.surface == "给" and _is_fed(group[index + 1 : index + 2], group[index + 2 :]))
    ]


def _is_fed(behind: Sequence[Token], rest: Sequence[Token]) -> bool:
    return bool(behind) and behind[0].kind is Kind.PERSON and any(token.family == "consume" for token in rest)


def _limited(group: list[Token]) -> list[Token]:
    """*under 100 words* is a limit, *under the bed* a place."""
    return [
        Token("AT_MOST", Kind.DEGREE, "degree", token.surface)
        if token.concept == "UNDER" and group[index + 1 : index + 2] and group[index + 1].kind is Kind.VALUE
        else token
        for index, token in enumerate(group)
    ]


def _employed(group: list[Token]) -> list[Token]:
    """*works on Saturdays* is a job; *works on a novel* and 工作压力 are not."""
    if all(token.family != "job" for token in group):
        return group
    return [_as_employment(group, index) for index in range(len(group))]


def _as_employment(group: Sequence[Token], index: int) -> Token:
    token, rest = group[index], group[index + 1 :]
    behind = next((later for later in rest if later.kind is not Kind.DROP), None)
    if token.concept == "WORK_ON" and behind and behind.kind in {Kind.VALUE, Kind.TIME}:
        return Token("JOB", Kind.ACT, "job", token.surface)
    if token.concept == "JOB" and token.surface == "work" and _is_machine(group):
        return Token("GOOD", Kind.STANCE, "quality", token.surface)
    is_noun = token.surface == "工作" or (token.surface == "work" and index and group[index - 1].surface in _ARTICLES)
    if is_noun and rest and rest[0].kind is Kind.THING:
        return Token(token.surface, Kind.THING, "?", token.surface)
    return token


def _is_machine(group: Sequence[Token]) -> bool:
    """*the elevator works*: nobody is employed."""
    return any(token.family == "device" for token in group) and all(token.kind is not Kind.PERSON for token in group)


_DATED = frozenset({"month", "date", "weekday", "year", "monthday"})
_TIMES = frozenset({"clock", "clock12"})


def _ended(group: list[Token]) -> list[Token]:
    """*ends in 82* is a number's last digits, *ends in June* an end."""
    if not any(token.family in _DATED for token in group):
        return group
    return [
        Token("EXPIRE", Kind.ACT, "transact", token.surface)
        if token.concept == "TAIL_NUMBER" and token.surface.isascii()
        else token
        for token in group
    ]


def _begun(group: list[Token]) -> list[Token]:
    """*starts at 8:20* and *joins a club* take no new job."""
    return [token for index, token in enumerate(group) if not _is_no_job(token, group[index + 1 : index + 3])]


def _is_no_job(token: Token, behind: Sequence[Token]) -> bool:
    if token.surface == "start at":
        return any(later.family in _TIMES for later in behind)
    return token.surface == "join" and any(later.surface in _ARTICLES for later in behind)


def _departed(group: list[Token]) -> list[Token]:
    """*left Google*: does not work there now."""
    if all(token.family != "employer" for token in group):
        return group
    away = (NOT, Token("NOW", Kind.CHANGE, "change", "left"), Token("JOB", Kind.ACT, "job", "left"))
    return [part for token in group for part in (away if token.concept == "LEAVE" else (token,))]


def _drunk(group: list[Token]) -> list[Token]:
    """Who *drinks*, without saying what, drinks alcohol."""
    last = next((token for token in reversed(group) if token.kind in {Kind.THING, Kind.ACT}), None)
    drinks = last is not None and last.concept == "DRINK" and last.surface.startswith("drink")
    return [*group, Token("alcohol", Kind.THING, "drink", "drink")] if drinks else group


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
_ARTICLES = frozenset({"s", "the", "a", "my", "their", "his", "her"})


def _qualified(group: list[Token]) -> list[Token]:
    """二楼的厕所, *Monday's meeting*: a value that says which one is part of the name, not a value of its own."""
    return [
        Token(token.concept, Kind.THING, "id", token.surface) if _tells_which(group, index) else token
        for index, token in enumerate(group)
    ]


def _tells_which(group: Sequence[Token], index: int) -> bool:
    """A value before 的 and a thing, or in *the toilet on the second floor is …*."""
    if group[index].kind is not Kind.VALUE:
        return False
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
    (BINDING, bound),
    (frozenset({"clock12"}), _timed),
    (frozenset({"WANT"}), _forbidden),
    (frozenset({"condition"}), _diagnosed),
    (frozenset({"LIVE"}), _moved),
    (frozenset({"job"}), _employed),
    (frozenset({"TAIL_NUMBER"}), _ended),
    (frozenset({"SWITCH"}), _begun),
    (frozenset({"LEAVE"}), _departed),
    (frozenset({"DRINK"}), _drunk),
    (frozenset({"GIVE"}), _served),
    (frozenset({"UNDER"}), _limited),
    (frozenset(_RANKS), _ranked),
    (frozenset({Kind.VALUE}), _qualified),
    (frozenset({"CAUSE"}), _caused),
)
"""In their order, each with the concepts, families or kinds without which it has nothing to do."""
