"""The native library as a provider: no other service, no model needed."""

from collections.abc import Callable, Sequence
from datetime import datetime

from strata.clock import Clock
from strata.errors import NotFoundError
from strata.model.agents import ProviderName
from strata.model.memories import ChangeKind, Memory
from strata.ports import (
    Access,
    Capabilities,
    MemoryDraft,
    MemoryEdit,
    MemoryStore,
    ProviderHits,
    ProviderQuery,
    ProviderScope,
)

Search = Callable[..., ProviderHits]
"""The library's search: access, collections, text, and its options by name."""


class NativeProvider:
    """Implements ``strata.ports.Provider``."""

    name = ProviderName.MYSQL

    def __init__(self, search: Search, store: MemoryStore, clock: Clock, *, semantic: bool) -> None:
        self._search = search
        self._store = store
        self._clock = clock
        self._semantic = semantic

    def capabilities(self) -> Capabilities:
        """Say what it can do; meaning is searched for where there is an embedding model."""
        return Capabilities(
            keyword=True, semantic=self._semantic, tags=True, update=True, returns_ids=True, asynchronous=False
        )

    def search(self, query: ProviderQuery) -> ProviderHits:
        """Search the collections of the query that the agent may read: sentences first, then turns."""
        return self._search(
            query.access,
            query.collections,
            query.text,
            memory_types=query.memory_types,
            tags=query.tags,
            mode=query.mode,
            top_k=query.top_k,
            turns_apart=True,
        )

    def add(self, scope: ProviderScope, draft: MemoryDraft, *, now: datetime) -> tuple[str, ...]:
        """Insert under the draft's id; a repeat changes nothing. Raises NotFoundError if the agent may not write."""
        return (self._store.insert(_access(scope), draft, now=now).memory.memory_id,)

    def listed(self, scope: ProviderScope, collection: str, *, limit: int = 100) -> list[Memory]:
        """Return live memories of a collection in the order of their ids."""
        return self._store.listed(_access(scope), collection, now=self._clock.now(), limit=limit)

    def get(self, scope: ProviderScope, collection: str, external_id: str) -> Memory | None:
        """Return one live memory, or None."""
        try:
            return self._store.get(_access(scope), collection, external_id, now=self._clock.now())
        except NotFoundError:
            return None

    def delete(self, scope: ProviderScope, collection: str, external_ids: Sequence[str]) -> None:
        """Delete; absent ids are fine."""
        for memory_id in external_ids:
            edit = MemoryEdit(memory_id=memory_id, change=ChangeKind.DELETE, reason="deleted through the provider")
            try:
                self._store.edit(_access(scope), collection, edit, now=self._clock.now())
            except NotFoundError:
                continue


def _access(scope: ProviderScope) -> Access:
    return Access(tenant=scope.tenant, agent_id=scope.agent_id)
