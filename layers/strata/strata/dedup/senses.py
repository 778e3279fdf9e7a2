"""What one word means among others: a job or a verdict, a takeaway or the bins, what is spent or what grows."""

from collections.abc import Sequence

from strata.dedup.lexicon import NOT
from strata.dedup.tokens import Kind, Token

_ARTICLES = frozenset({"s", "the", "a", "my", "their", "his", "her"})


def served(group: list[Token]) -> list[Token]:
    """给孩子喝奶茶: who is given it drinks it."""
    return [
        token
        for index, token in enumerate(group)
        if not (token.surface == "给" and _is_fed(group[index + 1 : index + 2], group[index + 2 :]))
    ]


def _is_fed(behind: Sequence[Token], rest: Sequence[Token]) -> bool:
    if not behind or behind[0].kind is not Kind.PERSON:
        return False
    if behind[0].concept == "USER":  # 给用户推荐餐厅
        return any(token.kind in {Kind.ACT, Kind.DIRECTION} for token in rest)
    return any(token.family == "consume" for token in rest)


def limited(group: list[Token]) -> list[Token]:
    """*under 100 words* is a limit, *under the bed* a place."""
    return [
        Token("AT_MOST", Kind.DEGREE, "degree", token.surface)
        if token.concept == "UNDER" and group[index + 1 : index + 2] and group[index + 1].kind is Kind.VALUE
        else token
        for index, token in enumerate(group)
    ]


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


def drunk(group: list[Token]) -> list[Token]:
    """Who *drinks*, without saying what, drinks alcohol."""
    last = next((token for token in reversed(group) if token.kind in {Kind.THING, Kind.ACT}), None)
    drinks = last is not None and last.concept == "DRINK" and last.surface.startswith("drink")
    return [*group, Token("alcohol", Kind.THING, "drink", "drink")] if drinks else group


def needed(group: list[Token]) -> list[Token]:
    """每天得喝水: 得 before something to do, behind nothing done, is a need."""
    return [_as_need(group, index) for index in range(len(group))]


def _as_need(group: Sequence[Token], index: int) -> Token:
    token, behind = group[index], group[index + 1 : index + 2]
    if token.concept != "得" or not behind or behind[0].kind is not Kind.ACT:
        return token
    done = index and group[index - 1].kind in {Kind.ACT, Kind.STANCE}
    return token if done else Token("NEED", Kind.STANCE, "permission", token.surface)


def addressed(group: list[Token]) -> list[Token]:
    """*call me Sam*, *prefers to be called Sam*: how to be spoken to, not what somebody is named."""
    wished = any(token.concept in _WISHING for token in group)
    return [
        Token("ADDRESS_AS", Kind.ACT, "communicate", token.surface)
        if (token.concept == "NAME" and wished) or _is_calling_me(group, index)
        else token
        for index, token in enumerate(group)
    ]


_WISHING = frozenset({"PREFER", "WISH", "WANT"})


def _is_calling_me(group: Sequence[Token], index: int) -> bool:
    behind = [token for token in group[index + 1 :] if token.kind is not Kind.DROP]
    if group[index].concept not in {"CALL", "NAME"} or len(behind) < 2 or behind[0].concept != "USER":  # noqa: PLR2004
        return False
    return behind[1].family in {"?", "name"} and behind[1].kind is not Kind.VALUE


def conveyed(group: list[Token]) -> list[Token]:
    """*over Zoom*, *over the phone*: by way of it, no amount."""
    return [token for index, token in enumerate(group) if not (token.surface == "over" and _is_medium(group, index))]


def _is_medium(group: Sequence[Token], index: int) -> bool:
    behind = next((token for token in group[index + 1 :] if token.kind is not Kind.DROP), None)
    return behind is not None and behind.family in {"messenger", "communicate", "device"}


def excessive(group: list[Token]) -> list[Token]:
    """不吃太辣的: who eats nothing very hot may eat what is a little hot."""
    if all(token.surface not in _EXTREMELY for token in group):
        return group
    return [
        Token("VERY", Kind.DEGREE, "degree", token.surface) if _limits_a_denial(group, index) else token
        for index, token in enumerate(group)
    ]


_EXTREMELY = frozenset("太 很 非常 特别 too very extremely so really super".split())


def _limits_a_denial(group: Sequence[Token], index: int) -> bool:
    """Tell whether an intensifier stands between what is denied to be done and what is not eaten or drunk."""
    behind = group[index + 1 : index + 2]
    if group[index].surface not in _EXTREMELY or not behind:
        return False
    if behind[0].concept in {"MAY", "CAN"}:  # 不太能吃辣
        return index > 0 and group[index - 1].kind is Kind.NOT
    if behind[0].family not in {"food", "drink"}:
        return False
    kinds = [token.kind for token in group[:index]]
    return Kind.NOT in kinds and bool({Kind.ACT, Kind.STANCE} & set(kinds[kinds.index(Kind.NOT) :]))


def undressed(group: list[Token]) -> list[Token]:
    """Shoes that are taken off or removed neither depart nor are deleted."""
    if all(token.family != "clothes" for token in group):
        return group
    return [
        Token("UNDRESS", Kind.ACT, "home", token.surface) if token.surface in {"take off", "remove"} else token
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
    if all(token.family != "age" for token in group):
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


def binned(group: list[Token]) -> list[Token]:
    """The rubbish that is *taken out* is no meal."""
    if all(token.concept != "trash" for token in group):
        return group
    return [Token("THROW", Kind.ACT, "home", token.surface) if token.concept == "TAKEOUT" else token for token in group]


def grown(group: list[Token]) -> list[Token]:
    """阳台的花: flowers, where nothing is paid."""
    return [
        Token("plant", Kind.THING, "nature", token.surface) if _is_flower(group, index) else token
        for index, token in enumerate(group)
    ]


def _is_flower(group: Sequence[Token], index: int) -> bool:
    if group[index].surface != "花":
        return False
    before = group[index - 1] if index else None
    watered = any(token.concept == "WATER_PLANTS" for token in group)
    return watered or (before is not None and (before.surface == "的" or before.concept == "ADD"))
