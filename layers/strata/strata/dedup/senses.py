"""What one word means among others: a takeaway or the bins, what is spent or what grows, a game or a match."""

from collections.abc import Sequence

from strata.dedup.tokens import Kind, Token


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


def played(group: list[Token]) -> list[Token]:
    """*soccer games* are matches."""
    if all(token.family != "sport" for token in group):
        return group
    return [Token("MATCH", Kind.ACT, "event", "game") if token.surface == "game" else token for token in group]


def undressed(group: list[Token]) -> list[Token]:
    """Shoes that are taken off or removed neither depart nor are deleted."""
    if all(token.family != "clothes" for token in group):
        return group
    return [
        Token("UNDRESS", Kind.ACT, "home", token.surface) if token.surface in {"take off", "remove"} else token
        for token in group
    ]


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


_HANDED = frozenset({"ADD", "DELIVER", "BUY", "GIVE", "WATER_PLANTS"})


def _is_flower(group: Sequence[Token], index: int) -> bool:
    if group[index].surface != "花":
        return False
    before = group[index - 1] if index else None
    watered = any(token.concept == "WATER_PLANTS" for token in group)
    return watered or (before is not None and (before.surface == "的" or before.concept in _HANDED))
