"""A breaker for a model endpoint: after failures in a row, callers are refused at once until a pause is over."""

import threading

from strata.clock import Clock
from strata.errors import InferenceUnavailableError

FAILURES = 3
PAUSE_SECONDS = 15.0


class Breaker:
    """Counts failures. After the pause one caller may try; what becomes of it decides for all. Thread-safe."""

    def __init__(self, clock: Clock, *, failures: int = FAILURES, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._clock = clock
        self._limit = failures
        self._pause_seconds = pause_seconds
        self._lock = threading.Lock()
        self._failures = 0
        self._closed_until = 0.0

    def enter(self) -> None:
        """Raise InferenceUnavailableError while callers are kept away."""
        with self._lock:
            if self._failures < self._limit:
                return
            now = self._clock.monotonic()
            if now < self._closed_until:
                raise InferenceUnavailableError(fields={"reason": "circuit_open"})
            self._closed_until = now + self._pause_seconds

    def succeeded(self) -> None:
        """Let everybody through again."""
        with self._lock:
            self._failures = 0

    def failed(self) -> None:
        """Note a failure; the last one allowed begins a pause."""
        with self._lock:
            self._failures += 1
            self._closed_until = self._clock.monotonic() + self._pause_seconds
