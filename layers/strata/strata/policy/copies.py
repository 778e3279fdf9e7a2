"""Memories as an external provider keeps them: under ids of its own, which it may not have settled yet. Pure."""

from collections.abc import Iterable

from strata.model.memories import Memory

EXTERNAL_ID = "external_id"
"""Key in a memory's metadata: its id at the provider it was read from."""
PROVISIONAL = "provisional"
"""Key in a memory's metadata: acknowledged, but under a temporary id until the provider has worked on it."""


def external_ids(listed: Iterable[Memory], memory_id: str) -> tuple[str, ...]:
    """Return the ids under which a provider keeps a memory for good, among what it lists."""
    mine = (memory for memory in listed if memory.memory_id == memory_id and not is_provisional(memory))
    return tuple(str(memory.metadata.get(EXTERNAL_ID, memory.memory_id)) for memory in mine)


def is_provisional(memory: Memory) -> bool:
    """Tell whether a provider is still at work on a memory."""
    return bool(memory.metadata.get(PROVISIONAL))


def is_settling(listed: Iterable[Memory], memory_id: str) -> bool:
    """Tell whether a memory is there, but without an id that lasts."""
    return any(memory.memory_id == memory_id and is_provisional(memory) for memory in listed)
