"""What words of work, of coming and going and of age mean beside a time."""

from collections.abc import Sequence

from strata.dedup.lexicon import NOT
from strata.dedup.tokens import Kind, Token

_ARTICLES = frozenset({"s", "the", "a", "my", "their", "his", "her"})


def employed(group: list[Token]) -> list[Token]:
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


def ended(group: list[Token]) -> list[Token]:
    """*ends in 82* is a number's last digits, *ends in June* an end."""
    if not any(token.family in _DATED for token in group):
        return group
    return [
        Token("EXPIRE", Kind.ACT, "transact", token.surface)
        if token.concept == "TAIL_NUMBER" and token.surface.isascii()
        else token
        for token in group
    ]


def begun(group: list[Token]) -> list[Token]:
    """*starts at 8:20* and *joins a club* take no new job."""
    return [token for index, token in enumerate(group) if not _is_no_job(token, group[index + 1 : index + 3])]


def _is_no_job(token: Token, behind: Sequence[Token]) -> bool:
    if token.surface == "start at":
        return any(later.family in _TIMES for later in behind)
    return token.surface == "join" and any(later.surface in _ARTICLES for later in behind)


def departed(group: list[Token]) -> list[Token]:
    """*left Google*: does not work there now."""
    if all(token.family != "employer" for token in group):
        return group
    away = (NOT, Token("NOW", Kind.CHANGE, "change", "left"), Token("JOB", Kind.ACT, "job", "left"))
    return [part for token in group for part in (away if token.concept == "LEAVE" else (token,))]


def due(group: list[Token]) -> list[Token]:
    """*asleep by 9*, *home by Friday*: before."""
    return [
        Token("BEFORE", Kind.DEGREE, "degree", token.surface)
        if token.surface == "by" and index + 1 < len(group) and group[index + 1].family in _TIMES | _DATED
        else token
        for index, token in enumerate(group)
    ]


def slept(group: list[Token]) -> list[Token]:
    """*sleeps in the crate* is no lie-in, *is from 12 to 1* no birthplace."""
    return [
        _as_said(token, group[index + 1 : index + 2]) for index, token in enumerate(group) if not _is_span(group, index)
    ]


def _as_said(token: Token, behind: Sequence[Token]) -> Token:
    if token.surface == "sleep in" and behind and (behind[0].surface in _ARTICLES or behind[0].kind is Kind.THING):
        return Token("SLEEP", Kind.ACT, "sleep", "sleep")
    return token


def _is_span(group: Sequence[Token], index: int) -> bool:
    behind = group[index + 1 : index + 2]
    return group[index].surface == "be from" and bool(behind) and behind[0].kind is Kind.VALUE


def resting(group: list[Token]) -> list[Token]:
    """*doesn't work on Sundays*: nothing is broken where no machine is spoken of."""
    if any(token.family in {"device", "vehicle"} for token in group):
        return group
    timed = any(token.kind in {Kind.VALUE, Kind.TIME} for token in group)
    return [
        Token("JOB", Kind.ACT, "job", "work")
        if timed and token.surface == "not work" and token.concept == "GOOD"
        else token
        for token in group
    ]


def left(group: list[Token]) -> list[Token]:
    """*leaves at 7:45* is a departure, *leave at the door* is not."""
    if all(token.family not in _TIMES | _DATED for token in group) or any(token.concept == "PARCEL" for token in group):
        return group
    return [
        Token("DEPART", Kind.ACT, "motion", token.surface) if token.surface in {"leave at", "leave on"} else token
        for token in group
    ]


def aged(group: list[Token]) -> list[Token]:
    """*has a three-year-old daughter*: the daughter is three."""
    if "age" not in [token.family for token in group]:
        return group
    child = next((n for n, token in enumerate(group) if token.family == "role"), 0)
    age = next((n for n in range(child) if group[n].family == "age"), None)
    owns = any(token.concept in _OWNING for token in group[:child])
    if age is None or not owns or any(token.kind is Kind.NOT for token in group):
        return group
    kept = [token for token in group[:child] if token.concept not in _OWNING | {"USER", "@count=1"}]
    return [*(token for token in kept if token is not group[age]), group[child], group[age], *group[child + 1 :]]


_OWNING = frozenset({"HAVE", "KEEP_PET"})


def belated(group: list[Token]) -> list[Token]:
    """*is delayed*, to no other time: late."""
    if any(token.kind is Kind.VALUE for token in group):
        return group
    return [
        Token("LATE", Kind.THING, "trait", token.surface) if token.surface in _DELAYED else token for token in group
    ]


_DELAYED = frozenset({"delay", "be delay", "be delayed", "delayed", "延误", "延迟"})
