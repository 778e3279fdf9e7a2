"""Answers about consolidation runs."""

from datetime import datetime
from typing import Any

from pydantic import Field

from strata.edge.schemas.ids import Answer, Model


class SourceOut(Answer):
    """A message that a memory rests on."""

    session_id: str
    seq: int


class PlannedOut(Answer):
    """One decision of a run's plan."""

    key: str
    action: str
    collection: str
    memory_type: str
    content: str
    importance: int
    rule: str
    evidence: str
    reason: str
    replaces: list[str]
    sources: list[SourceOut]


class ReceiptOut(Answer):
    """Proof of one write."""

    key: str
    memory_id: str
    action: str
    version: int
    provider: str
    kept: str
    """``yes``; ``awaited`` while a provider works in the background; ``lost`` if it never showed the memory."""
    looks: int


class RunOut(Answer):
    """One consolidation of one session."""

    run_id: str
    session_id: str
    user_id: str
    agent_id: str
    state: str
    from_seq: int
    upto_seq: int
    attempts: int
    judge: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    judge_error: str | None = None
    plan: list[PlannedOut] | None = None
    receipts: list[ReceiptOut] = []
    counts: dict[str, int] = {}
    timings_ms: dict[str, float] = {}
    cost: dict[str, Any] = {}
    error_code: str = ""
    error_detail: str = ""
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None


class UndoIn(Model):
    """How a run is undone."""

    dry_run: bool = Field(default=False, description="Only show what would be taken back.")


class UndoStepOut(Answer):
    """What becomes of one memory that the run wrote."""

    memory_id: str
    collection: str
    change: str
    """``undo``: it goes; ``rollback`` and ``restore``: it is as it was before the run."""
    from_version: int
    to_version: int
    """The version whose state comes back; 0 = it was not there."""


class LeftOut(Answer):
    """A memory that an undo leaves as it is."""

    memory_id: str
    reason: str


class UndoOut(RunOut):
    """The run as it is now, and what was (or would be) taken back."""

    applied: bool
    steps: list[UndoStepOut]
    left: list[LeftOut]
    leaving: list[str]
    """Copies at external providers, whose removal follows."""
    withdrawn: list[str]
    """Texts of the run that waited in quarantine; they are kept out."""


class PlanOut(Answer):
    """What a run would do now."""

    judge: str
    model: str
    judge_error: str
    counts: dict[str, int]
    plan: list[PlannedOut]


class RunsOut(Answer):
    """Runs, newest first."""

    runs: list[RunOut]
    before: str | None = None
