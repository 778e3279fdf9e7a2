"""Health, the audit trail, reports, users."""

from datetime import datetime
from typing import Any, Literal

from strata.edge.schemas.ids import Answer


class DependencyOut(Answer):
    """One dependency: ``ok``, ``degraded`` (missing, the service goes on without) or ``down``."""

    state: Literal["ok", "degraded", "down", "off"]
    detail: str = ""


class HealthOut(Answer):
    """Whether the service can work."""

    state: Literal["ok", "degraded", "down"]
    version: str
    schema_version: str
    dependencies: dict[str, DependencyOut]


class EventOut(Answer):
    """One audit event, chained to the one before by its hash."""

    seq: int
    kind: str
    actor: str
    collection: str
    memory_id: str
    detail: dict[str, Any]
    at: datetime
    previous_hash: str
    hash: str


class EventsOut(Answer):
    """Events, newest first; ``before`` asks for the next page."""

    events: list[EventOut]
    before: int | None = None


class AuditsOut(Answer):
    """The weeks of which there is a report, newest first."""

    weeks: list[str]


class ReportOut(Answer):
    """A weekly report."""

    week: str
    report: dict[str, Any]


class ErasedOut(Answer):
    """The manifest of an erasure; ``pending`` names what could not be reached and is tried again by a repeat."""

    user_id: str
    complete: bool
    removed: dict[str, int]
    pending: list[str]


class ExportOut(Answer):
    """Everything that is kept of a user, or what one answer can hold; ``next`` asks for the rest."""

    manifest: dict[str, Any]
    sessions: list[dict[str, Any]]
    memories: list[dict[str, Any]]
    quarantined: list[dict[str, Any]]
    provider_copies: list[dict[str, Any]]
    next: str | None = None
