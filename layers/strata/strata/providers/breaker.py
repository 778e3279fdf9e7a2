"""A circuit breaker: after failures in a row callers are kept away for a while, at the cost of one comparison.

    closed ── failures in a row ──▶ open ── seconds pass ──▶ half-open ── the one probe succeeds ──▶ closed
                                     ▲                          │
                                     └────── the probe fails ───┘

A request that the service refuses (a typed rejection) is an answer: the service is up. What counts as a failure is no
answer, an answer that asks for fewer calls, and an answer outside the contract.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from strata.clock import Clock
from strata.errors import CircuitOpenError, ProviderProtocolError, ProviderRejectedError, ProviderUnavailableError


class Breaker:
    """Guards one endpoint. Thread-safe."""

    def __init__(self, clock: Clock, *, failures: int, seconds: float) -> None:
        self._clock = clock
        self._limit = failures
        self._seconds = seconds
        self._lock = threading.Lock()
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def is_open(self) -> bool:
        """Whether a call made now would be kept away."""
        with self._lock:
            return self._blocked()

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Let one call through and learn from how it ends.

        Raises:
            CircuitOpenError: the call is kept away.
        """
        probe = self._enter()
        try:
            yield
        except (ProviderUnavailableError, ProviderProtocolError):
            self._failed(probe=probe)
            raise
        except ProviderRejectedError:
            self._succeeded()
            raise
        except BaseException:  # a bug, or the end of the process, says nothing about the service
            self._release(probe=probe)
            raise
        self._succeeded()

    def _blocked(self) -> bool:
        if self._opened_at is None:
            return False
        return self._probing or self._clock.monotonic() - self._opened_at < self._seconds

    def _enter(self) -> bool:
        """Return whether this call is the probe of a half-open breaker."""
        with self._lock:
            if self._blocked():
                raise CircuitOpenError
            self._probing = self._opened_at is not None
            return self._probing

    def _failed(self, *, probe: bool) -> None:
        with self._lock:
            self._failures += 1
            if probe or self._failures >= self._limit:
                self._opened_at = self._clock.monotonic()
            self._probing = self._probing and not probe

    def _succeeded(self) -> None:
        with self._lock:
            self._failures = 0
            self._opened_at = None
            self._probing = False

    def _release(self, *, probe: bool) -> None:
        with self._lock:
            self._probing = self._probing and not probe


class Breakers:
    """One breaker for each endpoint of a service, made at its first call."""

    def __init__(self, clock: Clock, *, failures: int, seconds: float) -> None:
        self._clock = clock
        self._failures = failures
        self._seconds = seconds
        self._lock = threading.Lock()
        self._by_endpoint: dict[str, Breaker] = {}

    def of(self, endpoint: str) -> Breaker:
        """Return the endpoint's breaker."""
        with self._lock:
            if endpoint not in self._by_endpoint:
                self._by_endpoint[endpoint] = Breaker(self._clock, failures=self._failures, seconds=self._seconds)
            return self._by_endpoint[endpoint]
