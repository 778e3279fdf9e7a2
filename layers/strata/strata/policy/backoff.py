"""How long what failed waits for its next attempt: longer each time, within bounds, never all at one instant."""

GROWTH = 4
"""A blip costs one short wait; an outage of a quarter of an hour does not use up five attempts."""
LEAST_SHARE = 0.75
"""The shortest wait that is drawn, as a share of the longest one for that attempt."""


def wait_seconds(attempt: int, *, first: int, longest: int, draw: float) -> int:
    """Return whole seconds to wait after the ``attempt``-th failure (from 1).

    ``first`` is the wait after the first failure, ``longest`` the bound, ``draw`` a random number in [0, 1].
    """
    whole: int = min(first * GROWTH ** min(max(attempt, 1) - 1, 20), longest)
    return round(whole * (LEAST_SHARE + (1 - LEAST_SHARE) * draw))
