"""What external providers keep of a user, in their own words: they may have rewritten what they were given."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from strata.errors import StrataError
from strata.model.agents import ProviderName
from strata.ports import Provider, ProviderCopy, ProviderScope

MOST = 1_000
"""Memories of one collection that a provider is asked for."""
_AGENT = "agent:"


def told_by_providers(
    copies: Sequence[ProviderCopy], providers: Mapping[ProviderName, Provider], tenant: str, user_id: str
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return each copy with its text (None if the provider shows it no more), and what could not be asked for."""
    told: list[dict[str, Any]] = []
    pending: list[str] = []
    for (name, collection), group in groupby(sorted(copies, key=_place), key=_place):
        batch = list(group)
        texts = _texts(
            providers, name, ProviderScope(tenant=tenant, user_id=user_id, agent_id=_owner(collection)), collection
        )
        if texts is None:
            pending.append(f"{name}: {len(batch)} copies in {collection}")
        told += [_told(copy, texts or {}) for copy in batch]
    return told, pending


def _texts(
    providers: Mapping[ProviderName, Provider], name: str, scope: ProviderScope, collection: str
) -> dict[str, str] | None:
    """Return what a provider keeps in a collection, by its ids and by ours; None if it cannot be asked."""
    try:
        found = providers[ProviderName(name)].listed(scope, collection, limit=MOST)
    except (KeyError, ValueError, StrataError):
        return None
    texts = {memory.memory_id: memory.content for memory in found}
    return texts | {str(memory.metadata.get("external_id", memory.memory_id)): memory.content for memory in found}


def _told(copy: ProviderCopy, texts: Mapping[str, str]) -> dict[str, Any]:
    return {
        "memory_id": copy.memory_id,
        "provider": copy.provider,
        "external_id": copy.external_id,
        "collection": copy.collection,
        "content": texts.get(copy.external_id, texts.get(copy.memory_id)),
    }


def _owner(collection: str) -> str:
    return collection.removeprefix(_AGENT) if collection.startswith(_AGENT) else ""


def _place(copy: ProviderCopy) -> tuple[str, str]:
    return copy.provider, copy.collection
