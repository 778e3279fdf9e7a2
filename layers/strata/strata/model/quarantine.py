"""Texts that were set aside: they tell a model what to do, and a person has to read them first."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from strata.model.messages import JsonObject


class ReviewState(StrEnum):
    """What became of a text in quarantine."""

    WAITING = "waiting"
    RELEASED = "released"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    """The run that set it aside was undone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A person's decision to let a text in. It travels with the write that it allows, and is made in one with it."""

    quarantine_id: str
    reviewer: str
    """The administrator's agent id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """A text that was to be written, and everything a person needs to decide about it."""

    tenant: str
    quarantine_id: str
    """Deterministic: the same text from the same place is set aside once."""
    collection: str
    memory_type: str
    content: str
    reason: str
    agent_id: str
    """Where it comes from; its rights decide whether a release may write."""
    session_id: str = ""
    run_id: str | None = None
    user_id: str = ""
    memory_id: str = ""
    """The memory it was to change, or the one it became when it was released."""
    unit: JsonObject = field(default_factory=dict)
    """What else was to be written, by the names the library gives it."""
    created_at: datetime
    state: ReviewState = ReviewState.WAITING
    decided_at: datetime | None = None
    decided_by: str = ""
