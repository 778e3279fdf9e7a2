"""Which agents write suspiciously much. Pure."""

from collections.abc import Mapping, Sequence
from statistics import median

LEAST_WRITES = 10
"""Fewer writes in a week are never flagged, whatever the others did."""
PEERS = "peers"
OWN_PAST = "own_past"


def flags(agent_id: str, writes: Mapping[str, int], past: Sequence[int], *, factor: float) -> tuple[str, ...]:
    """Return why an agent's week is unusual: against its peers this week, or its own past weeks.

    ``factor`` times the median is the limit. Without peers, or without a past, there is nothing to compare with.
    """
    own = writes.get(agent_id, 0)
    peers = [count for other, count in writes.items() if other != agent_id and count]
    compared = {PEERS: peers, OWN_PAST: [count for count in past if count]}
    if own < LEAST_WRITES:
        return ()
    return tuple(name for name, counts in compared.items() if counts and own >= factor * median(counts))
