"""For or against: which negations of a clause count, and which cancel."""

from collections.abc import Sequence
from dataclasses import dataclass

from strata.dedup.tokens import Kind, Token


@dataclass(frozen=True, slots=True)
class Polarity:
    """The sign of a clause."""

    negative: bool
    doubled: bool
    """Two negations cancelled: *doesn't hate* is not negative, and not the same as *likes*."""


_SIGNS = {
    (negative, doubled): Polarity(negative=negative, doubled=doubled)
    for negative in (False, True)
    for doubled in (False, True)
}


def polarity(group: Sequence[Token]) -> Polarity:
    """A spoken negation cancels the negative word it stands before (不过敏, *no longer allergic*).

    Two that stand apart do not.
    """
    negative = doubled = pending = False
    for place, token in enumerate(group):
        if token.kind is not Kind.NOT:
            continue
        spoken = bool(token.surface) or _ends_something(group, place)
        if pending:
            pending, doubled = False, True
        elif spoken:
            pending = True
        else:
            negative = True
    return _SIGNS[negative or pending, doubled]


def _ends_something(group: Sequence[Token], place: int) -> bool:
    """*no longer*, 不再: negates what comes behind it, as a spoken *not* does, and is one word with its negation."""
    return any(token.kind is Kind.CHANGE for token in group[place + 1 : place + 2])
