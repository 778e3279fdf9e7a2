"""Agents, their profiles, and who is calling."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class ProviderName(StrEnum):
    """Where an agent's long-term memories live."""

    MEMOS = "MEMOS"
    MYSQL = "MYSQL"
    MEM0 = "MEM0"


class AgentRole(StrEnum):
    """What a key may do beyond its own agent's calls."""

    AGENT = "agent"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentProfile:
    """How an agent uses memory."""

    tenant: str
    agent_id: str
    target_id: str = ""
    """The model the agent is bound to; empty switches its long-term side off."""
    long_memory_provider: ProviderName = ProviderName.MEMOS
    open_long_memory: bool = False
    context_rounds: int = 10
    role: AgentRole = AgentRole.AGENT
    display_name: str = ""

    @property
    def uses_long_memory(self) -> bool:
        """Off is off: the operator's switch and a bound model are both needed."""
        return self.open_long_memory and bool(self.target_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A stored key; the secret itself is shown once and kept only as its hash."""

    key_id: str
    tenant: str
    agent_id: str
    role: AgentRole
    secret_hash: str
    created_at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who is asking, as proven by the key. The tenant never comes from a payload."""

    tenant: str
    agent_id: str
    role: AgentRole
    key_id: str = ""
    request_id: str = ""

    @property
    def is_admin(self) -> bool:
        """Tell whether the key has the admin role."""
        return self.role is AgentRole.ADMIN
