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
    index = 0
    while index < len(group):
        token = group[index]
        behind = _next_bindable(group, index)
        if token.concept in _BINDS_EITHER and not token.surface.isascii() and found and found[-1].kind in _BINDABLE:
            found.append(_bind(token, found.pop()))
        elif token.concept == "FROM" and behind and _is_range(group, behind):
            pass  # from 9 to 6: an amount of time, not a way
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
