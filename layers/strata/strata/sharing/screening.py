"""What a screen is shown of a text that an agent is about to write."""

from collections.abc import Callable
from dataclasses import dataclass

from strata.ports import Access, MemoryDraft
from strata.sharing.units import NewUnit, UnitChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A text that an agent is about to write, and what comes with it."""

    collection: str
    memory_type: str
    content: str
    unit: NewUnit | UnitChange
    memory_id: str = ""
    """The memory that it changes, or the id that a new one is to have."""
    user_id: str = ""


Screen = Callable[[Access, Proposed], None]
"""Raises QuarantinedError for a text that tells a model what to do."""


def pass_all(_access: Access, _proposed: Proposed) -> None:
    """The screen of a library that quarantines nothing."""


def proposal_of(draft: MemoryDraft, unit: NewUnit) -> Proposed:
    """Return what a screen is shown of a new memory."""
    return Proposed(
        collection=draft.collection,
        memory_type=draft.memory_type,
        content=draft.content,
        unit=unit,
        memory_id=unit.memory_id or "",
        user_id=draft.user_id,
    )
