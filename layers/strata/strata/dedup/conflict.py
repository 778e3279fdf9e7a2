"""What becomes of a new statement and the stored one it meets, without a model.

Order is by when things were *said*: a statement that arrives late does not undo a later one. By these rules nothing
is ever deleted; what is superseded stays in history, and a safety fact (allergy, medication, diet, access) also stays
visible until somebody confirms the change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from strata.dedup.guard import Keep, PairDecision, PairKind, decide
from strata.dedup.similarity import propose_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Something said."""

    text: str
    said_at: datetime
    safety: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Existing:
    """A stored statement."""

    id: str
    text: str
    said_at: datetime
    safety: bool = False


class Action(StrEnum):
    """What to do with a new statement."""

    WRITE = "write"
    """Store it: it has nothing to do with what is stored."""
    SKIP = "skip"
    """It is stored already, or a later statement has overtaken it: add a source, refresh nothing else."""
    REFINE = "refine"
    """Store it and link the two; one of them may hold alone."""
    SUPERSEDE = "supersede"
    """Store it; of the two the later one holds."""
    KEEP_BOTH_FLAGGED = "keep_both_flagged"
    """Store it; both hold, marked as contradicting each other: neither was said later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """How a new statement and one stored go on."""

    action: Action
    existing_id: str | None = None
    """The stored statement it was compared with; ``None`` = it stands alone."""
    new_is_superseded: bool = False
    """The new one is written as history: something said later, or richer, holds."""
    existing_is_superseded: bool = False
    """The stored one becomes history, marked with what replaced it."""
    hide_old: bool = False
    """Whether what was superseded leaves the active set at once; a safety fact does not."""
    needs_confirmation: bool = False
    """A safety fact is contradicted: somebody has to confirm which holds."""
    decision: PairDecision | None = None


def resolve(existing: Existing, new: Statement) -> Resolution:
    """How ``new`` and ``existing`` go on together. Pure; deletes nothing."""
    is_later = new.said_at >= existing.said_at
    old, young = (existing.text, new.text) if is_later else (new.text, existing.text)
    return _resolved(existing, new, decide(old, young))


def resolve_all(new: Sequence[Statement], stored: Sequence[Existing], *, limit: int = 20) -> list[list[Resolution]]:
    """For every new statement what it does to the stored ones of its collection it has to do with, the most telling
    first; a single ``write`` if there are none. New statements are not compared with one another.
    """
    proposed = propose_batch([each.text for each in new], [each.text for each in stored], limit=limit)
    found = []
    for statement, proposals in zip(new, proposed, strict=True):
        resolutions = [resolve(stored[each.place], statement) for each in proposals]
        related = sorted((each for each in resolutions if each.action is not Action.WRITE), key=_urgency)
        found.append(related or [Resolution(action=Action.WRITE)])
    return found


_URGENCY = (Action.SKIP, Action.SUPERSEDE, Action.KEEP_BOTH_FLAGGED, Action.REFINE)


def _urgency(resolution: Resolution) -> int:
    return _URGENCY.index(resolution.action)


def _resolved(existing: Existing, new: Statement, decision: PairDecision) -> Resolution:
    if decision.kind is PairKind.CONFLICT:
        return _contradicted(existing, new, decision)
    if decision.kind is PairKind.DISTINCT:
        return Resolution(action=Action.WRITE, decision=decision)
    return _agreed(existing, new, decision)


def _contradicted(existing: Existing, new: Statement, decision: PairDecision) -> Resolution:
    """The later one holds. A preference that flips back is said later, so it is written again."""
    if new.said_at == existing.said_at:
        return Resolution(
            action=Action.KEEP_BOTH_FLAGGED, existing_id=existing.id, needs_confirmation=True, decision=decision
        )
    is_later = new.said_at > existing.said_at
    is_safety = existing.safety or new.safety
    return Resolution(
        action=Action.SUPERSEDE,
        existing_id=existing.id,
        new_is_superseded=not is_later,
        existing_is_superseded=is_later,
        hide_old=not is_safety,
        needs_confirmation=is_safety,
        decision=decision,
    )


def _agreed(existing: Existing, new: Statement, decision: PairDecision) -> Resolution:
    """One fact, or one fact and more of it: what says more holds alone if it repeats the other whole."""
    is_later = new.said_at >= existing.said_at
    held = decision.keep if is_later else _TURNED[decision.keep]
    if held is Keep.OLD:
        return Resolution(action=Action.SKIP, existing_id=existing.id, decision=decision)
    replaces = held is Keep.NEW
    return Resolution(
        action=Action.REFINE,
        existing_id=existing.id,
        existing_is_superseded=replaces,
        hide_old=replaces,
        decision=decision,
    )


_TURNED = {Keep.OLD: Keep.NEW, Keep.NEW: Keep.OLD, Keep.BOTH: Keep.BOTH}
"""``decide`` was asked with the two the other way round."""
