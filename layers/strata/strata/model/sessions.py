"""Sessions, their summaries, and the window a reader gets."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from strata.model.messages import JsonObject, Message


class SessionState(StrEnum):
    """Open sessions take messages; ended ones are resumed by the next append."""

    OPEN = "open"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionKey:
    """Names one session inside its hard boundary."""

    tenant: str
    session_id: str

    @property
    def is_virtual(self) -> bool:
        """Sub-agent sessions keep chat messages only."""
        return self.session_id.startswith("agent:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A rolling summary that covers the messages up to and including ``upto_seq``."""

    text: str
    tokens: int
    upto_seq: int
    created_at: datetime
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation of one user with the agent that opened it."""

    key: SessionKey
    user_id: str
    agent_id: str
    participants: tuple[str, ...]
    """Further agents allowed in, without the owner."""
    state: SessionState
    last_seq: int
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None = None
    summary: Summary | None = None
    zone: str = "UTC"
    """IANA zone of the user; relative dates are resolved in it."""

    def admits(self, agent_id: str) -> bool:
        """Tell whether an agent is the owner or a declared participant."""
        return agent_id == self.agent_id or agent_id in self.participants


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The part of a session that fits a budget, oldest first, whole tool groups only."""

    messages: tuple[Message, ...]
    summary: Summary | None
    tokens: int
    """Of messages and summary as they will be sent."""
    omitted: int
    """Messages that were read but left out."""
    truncated_seq: int | None = None
    """Set if the newest message alone was too large and was cut with a visible mark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    """The per-session scratch of one reasoning step; in the cache only."""

    values: JsonObject = field(default_factory=dict)
    ttl_seconds: int = 0
