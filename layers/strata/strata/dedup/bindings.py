"""Words of direction bound to what they point at, so that *tea before coffee* is not *coffee before tea*."""

from collections.abc import Sequence

from strata.dedup.tokens import Kind, Token

_BINDS_NEXT = frozenset({"FROM", "THAN", "EXCEPT", "BY"})
_BINDS_EITHER = frozenset({"BEFORE", "AFTER"})
BINDING = _BINDS_NEXT | _BINDS_EITHER
"""Concepts that bind."""
_BINDABLE = frozenset({Kind.THING, Kind.ACT, Kind.VALUE, Kind.TIME, Kind.PERSON})
_COUNTLESS = frozenset({"EVERY", "USER", "PRO"})
"""Stepped over on the way to what is meant."""


def bound(group: list[Token]) -> list[Token]:
    """*before bed* and 睡前 become one token, so that *tea before coffee* is not *coffee before tea*."""
    found: list[Token] = []
    is_cause = any(token.family == "symptom" for token in group)
    index = 0
    while index < len(group):
        token = group[index]
        behind = _next_bindable(group, index)
        if token.concept in _BINDS_EITHER and not token.surface.isascii() and found and found[-1].kind in _BINDABLE:
            found.append(_bind(token, found.pop()))
        elif token.concept == "FROM" and behind and (is_cause or _is_range(group, behind)):
            pass  # from 9 to 6: an amount of time, not a way; a rash from soap: what it comes of
        elif token.concept in BINDING and behind:
            found.append(_bind(token, group[behind]))
            index = behind
        else:
            found.append(token)
        index += 1
    return found


def _is_range(group: Sequence[Token], behind: int) -> bool:
    is_moved = any(token.kind is Kind.CHANGE for token in group)
    return group[behind].kind is Kind.VALUE and not is_moved and any(t.kind is Kind.VALUE for t in group[behind + 1 :])


def owned(group: list[Token]) -> list[Token]:
    """*is Tom's teacher*: whose, where *Tom is the teacher* could be read into the same words."""
    if all(token.surface not in _COPULAS for token in group):
        return group
    found = list(group)
    for index, token in enumerate(group):
        owner = _owner(group, index)
        if (
            owner is not None
            and _tells_apart(group, owner, index)
            and token.kind in {Kind.PERSON, Kind.THING}
            and token.family in _RELATED
        ):
            whose = group[owner]
            found[owner] = Token(f"OF:{whose.concept}", Kind.THING, "owner", whose.surface)
    return found


def _owner(group: Sequence[Token], index: int) -> int | None:
    """Where the name stands of whom the one at ``index`` is a relation: *Tom's …*, *… of Tom*."""
    before = index - 2
    if before >= 0 and group[index - 1].surface in _POSSESSIVE and _is_somebody(group[before]):
        return before
    behind = [place for place in range(index + 1, len(group)) if group[place].surface not in {"the", "a"}][:2]
    if len(behind) > 1 and group[behind[0]].surface == "of" and _is_somebody(group[behind[1]]):
        return behind[1]
    return None


def _tells_apart(group: Sequence[Token], owner: int, index: int) -> bool:
    """Tell whether the owner could as well be what is owned: a name, or one role of several."""
    if group[owner].family != "role":
        return True
    return any(token.family == "role" and place not in {owner, index} for place, token in enumerate(group))


def _is_somebody(token: Token) -> bool:
    return token.kind is Kind.PERSON or (token.kind is Kind.THING and token.family == "?")


_COPULAS = frozenset({"be", "是", "为"})
_POSSESSIVE = frozenset({"s", "的"})
_RELATED = frozenset({"role", "profession"})


def _next_bindable(group: Sequence[Token], index: int) -> int:
    """Where the next content stands, past function words; 0 = nowhere."""
    for later in range(index + 1, len(group)):
        if group[later].kind in _BINDABLE and group[later].concept not in _COUNTLESS:
            return later
        if group[later].kind is not Kind.DROP and group[later].concept not in _COUNTLESS:
            break
    return 0


def _bind(direction: Token, target: Token) -> Token:
    kind = target.kind if target.kind is not Kind.PERSON else Kind.THING
    family = f"{direction.concept}:{target.family}" if kind in {Kind.VALUE, Kind.TIME} else target.family
    return Token(f"{direction.concept}:{target.concept}", kind, family, f"{direction.surface} {target.surface}")
