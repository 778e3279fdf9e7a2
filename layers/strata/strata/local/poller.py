"""The event source mapping's part: batches from a queue into a function, and what became of them back to the queue."""

import threading
from dataclasses import dataclass

from strata.local.events import sqs_event
from strata.local.function import FunctionFailed, LocalFunction
from strata.local.queue import FifoQueue
from strata.local.sqs import MAX_BATCH, QueuedMessage, SqsError
from strata.observability import logger

IDLE_SECONDS = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one invocation did, by message id."""

    done: tuple[str, ...]
    failed: tuple[str, ...]


class Poller:
    """Feeds one function from one queue."""

    def __init__(
        self, queue: FifoQueue, function: LocalFunction, *, batch_size: int = MAX_BATCH, reports_failures: bool = True
    ) -> None:
        self._queue = queue
        self._function = function
        self._batch_size = min(batch_size, MAX_BATCH)
        self._reports_failures = reports_failures
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []

    def poll_once(self) -> Batch | None:
        """Hand one batch to the function; None if nothing can be received.

        What the function reports as failed stays in flight until its visibility runs out; the rest is deleted.
        """
        messages = self._queue.receive(self._batch_size)
        if not messages:
            return None
        failed = self._failed(messages)
        for message in messages:
            if message.message_id not in failed:
                self._delete(message)
        done = tuple(message.message_id for message in messages if message.message_id not in failed)
        return Batch(
            done=done, failed=tuple(message.message_id for message in messages if message.message_id in failed)
        )

    def start(self, workers: int = 2) -> None:
        """Poll in background threads until ``stop``."""
        names = (f"poll-{self._queue.name}-{number}" for number in range(workers))
        self._threads = [threading.Thread(target=self._run, name=name, daemon=True) for name in names]
        for thread in self._threads:
            thread.start()

    def stop(self, seconds: float = 5.0) -> None:
        """Take no further batch; wait a moment for those at work."""
        self._stopped.set()
        for thread in self._threads:
            thread.join(seconds)

    def _run(self) -> None:
        while not self._stopped.is_set():
            seen = self._queue.version
            if self.poll_once() is None:
                self._queue.wait(seen, IDLE_SECONDS)

    def _failed(self, messages: list[QueuedMessage]) -> set[str]:
        ids = {message.message_id for message in messages}
        try:
            answer = self._function.invoke(sqs_event(messages, self._queue.arn))
        except FunctionFailed:
            return ids
        return reported_failures(answer, ids) if self._reports_failures else set()

    def _delete(self, message: QueuedMessage) -> None:
        try:
            self._queue.delete(message.receipt)
        except SqsError as error:
            # The handler took longer than the message was in flight: it will be delivered once more.
            logger.warning("queue.delete_refused", extra={"message_id": message.message_id, "reason": error.message})


def reported_failures(answer: object, ids: set[str]) -> set[str]:
    """Return the ids a handler reports as failed; all of them if its report cannot be trusted.

    As Lambda reads it: nothing, ``{}`` and an empty list are success; an id that was not in the batch, a missing or
    empty one, or an answer of another shape fail the whole batch.
    """
    if answer is None or answer == {}:
        return set()
    entries = answer.get("batchItemFailures") if isinstance(answer, dict) else ids
    if entries is None:
        return set()
    if not isinstance(entries, list):
        return set(ids)
    named = [entry.get("itemIdentifier") if isinstance(entry, dict) else None for entry in entries]
    return {str(name) for name in named} if all(name in ids for name in named) else set(ids)
