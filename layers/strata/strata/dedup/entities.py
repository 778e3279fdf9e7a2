"""Who a clause is about, and whether the user is one of several."""

from collections.abc import Sequence

from strata.dedup.tokens import Kind, Token

_USER = Token("USER", Kind.PERSON, "self", "user")
_UNNAMED = frozenset({"USER", "PRO"})
_POSSESSIVE = frozenset({"的", "s"})
_BESIDE = frozenset({"和", "跟", "与", "同", "给", "帮", "陪", "替", "向", "with", "to", "for", "from", "against"})


def about(group: Sequence[Token], inherited: frozenset[str]) -> frozenset[str]:
    """The people of a clause; empty = the user alone. A clause that names nobody is about those before it."""
    people = [token.concept for token in group if token.kind is Kind.PERSON]
    found = frozenset(people) - _UNNAMED
    if found:
        return found | {"USER"} if _takes_part(group) else found
    return frozenset() if "USER" in people else inherited


def with_user(group: Sequence[Token]) -> list[Token]:
    """The tokens of ``group`` with the user where he takes part, said or left out, and not where he only owns."""
    if all(token.concept != "USER" for token in group):
        return [_USER, *group] if _begins_with_predicate(group) else list(group)
    kept = [token for index, token in enumerate(group) if not _is_owner(group, index)]
    named = any(token.concept == "USER" for token in kept)
    return kept if named or not _begins_with_predicate(kept) else [_USER, *kept]


def _begins_with_predicate(group: Sequence[Token]) -> bool:
    """Tell whether nothing stands before the first predicate that could be its subject."""
    for token in group:
        if token.kind in {Kind.STANCE, Kind.ACT}:
            return True
        if token.kind in {Kind.PERSON, Kind.THING}:
            return _is_beside(group)
    return False


def _is_beside(group: Sequence[Token]) -> bool:
    """和小李去爬山: the one named first is only company; what is *not allowed for guests* is theirs alone."""
    if any(token.concept == "MAY" for token in group) and any(token.surface == "for" for token in group):
        return False
    first = next((n for n, token in enumerate(group) if token.kind in {Kind.PERSON, Kind.THING}), 0)
    if group[first - 1].surface == "给" and any(token.family == "consume" for token in group):
        return False  # 给孩子喝: the child drinks
    return first > 0 and group[first - 1].surface in _BESIDE


def _takes_part(group: Sequence[Token]) -> bool:
    """Tell whether the user acts beside the people named: said (用户和小李), or left out (和小李去爬山)."""
    if any(token.concept == "USER" and not _is_owner(group, index) for index, token in enumerate(group)):
        return True
    return _is_beside(group)


def _is_owner(group: Sequence[Token], index: int) -> bool:
    """*the user's mother*: the user only says whose."""
    if group[index].concept != "USER":
        return False
    following = group[index + 1] if index + 1 < len(group) else None
    return following is not None and (following.surface in _POSSESSIVE or following.kind is Kind.PERSON)
