"""What scheduled jobs and the care for a user's data need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from strata.model.memories import (
    Memory,
)
from strata.model.messages import JsonObject
from strata.model.quarantine import Quarantined


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """What one batch of a purge did."""

    removed: int
    kept: int
    """Rows that were due and had been renewed when it came to removing them."""
    more: bool
    """True if another batch may find something."""


class Purge(Protocol):
    """Physical removal of what has run out."""

    def purge_due(self, *, now: datetime, limit: int) -> Purged:
        """Remove up to ``limit`` memories of each type; expiry is checked again in the DELETE."""
        ...


class Retention(Protocol):
    """Removal of what is kept for a number of days only."""

    def purge_reads(self, *, before: datetime, now: datetime, limit: int) -> int:
        """Remove up to ``limit`` entries of the read ledger from before an instant; return how many."""
        ...

    def purge_quarantine(self, *, before: datetime, now: datetime, limit: int) -> int:
        """Remove up to ``limit`` texts that were set aside before an instant; return how many."""
        ...

    def retire_copies(self, *, now: datetime, limit: int) -> int:
        """Note the removal of up to ``limit`` providers' copies of memories that have run out; return how many.

        Reconcile removes them there, and tries until it succeeds.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """How often something happened, by day, kind of event and actor."""

    day: str
    """ISO date in UTC."""
    kind: str
    actor: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contested:
    """A memory with changes that were made over a version their author had not read."""

    memory_id: str
    collection: str
    conflicts: int


class AuditStore(Protocol):
    """What a weekly report is made of, and the reports."""

    def activity(self, tenant: str, since: datetime, until: datetime) -> list[Activity]:
        """Return what happened to memories, from the audit trail."""
        ...

    def reads_by_agent(self, tenant: str, since: datetime, until: datetime) -> dict[str, int]:
        """Return how many memories each agent was given."""
        ...

    def contested(self, tenant: str, since: datetime, until: datetime, *, limit: int) -> list[Contested]:
        """Return the memories with most conflicts, most first."""
        ...

    def never_read(self, tenant: str, *, now: datetime) -> tuple[int, int]:
        """Return how many memories are live, and how many of these nobody was ever given."""
        ...

    def written(self, tenant: str, since: datetime, until: datetime, *, limit: int) -> list[Memory]:
        """Return live memories that were made in a span of time, newest first."""
        ...

    def beside(self, memory: Memory, *, limit: int) -> list[Memory]:
        """Return the newest live memories of the same collection and type."""
        ...

    def save(self, tenant: str, week: str, report: JsonObject, *, now: datetime) -> None:
        """Keep a report; one that is there is replaced."""
        ...

    def load(self, tenant: str, week: str) -> JsonObject | None:
        """Return a report, or None."""
        ...

    def weeks(self, tenant: str) -> list[str]:
        """Return the weeks that have a report, newest first."""
        ...


class ReportArchive(Protocol):
    """Where reports are kept besides the database."""

    def put(self, tenant: str, week: str, suffix: str, media_type: str, body: bytes) -> None:
        """Store one rendering of a report; a repeat replaces it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCopy:
    """A memory that an external provider keeps for a user."""

    memory_id: str
    provider: str
    external_id: str
    collection: str


class UserStore(Protocol):
    """Everything that is stored about one user."""

    def memories(self, tenant: str, user_id: str) -> list[Memory]:
        """Return every memory in the user's layer or about the user, in any state, in the order of ids."""
        ...

    def quarantined(self, tenant: str, user_id: str) -> list[Quarantined]:
        """Return every text about the user that was set aside."""
        ...

    def copies(self, tenant: str, user_id: str) -> list[ProviderCopy]:
        """Return what external providers keep."""
        ...

    def forget_copies(self, tenant: str, copies: Sequence[ProviderCopy]) -> int:
        """Remove the notes of copies that are gone."""
        ...

    def erase_memories(self, tenant: str, user_id: str, *, actor: str, now: datetime) -> Mapping[str, int]:
        """Remove memories, versions, links and ledger entries; one event a memory, which names no user."""
        ...

    def erase_sessions(self, tenant: str, user_id: str, *, actor: str, now: datetime) -> Mapping[str, int]:
        """Remove sessions, messages, runs, and what was pending or quarantined from them."""
        ...


class JobStore(Protocol):
    """One row per scheduled job, so that the same job does not run twice at a time."""

    def claim(self, name: str, *, seconds: float, now: datetime) -> int | None:
        """Take the job's lease and return its fence; None while another holds it."""
        ...

    def finish(self, name: str, fence: int, *, now: datetime) -> None:
        """Give the lease back, unless somebody else has it by now."""
        ...

    def tenants(self) -> list[str]:
        """Return every tenant that has left a trace."""
        ...
