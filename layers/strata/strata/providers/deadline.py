"""A point in time after which an answer is of no use, measured on the clock that the caller was given."""

from typing import Self

from strata.clock import Clock


class Deadline:
    """Counts down from ``seconds``; shared by every request and every wait of one call."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._end = clock.monotonic() + seconds

    def remaining(self) -> float:
        """Return the seconds that are left; never negative."""
        return max(0.0, self._end - self._clock.monotonic())


class Until(float):
    """A timeout that shrinks: as a number what was left when it was made, ``left()`` what is left now.

    It travels through httpx and httpcore as the number it is and comes out again at the socket.
    """

    _deadline: Deadline
    _limit: float

    def __new__(cls, deadline: Deadline, limit: float = float("inf")) -> Self:
        """Take the deadline, and a limit for each single wait."""
        timeout = super().__new__(cls, min(limit, deadline.remaining()))
        timeout._deadline = deadline
        timeout._limit = limit
        return timeout

    def left(self) -> float:
        """Return the seconds that the next wait may take."""
        return min(self._limit, self._deadline.remaining())
