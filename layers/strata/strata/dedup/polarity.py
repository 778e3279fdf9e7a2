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


def polarity(group: Sequence[Token]) -> Polarity:
    """A spoken negation cancels the negative word it stands before (不过敏); two that stand apart do not."""
    negative = doubled = pending = False
    for token in group:
        if token.kind is not Kind.NOT:
            continue
        spoken = bool(token.surface)
        if pending:
            pending, doubled = False, True
        elif spoken:
            pending = True
        else:
            negative = True
    return Polarity(negative=negative or pending, doubled=doubled)
