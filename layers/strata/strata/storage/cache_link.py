"""One bounded call to the cache: scripts by their hash, errors translated once, a breaker in front.

A server that does not answer costs its timeout a few times; then callers are kept away for a while and go to the
database at once.
"""

import hashlib
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from redis.exceptions import ConnectionError as LinkError
from redis.exceptions import NoScriptError, ReadOnlyError, RedisClusterException, RedisError, ResponseError

from strata import config
from strata.clock import Clock
from strata.errors import CacheUnavailableError

T = TypeVar("T")
Argument = str | bytes | int


class Breaker:
    """Opens after failures in a row, and lets callers through again after a while; one more failure opens it anew."""

    def __init__(self, clock: Clock, *, failures: int, seconds: float) -> None:
        self._clock = clock
        self._limit = failures
        self._seconds = seconds
        self._lock = threading.Lock()
        self._failures = 0
        self._shut_until = 0.0

    def check(self) -> None:
        """Raise CacheUnavailableError while it is open."""
        if self._failures >= self._limit and self._clock.monotonic() < self._shut_until:
            raise CacheUnavailableError("The cache is left alone after repeated failures.")

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
    """A client that is made at its first use."""

    def __init__(self, connect: Callable[[], Any], settings: config.Cache, clock: Clock) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._made: Any = None
        self._breaker = Breaker(clock, failures=settings.breaker_failures, seconds=settings.breaker_seconds)

    def run(self, script: str, keys: Sequence[str], *arguments: Argument) -> Any:  # noqa: ANN401 what the script returns
        """Run a script; its text is sent only to a server that does not have it yet."""
        return self.call(lambda client: _run(client, script, keys, arguments))

    def call(self, work: Callable[[Any], T]) -> T:
        """Give ``work`` the client. A dropped connection is tried again once, an expired timeout is not.

        Raises:
            CacheUnavailableError: no answer in time, a refusal (full memory, read-only replica), or an open breaker.
        """
        self._breaker.check()
        try:
            result = self._once_more(work)
        except (RedisError, RedisClusterException) as error:
            if isinstance(error, ReadOnlyError):
                self.close()  # after a failover the old primary refuses writes: the name leads to the new one
            if not isinstance(error, ResponseError):
                self._breaker.failed()
            raise CacheUnavailableError(fields={"cache_error": type(error).__name__}) from error
        self._breaker.succeeded()
        return result

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            made, self._made = self._made, None
        if made is not None:
            made.close()

    def _once_more(self, work: Callable[[Any], T]) -> T:
        try:
            return work(self._client())
        except LinkError:
            return work(self._client())

    def _client(self) -> Any:  # noqa: ANN401 one of three clients
        with self._lock:
            if self._made is None:
                self._made = self._connect()
            return self._made


def _run(client: Any, script: str, keys: Sequence[str], arguments: Sequence[Argument]) -> Any:  # noqa: ANN401
    try:
        return client.evalsha(_hash(script), len(keys), *keys, *arguments)
    except NoScriptError:
        return client.eval(script, len(keys), *keys, *arguments)


@lru_cache(maxsize=32)
def _hash(script: str) -> str:
    return hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()
