"""The product's queue port, on the FIFO queue of this process."""

import hashlib
import json
from dataclasses import asdict

from strata.errors import QueueUnavailableError
from strata.local.queue import FifoQueue
from strata.local.sqs import SqsError
from strata.model.runs import RunNotice


class LocalRunQueue:
    """Sends notices of ended sessions; one that was sent is on disk."""

    def __init__(self, queue: FifoQueue) -> None:
        self._queue = queue

    def send(self, notice: RunNotice, *, deduplication: str = "") -> None:
        """Queue a notice in the group of its session.

        Raises:
            QueueUnavailableError: the queue refused it.
        """
        body = json.dumps(asdict(notice), ensure_ascii=False)
        try:
            self._queue.send(
                body,
                group=_token(notice.tenant, notice.session_id),
                deduplication=_token(notice.tenant, notice.run_id, deduplication),
            )
        except SqsError as error:
            raise QueueUnavailableError(error.message) from error


def _token(*parts: str) -> str:
    """Return a name for the parts that SQS takes, whatever characters they have; different parts, different names."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
