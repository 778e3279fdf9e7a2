"""What the long-term side is asked, and what it answers: standing constraints of our own, and one provider search."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from strata.errors import NotFoundError
from strata.model.agents import AgentProfile
from strata.model.context import ContextRequest
from strata.model.memories import Memory
from strata.policy.names import agent_layer, user_layer
from strata.ports import Access, ProviderHits, ProviderQuery, ProviderScope


class Library(Protocol):
    """What a load needs of Strata's own library, whoever the provider is."""

    def standing(self, access: Access, collections: Sequence[str], *, now: datetime) -> list[Memory]:
        """Return the live standing constraints of collections."""
        ...

    def view(self, access: Access, collections: Sequence[str], *, now: datetime) -> Mapping[str, object]:
        """Return, by name, those collections that the agent may read."""
        ...


class Searching(Protocol):
    """What a load needs of a provider."""

    def search(self, query: ProviderQuery) -> ProviderHits:
        """Search within the query's deadline."""
        ...


ProviderOf = Callable[[AgentProfile], Searching]
"""From a profile to its provider. Raises ConfigurationError."""


class Gather:
    """Asks for memories on behalf of one request. Its two halves do not wait for each other."""

    def __init__(
        self, store: Library, provider_of: ProviderOf, *, query_context_chars: int, default_top_k: int
    ) -> None:
        self._store = store
        self._provider_of = provider_of
        self._query_context_chars = query_context_chars
        self._default_top_k = default_top_k

    def standing(self, access: Access, request: ContextRequest, now: datetime) -> list[Memory]:
        """Return the constraints of the user and of the named collections, whatever the question and the provider."""
        return self._store.standing(access, [user_layer(request.user_id), *request.collections], now=now)

    def found(
        self, access: Access, profile: AgentProfile, request: ContextRequest, *, deadline_seconds: float
    ) -> ProviderHits:
        """Return what one search over the user's, the agent's and the named shared collections finds.

        Raises:
            StrataError: as the provider raises; no other provider is asked in its place.
        """
        query = ProviderQuery(
            scope=ProviderScope(
                tenant=access.tenant,
                user_id=request.user_id,
                agent_id=access.agent_id,
                session_id=request.session_id,
            ),
            access=access,
            text=self.question(request),
            collections=(user_layer(request.user_id), agent_layer(access.agent_id), *request.collections),
            top_k=request.top_k or self._default_top_k,
            mode=request.mode,
            memory_types=request.memory_types,
            tags=request.filters,
            deadline_seconds=deadline_seconds,
        )
        return self._provider_of(profile).search(query)

    def question(self, request: ContextRequest) -> str:
        """Return the query: the user's message, and the beginning of the context where there is any."""
        context = request.context[: self._query_context_chars].strip()
        return f"{request.message}\n{context}" if context else request.message

    def refuse_strangers(self, access: Access, collections: Sequence[str], now: datetime) -> None:
        """Raise NotFoundError for a named collection that the agent may not read."""
        if collections and len(self._store.view(access, collections, now=now)) < len(set(collections)):
            raise NotFoundError
