"""Time as an argument: the one place that reads the machine's clock.

Every flow takes a ``Clock``. All instants are timezone-aware UTC; durations are seconds unless the name says otherwise.
"""

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What the product needs to know of time."""

    def now(self) -> datetime:
        """Return the current instant, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start; never goes back."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait; negative values wait not at all."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Return the current instant."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return the machine's monotonic seconds."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait for real."""
        time.sleep(max(0.0, seconds))


class FakeClock:
    """A clock that moves only when told; ``sleep`` moves it instead of waiting. Safe to share between threads."""

    def __init__(self, start: datetime | None = None) -> None:
        self._lock = threading.Lock()
        self._now = (start or datetime(2026, 3, 10, 8, 0, tzinfo=UTC)).astimezone(UTC)
        self._monotonic = 1_000.0

    def now(self) -> datetime:
        """Return the set instant."""
        with self._lock:
            return self._now

    def monotonic(self) -> float:
        """Return seconds that advance together with ``now``."""
        with self._lock:
            return self._monotonic

    def sleep(self, seconds: float) -> None:
        """Advance instead of waiting."""
        self.advance(max(0.0, seconds))

    def advance(self, seconds: float) -> None:
        """Move both readings forward."""
        with self._lock:
            self._now += timedelta(seconds=seconds)
            self._monotonic += seconds

    def set(self, instant: datetime) -> None:
        """Jump ``now`` to an instant (also backwards); ``monotonic`` stays."""
        with self._lock:
            self._now = instant.astimezone(UTC)
