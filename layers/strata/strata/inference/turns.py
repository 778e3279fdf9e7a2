"""Whose turn it is at the one model: a question, which somebody waits for, goes before passages.

A plain lock is not enough: a thread that gives it back and takes it again at once usually wins against one that waits,
so that a question would wait for a whole session to be embedded.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """One at a time; those who hurry go first."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = False
        self._hurrying = 0

    @contextmanager
    def taken(self, *, hurried: bool) -> Iterator[None]:
        """Wait for a turn and hold it."""
        with self._changed:
            self._hurrying += hurried
            self._changed.wait_for(lambda: not self._busy and (hurried or not self._hurrying))
            self._hurrying -= hurried
            self._busy = True
        try:
            yield
        finally:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
