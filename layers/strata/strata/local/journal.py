"""The SQLite file in which queues keep their messages: what was acknowledged survives a kill of the process.

Write-ahead log with full synchronisation: a send returns after its commit is on disk. One connection, one lock.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS messages (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    message_id TEXT NOT NULL,
    message_group TEXT NOT NULL,
    deduplication TEXT NOT NULL,
    body TEXT NOT NULL,
    attributes TEXT NOT NULL,
    sent_at REAL NOT NULL,
    visible_at REAL NOT NULL,
    receives INTEGER NOT NULL DEFAULT 0,
    first_received_at REAL,
    receipt TEXT NOT NULL DEFAULT '',
    source TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS messages_in_order ON messages (queue, position);
CREATE TABLE IF NOT EXISTS remembered (
    queue TEXT NOT NULL,
    scope TEXT NOT NULL,
    deduplication TEXT NOT NULL,
    message_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    sent_at REAL NOT NULL,
    PRIMARY KEY (queue, scope, deduplication)
) WITHOUT ROWID;
"""


class Journal:
    """Messages and the memory of what was sent, for any number of queues; safe to share between threads."""

    def __init__(self, path: Path | None = None) -> None:
        """Open the file, made if it is not there; without a path nothing outlives the object."""
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self.version = 0
        self._connection = sqlite3.connect(path or ":memory:", check_same_thread=False, isolation_level=None)
        self._connection.row_factory = sqlite3.Row
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.executescript(_SCHEMA)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Everything inside happens, on disk, or nothing does; whoever waits for a change is woken."""
        with self._lock:
            before = self._connection.total_changes
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
            if self._connection.total_changes != before:
                self.version += 1
                self._changed.notify_all()

    def wait(self, seen: int, seconds: float) -> None:
        """Return when something has changed since version ``seen``, or after ``seconds`` of real time."""
        with self._lock:
            self._changed.wait_for(lambda: self.version != seen, seconds)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
