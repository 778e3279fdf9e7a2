"""One bounded call to the cache: scripts by their hash, errors translated once, a breaker in front.

A server that does not answer costs its timeout a few times; then callers are kept away for a while and go to the
database at once. One that refuses connections costs nothing, and nobody is kept away: every append that is not told to
a cache which is back already is one that others do not see there.
"""

import hashlib
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import redis
from redis.exceptions import (
    AskError,
    ClusterError,
    NoScriptError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as LinkError

from strata import config
from strata.clock import Clock
from strata.errors import CacheUnavailableError
from strata.storage.cache_wire import Argument, Wire

T = TypeVar("T")
_AGAIN = (LinkError, NoScriptError, AskError, TryAgainError, ClusterError)
"""What the client may still make good: a dropped connection, a server that lacks the script, a slot that has moved."""


class Breaker:
    """Opens after failures in a row. After a while it lets one caller through, whose fate decides for the others."""

    def __init__(self, clock: Clock, *, failures: int, seconds: float, probe_seconds: float) -> None:
        self._clock = clock
        self._limit = failures
        self._seconds = seconds
        self._probe_seconds = probe_seconds
        self._lock = threading.Lock()
        self._failures = 0
        self._shut_until = 0.0

    def check(self) -> None:
        """Raise CacheUnavailableError while it is open, and while another finds out whether it may be closed."""
        if self._failures < self._limit:
            return
        with self._lock:
            now = self._clock.monotonic()
            if self._failures >= self._limit and now < self._shut_until:
                raise CacheUnavailableError("The cache is left alone after repeated failures.")
            self._shut_until = now + self._probe_seconds

    def failed(self) -> None:
        """Count a failure."""
        with self._lock:
            self._failures += 1
            self._shut_until = self._clock.monotonic() + self._seconds

    def succeeded(self) -> None:
        """Forget the failures."""
        if self._failures:
            with self._lock:
                self._failures = 0


class CacheLink:
    """A client that is made at its first use, and a shorter way to its servers for scripts while all is well."""

    def __init__(self, connect: Callable[[], Any], settings: config.Cache, clock: Clock) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._made: Any = None
        self._wire: Wire | None = None
        self._is_well = False
        self._clock = clock
        self._cheap_seconds = min(settings.connect_timeout_seconds, settings.timeout_seconds) / 2
        self._breaker = Breaker(
            clock,
            failures=settings.breaker_failures,
            seconds=settings.breaker_seconds,
            probe_seconds=settings.connect_timeout_seconds + settings.timeout_seconds,
        )

    def run(self, script: str, keys: Sequence[str], *arguments: Argument) -> Any:  # noqa: ANN401 what the script returns
        """Run a script; its text is sent only to a server that does not have it yet."""
        command = ("EVALSHA", _hash(script), len(keys), *keys, *arguments)
        return self.call(
            lambda client: _run(client, script, keys, arguments), quick=lambda wire: wire.run(keys[0], command)
        )

    def call(self, work: Callable[[Any], T], quick: Callable[[Wire], T] | None = None) -> T:
        """Give ``work`` the client; while all is well, ``quick`` does the same in less time.

        A dropped connection is tried again once, an expired timeout is not.

        Raises:
            CacheUnavailableError: no answer in time, a refusal (full memory, read-only replica), or an open breaker.
        """
        self._breaker.check()
        began = self._clock.monotonic()
        try:
            result = self._once_more(work, quick)
        except (RedisError, RedisClusterException) as error:
            self._is_well = False
            if isinstance(error, ReadOnlyError):
                self.close()  # after a failover the old primary refuses writes: the name leads to the new one
            if not isinstance(error, ResponseError) and self._clock.monotonic() - began >= self._cheap_seconds:
                self._breaker.failed()
            raise CacheUnavailableError(fields={"cache_error": type(error).__name__}) from error
        self._breaker.succeeded()
        return result

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            made, wire = self._made, self._wire
            self._made, self._wire, self._is_well = None, None, False
        if wire is not None:
            wire.close()
        if made is not None:
            made.close()

    def _once_more(self, work: Callable[[Any], T], quick: Callable[[Wire], T] | None) -> T:
        wire = self._wire
        try:
            return quick(wire) if quick and wire and self._is_well else self._through_client(work)
        except _AGAIN:
            return self._through_client(work)

    def _through_client(self, work: Callable[[Any], T]) -> T:
        result = work(self._client())
        self._is_well = True
        return result

    def _client(self) -> Any:  # noqa: ANN401 one of three clients
        with self._lock:
            if self._made is None:
                self._made = self._connect()
                self._wire = Wire(self._made) if type(self._made) in {redis.Redis, redis.RedisCluster} else None
            return self._made


def _run(client: Any, script: str, keys: Sequence[str], arguments: Sequence[Argument]) -> Any:  # noqa: ANN401
    try:
        return client.evalsha(_hash(script), len(keys), *keys, *arguments)
    except NoScriptError:
        return client.eval(script, len(keys), *keys, *arguments)


@lru_cache(maxsize=32)
def _hash(script: str) -> str:
    return hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()
