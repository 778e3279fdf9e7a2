"""Counts what goes to the database, at the driver: whatever stands above it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from strata.storage.engine import Database

FRAMES = frozenset({"BEGIN", "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"})


@contextmanager
def listening(database: Database) -> Iterator[list[str]]:
    """Give the list of statements that are being sent; what frames a transaction is left out."""
    sent: list[str] = []
    watched: dict[int, Callable[[], None]] = {}

    def note(text: str) -> None:
        if text not in FRAMES:
            sent.append(text)

    def watch(connection: Any, *_rest: object) -> None:
        if id(connection) not in watched:
            watched[id(connection)] = _overhear(connection, note)

    event.listen(database.engine, "checkout", watch)
    try:
        yield sent
    finally:
        event.remove(database.engine, "checkout", watch)
        for stop in watched.values():
            stop()


def _overhear(connection: Any, note: Callable[[str], None]) -> Callable[[], None]:
    """Listen to one connection of the driver; return what ends it."""
    if hasattr(connection, "set_trace_callback"):
        connection.set_trace_callback(note)
        return lambda: connection.set_trace_callback(None)
    query = connection.query

    def heard(sql: str | bytes, *rest: object) -> object:
        note(sql if isinstance(sql, str) else sql.decode(errors="replace"))
        return query(sql, *rest)

    connection.query = heard
    return lambda: delattr(connection, "query")
