"""What is stored already where a run wants to write: the native library, and the agent's external provider if any."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from strata.model.agents import ProviderName
from strata.model.memories import Memory
from strata.model.runs import Run
from strata.ports import Access, MemoryStore, Provider, ProviderScope

PAGE = 1_000
MOST_EXTERNAL = 1_000
"""Memories of one collection that an external provider is asked for."""

ProviderFor = Callable[[str, str], Provider | None]
"""From tenant and agent id to the agent's provider; None if that is the native library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A stored memory and where it is."""

    memory: Memory
    external: bool = False


class Lookup:
    """Lists what a new memory has to be held against."""

    def __init__(self, store: MemoryStore, provider_for: ProviderFor) -> None:
        self._store = store
        self._provider_for = provider_for

    def __call__(self, run: Run, collection: str, memory_type: str, *, now: datetime) -> list[Stored]:
        """Return the live memories of one collection and type that the run's agent may read."""
        found = [Stored(memory=memory) for memory in self._native(run, collection, memory_type, now)]
        provider = external(self._provider_for(run.tenant, run.agent_id))
        if provider is None:
            return found
        listed = provider.listed(scope_of(run), collection, limit=MOST_EXTERNAL)
        live = (memory for memory in listed if memory.memory_type == memory_type and memory.is_live(now))
        return found + [Stored(memory=memory, external=True) for memory in live]

    def _native(self, run: Run, collection: str, memory_type: str, now: datetime) -> list[Memory]:
        found: list[Memory] = []
        after = ""
        while page := self._store.listed(
            access_of(run), collection, now=now, memory_types=[memory_type], limit=PAGE, after=after
        ):
            found += page
            after = page[-1].memory_id
            if len(page) < PAGE:
                break
        return found


def external(provider: Provider | None) -> Provider | None:
    """Return the provider if memories leave the native library for it, else None."""
    return None if provider is None or provider.name is ProviderName.MYSQL else provider


def access_of(run: Run) -> Access:
    """Return the rights a run has: those of its agent, no more."""
    return Access(tenant=run.tenant, agent_id=run.agent_id)


def scope_of(run: Run) -> ProviderScope:
    """Return whose memories a provider call of a run is about."""
    return ProviderScope(tenant=run.tenant, user_id=run.user_id, agent_id=run.agent_id, session_id=run.session_id)
