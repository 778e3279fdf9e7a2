"""How much of what an agent wrote was nearly there already. Pure.

Two texts are near duplicates if the pairs of neighbouring characters they have agree to three fifths. That is a sign
for a report, not a proof: 不吃香菜 and 不吃芹菜 are close and mean different things.
"""

from collections.abc import Mapping, Sequence

from strata.model.memories import Memory

NEAR = 0.6


def near_duplicate_rates(
    written: Sequence[Memory], beside: Mapping[tuple[str, str], Sequence[Memory]]
) -> dict[str, tuple[int, int]]:
    """Return, by agent, how many memories were looked at and how many have an older near duplicate beside them.

    ``beside`` holds the memories of a collection and type.
    """
    counts: dict[str, tuple[int, int]] = {}
    pairs = {memory.memory_id: pairs_of(memory.content) for group in beside.values() for memory in group}
    for memory in written:
        older = (other for other in beside[memory.collection, memory.memory_type] if _is_older(other, memory))
        own = pairs.get(memory.memory_id) or pairs_of(memory.content)
        near = any(overlap(own, pairs[other.memory_id]) >= NEAR for other in older)
        looked_at, found = counts.get(memory.agent_id, (0, 0))
        counts[memory.agent_id] = (looked_at + 1, found + near)
    return counts


def pairs_of(text: str) -> frozenset[str]:
    """Return the pairs of neighbouring characters of a text, without spaces and case."""
    letters = "".join(text.lower().split())
    return frozenset(letters[place : place + 2] for place in range(max(1, len(letters) - 1)))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of common pairs, 0–1."""
    return len(one & other) / len(one | other)


def _is_older(other: Memory, memory: Memory) -> bool:
    return (other.created_at, other.memory_id) < (memory.created_at, memory.memory_id)
