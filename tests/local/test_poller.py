"""Batches go from the queue to the function as Lambda's event source mapping takes them."""

from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from strata.clock import FakeClock
from strata.local.events import digest
from strata.local.poller import Poller, reported_failures
from strata.local.queue import FifoQueue
from tests.local.parts import function, send


def poller(queue: FifoQueue, handler: Callable[..., object], **options: Any) -> Poller:
    return Poller(queue, function(handler), **options)


def failing(*bodies: str) -> Callable[..., object]:
    """A handler that reports the records with these bodies."""
    return lambda event, _: {
        "batchItemFailures": [
            {"itemIdentifier": record["messageId"]} for record in event["Records"] if record["body"] in bodies
        ]
    }


def test_an_empty_queue_invokes_nothing(queue: FifoQueue) -> None:
    assert poller(queue, lambda *_: 1 / 0).poll_once() is None


def test_the_event_is_sqs_s(queue: FifoQueue, clock: FakeClock) -> None:
    events: list[dict[str, Any]] = []
    queue.send("正文", group="g", deduplication="d")
    poller(queue, lambda event, _: events.append(event)).poll_once()

    [record] = events[0]["Records"]
    assert record["body"] == "正文"
    assert record["md5OfBody"] == digest("正文")
    assert record["eventSource"] == "aws:sqs"
    assert record["eventSourceARN"].endswith(":runs")
    assert record["attributes"] == {
        "ApproximateReceiveCount": "1",
        "ApproximateFirstReceiveTimestamp": str(int(clock.now().timestamp() * 1000)),
        "SentTimestamp": str(int(clock.now().timestamp() * 1000)),
        "SequenceNumber": "00000000000000000001",
        "MessageGroupId": "g",
        "MessageDeduplicationId": "d",
        "SenderId": "local",
    }


def test_a_batch_has_at_most_ten_messages_of_several_groups(queue: FifoQueue) -> None:
    sizes: list[int] = []
    for number in range(13):
        send(queue, str(number), group=str(number % 3))
    feeder = poller(queue, lambda event, _: sizes.append(len(event["Records"])))
    while feeder.poll_once():
        pass

    assert sizes == [10, 3]


def test_only_what_failed_stays_and_comes_back_after_its_visibility(queue: FifoQueue, clock: FakeClock) -> None:
    send(queue, "a", group="1")
    send(queue, "b", group="2")
    batch = poller(queue, failing("b")).poll_once()

    assert batch is not None
    assert (len(batch.done), len(batch.failed)) == (1, 1)
    assert queue.counts() == (0, 1)
    clock.advance(30)
    assert [message.body for message in queue.receive(10)] == ["b"]


@pytest.mark.parametrize(
    "handler",
    [
        lambda *_: 1 / 0,
        lambda *_: {"batchItemFailures": [{"itemIdentifier": "unknown"}]},
        lambda *_: "done",
        lambda *_: {1},
    ],
    ids=["raises", "unknown id", "text", "no JSON"],
)
def test_a_handler_that_fails_or_talks_nonsense_fails_the_whole_batch(
    queue: FifoQueue, handler: Callable[..., object]
) -> None:
    send(queue, "a", "b")

    batch = poller(queue, handler).poll_once()

    assert batch is not None
    assert (batch.done, len(batch.failed)) == ((), 2)
    assert queue.counts() == (0, 2)


def test_a_function_that_times_out_fails_the_batch(queue: FifoQueue) -> None:
    release = Event()
    send(queue, "a")
    slow = function(lambda *_: release.wait(5), timeout_seconds=0.05)

    batch = Poller(queue, slow).poll_once()
    release.set()

    assert batch is not None
    assert len(batch.failed) == 1


def test_a_handler_may_choose_when_a_failure_comes_back(queue: FifoQueue, clock: FakeClock) -> None:
    def handler(event: dict[str, Any], _: object) -> dict[str, Any]:
        [record] = event["Records"]
        queue.change_visibility(record["receiptHandle"], 5)
        return {"batchItemFailures": [{"itemIdentifier": record["messageId"]}]}

    send(queue, "a")
    poller(queue, handler).poll_once()
    clock.advance(5)

    assert [message.receives for message in queue.receive()] == [2]


def test_a_batch_finished_after_its_visibility_is_delivered_again(queue: FifoQueue, clock: FakeClock) -> None:
    send(queue, "a")

    batch = poller(queue, lambda *_: clock.advance(31)).poll_once()

    assert batch is not None
    assert len(batch.done) == 1
    assert [message.receives for message in queue.receive()] == [2]


def test_a_poison_message_ends_among_the_dead_letters(queue: FifoQueue, dead: FifoQueue, clock: FakeClock) -> None:
    send(queue, "poison")
    feeder = poller(queue, failing("poison"))
    for _ in range(4):
        feeder.poll_once()
        clock.advance(30)

    assert [message.body for message in dead.receive()] == ["poison"]
    assert queue.counts() == (0, 0)


def test_a_function_that_reports_nothing_succeeds_as_a_whole(queue: FifoQueue) -> None:
    send(queue, "a")
    poller(queue, failing("a"), reports_failures=False).poll_once()

    assert queue.counts() == (0, 0)


def test_in_the_background_a_message_is_taken_as_it_comes(queue: FifoQueue) -> None:
    taken = Event()
    feeder = poller(queue, lambda *_: taken.set())
    feeder.start()
    try:
        send(queue, "a")
        assert taken.wait(5)
    finally:
        feeder.stop()


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        (None, set()),
        ({}, set()),
        ({"batchItemFailures": []}, set()),
        ({"batchItemFailures": None}, set()),
        ({"batchItemFailures": [{"itemIdentifier": "1"}]}, {"1"}),
        ({"batchItemFailures": [{"itemIdentifier": ""}]}, {"1", "2"}),
        ({"batchItemFailures": [{"itemIdentifier": None}]}, {"1", "2"}),
        ({"batchItemFailures": [{"messageId": "1"}]}, {"1", "2"}),
        ({"batchItemFailures": ["1"]}, {"1", "2"}),
        ({"batchItemFailures": {"itemIdentifier": "1"}}, {"1", "2"}),
        ({"batchItemFailures": [{"itemIdentifier": "1"}, {"itemIdentifier": "3"}]}, {"1", "2"}),
        ({"other": 1}, set()),
        ([], {"1", "2"}),
        (7, {"1", "2"}),
    ],
)
def test_reports_are_read_as_lambda_reads_them(answer: object, failed: set[str]) -> None:
    assert reported_failures(answer, {"1", "2"}) == failed
