"""Counts what both drivers put on the wire."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pymysql
import pytest
import redis

STATEMENTS, COMMANDS, OPENED = "statements", "commands", "connections opened"


def counted(monkeypatch: pytest.MonkeyPatch) -> "Counter[str]":
    """Return the counter that from now on tells how many round trips were made to the database and to Redis.

    What a driver says to open a connection is not among them: a pool opens one more whenever two threads happen to ask
    at the same moment. Connections opened to the database are counted by themselves.
    """
    trips: Counter[str] = Counter()
    here = threading.local()

    def counting(kind: str, send: Callable[..., Any]) -> Callable[..., Any]:
        def count_and_send(*arguments: Any, **options: Any) -> Any:
            trips[kind] += not getattr(here, "opening", False)
            return send(*arguments, **options)

        return count_and_send

    def opening(connect: Callable[..., Any]) -> Callable[..., Any]:
        def open_uncounted(*arguments: Any, **options: Any) -> Any:
            before, here.opening = getattr(here, "opening", False), True
            try:
                return connect(*arguments, **options)
            finally:
                here.opening = before

        return open_uncounted

    for kind, owner, send, connect in (
        (STATEMENTS, pymysql.connections.Connection, "_execute_command", "connect"),
        (COMMANDS, redis.connection.Connection, "send_packed_command", "connect_check_health"),
    ):
        monkeypatch.setattr(owner, send, counting(kind, getattr(owner, send)))
        monkeypatch.setattr(owner, connect, opening(getattr(owner, connect)))
    database = pymysql.connections.Connection
    monkeypatch.setattr(database, "connect", counting(OPENED, database.connect))
    return trips
