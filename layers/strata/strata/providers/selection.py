"""From what a provider found to what a reader may have: live, permitted, of the types and tags asked, each once."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from strata.model.memories import Hit, Memory
from strata.ports import ProviderQuery
from strata.providers.items import Item

UNSCORED = 0.5
"""For an entry without a score: the provider's own threshold let it through, and nothing more is known."""


def score_of(item: Item) -> float | None:
    """Return a score in 0–1, or None for padding that the provider marks with a negative one."""
    if item.score is None:
        return UNSCORED
    return None if item.score < 0 else min(1.0, item.score)


def is_readable(memory: Memory, query: ProviderQuery, now: datetime) -> bool:
    """Whether this reader may see the memory now. The memory's own policy can only narrow."""
    readers = memory.policy.read_agents
    permitted = readers is None or query.scope.agent_id in readers or query.access.system or query.access.admin
    return permitted and memory.is_live(now) and bool(memory.content)


def is_wanted(memory: Memory, query: ProviderQuery, *, tags: bool) -> bool:
    """Whether it has one of the types asked for and, where the provider did not look at them, all tags."""
    typed = query.memory_types is None or memory.memory_type in query.memory_types
    return typed and (not tags or all(_has_tag(memory.metadata, key, value) for key, value in query.tags.items()))


def best(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """Return the hits of one collection, best first, at most ``limit``, each memory once with its best score."""
    ranked = sorted(hits, key=lambda hit: (hit.score, hit.memory.said_at), reverse=True)
    once = {hit.memory.memory_id: hit for hit in reversed(ranked)}
    return [hit for hit in ranked if once[hit.memory.memory_id] is hit][:limit]


def _has_tag(metadata: Mapping[str, object], key: str, value: str) -> bool:
    held = metadata.get(key)
    return value in held if isinstance(held, list) else held is not None and str(held) == value
