"""Counts what both drivers put on the wire."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pymysql
import pytest
import redis

STATEMENTS, COMMANDS = "statements", "commands"


def counted(monkeypatch: pytest.MonkeyPatch) -> "Counter[str]":
    """Return the counter that from now on tells how many round trips were made to the database and to Redis."""
    trips: Counter[str] = Counter()

    def counting(kind: str, send: Callable[..., Any]) -> Callable[..., Any]:
        def count_and_send(*arguments: Any, **options: Any) -> Any:
            trips[kind] += 1
            return send(*arguments, **options)

        return count_and_send

    for kind, owner, name in (
        (STATEMENTS, pymysql.connections.Connection, "_execute_command"),
        (COMMANDS, redis.connection.Connection, "send_packed_command"),
    ):
        monkeypatch.setattr(owner, name, counting(kind, getattr(owner, name)))
    return trips
