"""The context load."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from strata.edge.schemas.ids import Answer, Id, Model


class ContextIn(Model):
    """What a context is loaded for."""

    session_id: Id
    user_id: Id
    message: str = Field(max_length=200_000)
    context: str = Field(default="", max_length=200_000, description="Its first 200 characters join the query.")
    context_rounds: int | None = Field(default=None, ge=1, le=1_000)
    collections: list[Id] = Field(default_factory=list, max_length=32)
    memory_types: list[Id] | None = Field(default=None, max_length=64)
    filters: dict[str, str] = Field(default_factory=dict, description="Exact tags.")
    mode: Literal["hybrid", "semantic", "keyword"] = "hybrid"
    window_max_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    memory_budget_tokens: int | None = Field(default=None, ge=0, le=1_000_000)
    total_budget_tokens: int | None = Field(default=None, ge=1, le=2_000_000)
    top_k: int | None = Field(default=None, ge=1, le=100)
    deadline_ms: int | None = Field(default=None, ge=1, le=25_000)


class DeliveredOut(Answer):
    """A memory that was delivered."""

    memory_id: str
    version: int
    memory_type: str
    content: str
    score: float
    collection: str
    agent_id: str
    standing: bool
    signals: list[str]
    updated_at: datetime


class LayersOut(Answer):
    """Delivered memories per layer; ``constraints`` hold whatever the question is about."""

    constraints: list[DeliveredOut]
    user: list[DeliveredOut]
    shared: list[DeliveredOut]
    agent: list[DeliveredOut]


class DroppedOut(Answer):
    """Found, but not delivered."""

    memory_id: str
    reason: str


class DegradedOut(Answer):
    """A part that is missing, and why."""

    part: str
    code: str
    detail: str


class ContextOut(Answer):
    """Everything one request needs."""

    messages: list[dict[str, Any]]
    summary: str | None
    memories: LayersOut
    prompt: str
    working: dict[str, Any]
    usage: dict[str, int]
    dropped: list[DroppedOut]
    degraded: list[DegradedOut]
    timings_ms: dict[str, float]
