"""Audit events and the read ledger."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from strata.model.messages import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """Something that was changed, refused, purged or rolled back.

    ``kind`` is dotted: ``memory.inserted``, ``access.refused``.
    """

    kind: str
    actor: str
    """Agent id, or ``system:<job>``."""
    collection: str = ""
    memory_id: str = ""
    detail: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """A recorded event; each carries the hash of the one before it in its stream."""

    tenant: str
    seq: int
    kind: str
    actor: str
    collection: str
    memory_id: str
    detail: Mapping[str, object]
    at: datetime
    previous_hash: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One delivery of one version to one agent."""

    memory_id: str
    version: int
    agent_id: str
    session_id: str
    request_id: str
    collection: str
    read_at: datetime
