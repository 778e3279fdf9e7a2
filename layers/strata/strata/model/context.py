"""What a context load is asked and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from strata.model.memories import Hit
from strata.model.messages import JsonObject, Message
from strata.model.sessions import Summary

MEMORY_BLOCK_TAG = "long_term_memory"
"""The rendered memory block stands between ``<long_term_memory …>`` and ``</long_term_memory>``.

A client may send it back inside a message; consolidation takes nothing from between those tags.
"""


class SearchMode(StrEnum):
    """Which signals a search uses."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    KEYWORD = "keyword"


class Lane(StrEnum):
    """The parts of the injected block, in their order."""

    CONSTRAINT = "constraint"
    USER = "user"
    SHARED = "shared"
    AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """The parameters of one load; ``None`` budgets mean the configured defaults."""

    session_id: str
    user_id: str
    message: str
    context: str = ""
    context_rounds: int | None = None
    collections: tuple[str, ...] = ()
    memory_types: tuple[str, ...] | None = None
    filters: Mapping[str, str] = field(default_factory=dict)
    mode: SearchMode = SearchMode.HYBRID
    window_max_tokens: int | None = None
    memory_budget_tokens: int | None = None
    total_budget_tokens: int | None = None
    top_k: int | None = None
    deadline_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextMemory:
    """One delivered memory."""

    hit: Hit
    lane: Lane
    text: str
    """As delivered: cut to the limit if it was longer."""
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A memory that was found and not delivered."""

    memory_id: str
    reason: str
    """``below_score``, ``over_budget``, ``truncated``, ``duplicate``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Degraded:
    """A part that is missing from the answer, and why."""

    part: str
    code: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedContext:
    """Everything one request needs."""

    messages: tuple[JsonObject, ...]
    """Ready to send: system block with memories and summary first, then the window."""
    window: tuple[Message, ...]
    summary: Summary | None
    memories: tuple[ContextMemory, ...]
    prompt: str
    """The rendered memory block, safe to paste."""
    working: JsonObject
    usage: Mapping[str, int]
    dropped: tuple[Dropped, ...]
    degraded: tuple[Degraded, ...]
    timings_ms: Mapping[str, float]
