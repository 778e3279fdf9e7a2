"""What is kept about the library: the audit trail, the read ledger, every state of every memory."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from strata.model.events import AuditEvent, NewEvent, Read
from strata.model.memories import (
    Memory,
    MemoryVersion,
)
from strata.model.runs import Retirement
from strata.ports.library import Written


class EventLog(Protocol):
    """The audit trail; append-only."""

    def record(self, tenant: str, event: NewEvent, *, now: datetime) -> None:
        """Append one event that belongs to no other transaction (a refusal, a job)."""
        ...

    def page(
        self,
        tenant: str,
        *,
        limit: int,
        before_seq: int | None = None,
        kind: str = "",
        memory_id: str = "",
        collection: str = "",
    ) -> list[AuditEvent]:
        """Return events, newest first; ``kind`` may be a whole family such as ``memory.``."""
        ...

    def after(self, tenant: str, seq: int, *, limit: int) -> list[AuditEvent]:
        """Return the events behind ``seq``, oldest first, as they are stored."""
        ...

    def head(self, tenant: str) -> tuple[int, str]:
        """Return number and hash of the last event; number 0 before the first."""
        ...


class ReadLedger(Protocol):
    """Who has read which version."""

    def record(self, tenant: str, reads: Sequence[Read]) -> None:
        """Enter deliveries, in one statement."""
        ...

    def readers(self, tenant: str, memory_id: str, *, version: int | None = None, limit: int = 1_000) -> list[Read]:
        """Return deliveries of a memory, newest first."""
        ...


class CopyLedger(Protocol):
    """What external providers were given by runs."""

    def of_run(self, tenant: str, run_id: str) -> list[Retirement]:
        """Return, as removals to be noted, what a run gave a provider."""
        ...

    def of_agent(self, tenant: str, agent_id: str, *, since: datetime) -> list[Retirement]:
        """Return the same for all runs of an agent since an instant."""
        ...

    def remove_later(self, copies: Sequence[Retirement], *, now: datetime) -> None:
        """Note removals; reconcile does them. Repeats are ignored."""
        ...


class Archive(Protocol):
    """Memories and versions in any state, for administration: nobody's rights are asked, the tenant always is."""

    def records(self, tenant: str, memory_ids: Sequence[str]) -> list[Memory]:
        """Return memories in any state, in the order of their ids."""
        ...

    def histories(self, tenant: str, memory_ids: Sequence[str]) -> dict[str, list[MemoryVersion]]:
        """Return every version of memories, oldest first."""
        ...

    def of_agent(self, tenant: str, agent_id: str, *, since: datetime) -> list[MemoryVersion]:
        """Return every version that an agent wrote since an instant."""
        ...

    def of_sessions(self, tenant: str, session_ids: Sequence[str], *, since: datetime) -> list[MemoryVersion]:
        """Return every version that came from sessions since an instant, oldest first."""
        ...

    def adopt(self, tenant: str, memory: Memory, *, actor: str, now: datetime) -> Written:
        """Write an exported memory as it was: id, version, author and times; a repeat is a no-op.

        Raises ConflictError if the id belongs to a memory of another collection.
        """
        ...

    def memories_after(self, tenant: str, memory_id: str, *, limit: int) -> list[Memory]:
        """Return memories in any state, with vectors, in the order of their ids."""
        ...

    def versions_after(self, tenant: str, memory_id: str, version: int, *, limit: int) -> list[MemoryVersion]:
        """Return versions in the order of memory and version."""
        ...
