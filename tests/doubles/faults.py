"""What can go wrong between a service and us, on demand or at random from a seed."""

import random
import threading
from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """One way to fail. Whether the request takes effect first is a matter of the plan."""

    HANG = "hang"
    """No byte, until the client goes away or the double is stopped."""
    RESET = "reset"
    """The connection is reset."""
    CLOSE = "close"
    """The connection is closed without an answer."""
    SERVER_ERROR = "server_error"
    UNAVAILABLE = "unavailable"
    RATE_LIMITED = "rate_limited"
    UNAUTHORIZED = "unauthorized"
    REDIRECT = "redirect"
    GARBAGE = "garbage"
    """HTTP 200 with bytes that are no JSON."""
    NOT_HTTP = "not_http"
    HUGE = "huge"
    """Ten megabytes, announced."""
    HUGE_CHUNKED = "huge_chunked"
    """Ten megabytes, not announced."""
    COMPRESSED = "compressed"
    """A small answer that would unfold into a large one."""
    LATE = "late"
    """The right answer, after ``late_seconds``."""
    TRUNCATED_JSON = "truncated_json"
    """Complete HTTP, half a document."""
    TRUNCATED_BODY = "truncated_body"
    """Fewer bytes than announced, then the end."""
    ACCEPTED_EMPTY = "accepted_empty"
    """HTTP 202 without a body."""
    WRONG_SHAPE = "wrong_shape"
    """HTTP 200 with JSON that is no answer."""
    DEEP = "deep"
    """HTTP 200 with JSON nested a hundred thousand levels deep."""
    DRIP = "drip"
    """The right answer, one byte at a time."""
    DRIP_HEAD = "drip_head"
    """A status line and headers, one byte at a time."""


NO_ANSWER = frozenset(Fault) - {Fault.LATE, Fault.DRIP}
"""Faults in which a client never sees the right answer."""

AT_THE_DOOR = frozenset({Fault.UNAUTHORIZED, Fault.REDIRECT})
"""Faults in which nothing can have taken effect: the request was turned away before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One fault that waits for its request."""

    fault: Fault
    where: str = ""
    """Part of ``METHOD /path`` that it waits for; empty = any request."""
    effective: bool = False
    """Whether the service does what was asked before it fails."""
    repeat: bool = False


class FaultPlan:
    """Which request meets which fault. Thread-safe."""

    def __init__(self) -> None:
        self.late_seconds = 0.3
        self.drip_seconds = 0.05
        self._lock = threading.Lock()
        self._planned: list[Planned] = []
        self._random: random.Random | None = None
        self._rate = 0.0

    def once(self, fault: Fault, where: str = "", *, effective: bool = False, times: int = 1) -> None:
        """Let the next request (there) fail."""
        with self._lock:
            self._planned += [Planned(fault=fault, where=where, effective=effective)] * times

    def always(self, fault: Fault, where: str = "", *, effective: bool = False) -> None:
        """Let every request (there) fail, until ``clear``."""
        with self._lock:
            self._planned.append(Planned(fault=fault, where=where, effective=effective, repeat=True))

    def at_random(self, seed: int, rate: float) -> None:
        """Let requests fail at random, effective or not."""
        with self._lock:
            self._random, self._rate = random.Random(seed), rate

    def clear(self) -> None:
        """Work again."""
        with self._lock:
            self._planned.clear()
            self._random = None

    def take(self, request: str) -> Planned | None:
        """Return the fault of one request, given as ``METHOD /path``."""
        with self._lock:
            for planned in self._planned:
                if planned.where in request:
                    if not planned.repeat:
                        self._planned.remove(planned)
                    return planned
            if self._random and self._random.random() < self._rate:
                fault = self._random.choice(sorted(NO_ANSWER - {Fault.HANG, Fault.DRIP_HEAD}))
                return Planned(fault=fault, effective=self._random.random() < 0.5)
        return None
