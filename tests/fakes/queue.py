"""A queue that keeps what it was sent, and drops what has the same deduplication id, as SQS does."""

from collections.abc import Mapping

from strata.errors import QueueUnavailableError
from strata.model.runs import RunNotice


class ListedQueue:
    """Implements ``RunQueue``."""

    def __init__(self) -> None:
        self.sent: list[RunNotice] = []
        self.postponed: dict[str, int] = {}
        self.is_down = False
        self._known: set[tuple[str, str]] = set()

    def send(self, notice: RunNotice, *, deduplication: str = "") -> None:
        if self.is_down:
            raise QueueUnavailableError
        if (notice.run_id, deduplication) not in self._known:
            self._known.add((notice.run_id, deduplication))
            self.sent.append(notice)

    def postpone(self, waits: Mapping[str, int]) -> None:
        if self.is_down:
            raise QueueUnavailableError
        self.postponed |= waits
