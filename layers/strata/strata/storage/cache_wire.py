"""Scripts on connections kept at hand.

What the client does around each call - borrowing a connection, probing it, counting, packing - takes longer than the
call. Here a script goes straight to a connection that nobody else uses. The client still makes the connections (login,
TLS, timeouts), and whatever goes wrong is done again through it: it knows where a slot has moved.
"""

import os
from collections import deque
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import redis
from redis.exceptions import ResponseError

Argument = str | bytes | int


class Wire:
    """Sends one command at a time on each of its connections; threads never share one."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 one of two clients
        self._client = client
        self._idle: WeakKeyDictionary[Any, deque[Any]] = WeakKeyDictionary()
        self._process = os.getpid()

    def run(self, key: str, command: Sequence[Argument]) -> Any:  # noqa: ANN401 what the server answers
        """Send a command to the server that has the key, and return its answer.

        Raises what the driver raises: RedisError.
        """
        pool = self._pool(key)
        idle = self._kept(pool)
        try:
            connection = idle.pop()
        except IndexError:
            connection = pool.make_connection()
        try:
            return _answer(connection, packed(command))
        finally:
            idle.append(connection)  # also one that was cut: it connects again when it is used

    def close(self) -> None:
        """Close the connections that are not in use."""
        for idle in list(self._idle.values()):
            while idle:
                idle.pop().disconnect()

    def _pool(self, key: str) -> Any:  # noqa: ANN401 the driver's pool
        client = self._client
        if isinstance(client, redis.Redis):
            return client.connection_pool
        return client.get_redis_connection(client.get_node_from_key(key)).connection_pool

    def _kept(self, pool: Any) -> deque[Any]:  # noqa: ANN401 the driver's pool
        if self._process != os.getpid():  # a fork must not talk on its parent's connections
            self._idle, self._process = WeakKeyDictionary(), os.getpid()
        kept = self._idle.get(pool)
        return self._idle.setdefault(pool, deque()) if kept is None else kept


def packed(command: Sequence[Argument]) -> bytes:
    """Return a command as the server reads it: its number of parts, and each part behind its length in bytes."""
    parts = [part if isinstance(part, bytes) else str(part).encode() for part in command]
    return b"*%d\r\n%b" % (len(parts), b"".join([b"$%d\r\n%b\r\n" % (len(part), part) for part in parts]))


def _answer(connection: Any, command: bytes) -> Any:  # noqa: ANN401
    try:
        connection.send_packed_command([command], check_health=False)
        return connection.read_response()
    except ResponseError:
        raise
    except BaseException:
        connection.disconnect()  # an answer may still be under way
        raise
