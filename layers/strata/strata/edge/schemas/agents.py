"""Agents and their keys."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from strata.edge.schemas.ids import Answer, Model


class AgentIn(Model):
    """An agent's profile."""

    target_id: str = Field(default="", max_length=128, description="The model it is bound to; empty = no long memory.")
    long_memory_provider: Literal["MEMOS", "MYSQL", "MEM0"] = "MEMOS"
    open_long_memory: bool = False
    context_rounds: int = Field(default=10, ge=1, le=1_000)
    role: Literal["agent", "admin"] = "agent"
    display_name: str = Field(default="", max_length=256)


class AgentOut(Answer):
    """An agent's profile."""

    agent_id: str
    target_id: str
    long_memory_provider: str
    open_long_memory: bool
    context_rounds: int
    role: str
    display_name: str


class AgentsOut(Answer):
    """Profiles in the order of their ids."""

    agents: list[AgentOut]
    after: str | None = None


class KeyIn(Model):
    """A new key's role; never above the agent's own."""

    role: Literal["agent", "admin"] | None = None


class KeyOut(Answer):
    """A new key. ``key`` is shown this once and stored only as its hash."""

    key_id: str
    agent_id: str
    role: str
    key: str
    created_at: datetime


class KeyInfoOut(Answer):
    """A key without its secret."""

    key_id: str
    role: str
    created_at: datetime
    revoked_at: datetime | None


class KeysOut(Answer):
    """An agent's keys."""

    keys: list[KeyInfoOut]


class ReadOut(Answer):
    """One delivery of one version."""

    memory_id: str
    version: int
    agent_id: str
    session_id: str
    request_id: str
    collection: str
    read_at: datetime


class ReadsOut(Answer):
    """Deliveries, newest first."""

    reads: list[ReadOut]
