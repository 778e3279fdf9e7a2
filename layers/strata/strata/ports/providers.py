"""Long-term memories outside or inside of Strata."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from strata.model.agents import ProviderName
from strata.model.context import SearchMode
from strata.model.memories import (
    Hit,
    Memory,
)
from strata.ports.library import Access, MemoryDraft


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderScope:
    """Whose memories a provider call is about."""

    tenant: str
    user_id: str
    agent_id: str
    session_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderQuery:
    """One search over the user's, the agent's and named shared collections."""

    scope: ProviderScope
    access: Access
    text: str
    collections: tuple[str, ...]
    top_k: int = 10
    mode: SearchMode = SearchMode.HYBRID
    memory_types: tuple[str, ...] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    deadline_seconds: float = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderHits:
    """The answer, with notes on what the provider could not do as asked."""

    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a provider can do."""

    keyword: bool
    semantic: bool
    tags: bool
    update: bool
    returns_ids: bool
    asynchronous: bool


class Provider(Protocol):
    """A long-term memory. Typed errors only; a provider never falls back to another."""

    @property
    def name(self) -> ProviderName:
        """Which one it is."""
        ...

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        ...

    def search(self, query: ProviderQuery) -> ProviderHits:
        """Search within the deadline."""
        ...

    def add(self, scope: ProviderScope, draft: MemoryDraft, *, now: datetime) -> tuple[str, ...]:
        """Store one memory under its idempotency key (the memory id) and return the provider's ids."""
        ...

    def listed(self, scope: ProviderScope, collection: str, *, limit: int = 100) -> list[Memory]:
        """Return what is stored in a collection."""
        ...

    def get(self, scope: ProviderScope, collection: str, external_id: str) -> Memory | None:
        """Return one memory."""
        ...

    def delete(self, scope: ProviderScope, collection: str, external_ids: Sequence[str]) -> None:
        """Delete; absent ids are fine."""
        ...
