"""The product's queue port, on the FIFO queue of this process; the message is the one that SQS would get."""

from collections.abc import Mapping
from contextlib import suppress

from strata.errors import QueueUnavailableError
from strata.local.queue import FifoQueue
from strata.local.sqs import SqsError
from strata.model.runs import RunNotice
from strata.policy.names import derived_id
from strata.storage.queue import body_of


class LocalRunQueue:
    """Sends notices of ended sessions; one that was sent is on disk."""

    def __init__(self, queue: FifoQueue) -> None:
        self._queue = queue

    def send(self, notice: RunNotice, *, deduplication: str = "") -> None:
        """Queue a notice in the group of its session.

        Raises:
            QueueUnavailableError: the queue refused it.
        """
        try:
            self._queue.send(
                body_of(notice),
                group=derived_id(notice.tenant, notice.session_id),
                deduplication=derived_id(notice.tenant, notice.run_id, str(notice.upto_seq), deduplication),
            )
        except SqsError as error:
            raise QueueUnavailableError(error.message) from error

    def postpone(self, waits: Mapping[str, int]) -> None:
        """Let received messages come back after so many seconds; receipts that are not valid are passed over."""
        for receipt, seconds in waits.items():
            with suppress(SqsError):
                self._queue.change_visibility(receipt, seconds)
