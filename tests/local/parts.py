"""What the tests of the local stack are put together from."""

from collections.abc import Callable, Sequence

from strata.clock import Clock, FakeClock
from strata.local.deployment import FunctionSpec, QueueSpec
from strata.local.function import LocalFunction
from strata.local.queue import FifoQueue
from strata.local.sqs import QueuedMessage

RUNS = QueueSpec(name="runs", visibility_seconds=30, max_receives=3, dead_letters="dead", deduplicates_per_group=True)


def send(queue: FifoQueue, *bodies: str, group: str = "g") -> None:
    """Send messages that differ, in order."""
    for body in bodies:
        queue.send(body, group=group, deduplication=body)


def bodies(messages: Sequence[QueuedMessage]) -> list[str]:
    """Return what the messages say."""
    return [message.body for message in messages]


def function(
    handler: Callable[..., object], *, name: str = "door", timeout_seconds: float = 5.0, clock: Clock | None = None
) -> LocalFunction:
    """Return a local function around a handler."""
    spec = FunctionSpec(name=name, logical_id=name.title(), timeout_seconds=timeout_seconds, memory_mb=256)
    return LocalFunction(spec, handler, clock or FakeClock())
