"""Texts that were set aside for review."""

from datetime import datetime
from typing import Any, Literal

from strata.edge.schemas.ids import Answer

State = Literal["waiting", "released", "rejected", "withdrawn"]


class QuarantinedOut(Answer):
    """A text that was to be written, where it comes from, and what was decided about it."""

    quarantine_id: str
    collection: str
    memory_type: str
    content: str
    reason: str
    agent_id: str
    session_id: str
    run_id: str | None
    user_id: str
    memory_id: str
    unit: dict[str, Any]
    state: State
    created_at: datetime
    decided_at: datetime | None
    decided_by: str


class QuarantineOut(Answer):
    """Texts, newest first; ``before`` asks for the next page."""

    quarantined: list[QuarantinedOut]
    before: str | None = None
