"""The FIFO queue keeps SQS's promises."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from strata.clock import FakeClock
from strata.local.journal import Journal
from strata.local.queue import FifoQueue
from strata.local.sqs import MAX_BYTES, QueuedMessage, SqsError
from tests.local.parts import RUNS, bodies, send


@pytest.fixture
def reopened(tmp_path: Path, clock: FakeClock) -> Iterator[Callable[[], FifoQueue]]:
    """Each call opens the same file anew, as a restarted process would."""
    with ExitStack() as opened:
        yield lambda: make_queue(opened.enter_context(closing(Journal(tmp_path / "queue.db"))), clock)


def make_queue(journal: Journal, clock: FakeClock, **changes: Any) -> FifoQueue:
    return FifoQueue(replace(RUNS, **changes), journal, clock)


def test_a_batch_holds_a_group_in_order_and_mixes_groups(queue: FifoQueue) -> None:
    for body, group in [("a1", "a"), ("b1", "b"), ("a2", "a"), ("b2", "b")]:
        send(queue, body, group=group)

    assert bodies(queue.receive(10)) == ["a1", "b1", "a2", "b2"]


def test_a_group_with_a_message_in_flight_is_held_while_others_go_on(queue: FifoQueue) -> None:
    send(queue, "a1", "a2", group="a")
    [first] = queue.receive(1)
    send(queue, "b1", group="b")

    assert bodies(queue.receive(10)) == ["b1"]
    queue.delete(first.receipt)
    assert bodies(queue.receive(10)) == ["a2"]


def test_an_expired_batch_comes_back_in_order_with_a_higher_count(queue: FifoQueue, clock: FakeClock) -> None:
    send(queue, "1", "2", "3", "4")
    assert bodies(queue.receive(10)) == ["1", "2", "3", "4"]
    clock.advance(29.9)
    assert queue.receive(10) == []
    clock.advance(0.1)

    again = queue.receive(10)

    assert bodies(again) == ["1", "2", "3", "4"]
    assert [message.receives for message in again] == [2, 2, 2, 2]
    assert {message.first_received_at for message in again} == {clock.now().timestamp() - 30}


def test_a_repeated_send_is_dropped_and_answered_like_the_first(queue: FifoQueue) -> None:
    first = queue.send("x", group="g", deduplication="d")

    assert queue.send("x", group="g", deduplication="d") == first
    assert bodies(queue.receive(10)) == ["x"]


def test_the_deduplication_memory_outlives_deletion_and_ends_after_five_minutes(
    queue: FifoQueue, clock: FakeClock
) -> None:
    queue.send("x", group="g", deduplication="d")
    queue.delete(queue.receive()[0].receipt)
    clock.advance(299)
    queue.send("x", group="g", deduplication="d")
    assert queue.receive() == []

    clock.advance(1)
    queue.send("x", group="g", deduplication="d")

    assert bodies(queue.receive()) == ["x"]


def test_the_deduplication_memory_survives_a_restart(reopened: Callable[[], FifoQueue]) -> None:
    before = reopened()
    before.send("x", group="g", deduplication="d")
    before.delete(before.receive()[0].receipt)

    after = reopened()
    after.send("x", group="g", deduplication="d")

    assert after.receive() == []


@pytest.mark.parametrize(("per_group", "delivered"), [(True, ["x", "x"]), (False, ["x"])])
def test_deduplication_is_per_group_or_per_queue(
    journal: Journal, clock: FakeClock, per_group: bool, delivered: list[str]
) -> None:
    queue = make_queue(journal, clock, deduplicates_per_group=per_group)
    queue.send("x", group="a", deduplication="d")
    queue.send("x", group="b", deduplication="d")

    assert bodies(queue.receive(10)) == delivered


def test_content_can_be_the_deduplication_id(journal: Journal, clock: FakeClock) -> None:
    queue = make_queue(journal, clock, deduplicates_by_content=True)
    for body in ("x", "x", "y"):
        queue.send(body, group="g")

    assert bodies(queue.receive(10)) == ["x", "y"]


def test_without_content_deduplication_an_id_is_required(queue: FifoQueue) -> None:
    with pytest.raises(SqsError, match="MessageDeduplicationId"):
        queue.send("x", group="g")


def test_a_receipt_that_expired_is_refused_and_the_message_stays(queue: FifoQueue, clock: FakeClock) -> None:
    send(queue, "x")
    [message] = queue.receive()
    clock.advance(30)

    with pytest.raises(SqsError, match="expired"):
        queue.delete(message.receipt)
    assert bodies(queue.receive()) == ["x"]


def test_the_receipt_of_an_earlier_delivery_is_refused(queue: FifoQueue, clock: FakeClock) -> None:
    send(queue, "x")
    [early] = queue.receive()
    clock.advance(30)
    [late] = queue.receive()

    with pytest.raises(SqsError, match="expired"):
        queue.delete(early.receipt)
    queue.delete(late.receipt)
    assert queue.counts() == (0, 0)


def test_deleting_twice_is_no_error_but_a_made_up_receipt_is(queue: FifoQueue) -> None:
    send(queue, "x")
    [message] = queue.receive()
    queue.delete(message.receipt)
    queue.delete(message.receipt)

    with pytest.raises(SqsError) as refused:
        queue.delete("nonsense")
    assert refused.value.code == "ReceiptHandleIsInvalid"


def test_what_was_received_too_often_is_set_aside_and_its_group_goes_on(
    queue: FifoQueue, dead: FifoQueue, clock: FakeClock
) -> None:
    send(queue, "poison", "next")
    for _ in range(3):
        assert bodies(queue.receive(1)) == ["poison"]
        clock.advance(30)

    assert bodies(queue.receive(1)) == ["next"]
    [letter] = dead.receive()
    assert (letter.body, letter.source, letter.receives) == ("poison", "runs", 1)


def test_dead_letters_go_back_to_the_end_of_the_queue_they_came_from(
    queue: FifoQueue, dead: FifoQueue, clock: FakeClock
) -> None:
    send(queue, "poison")
    for _ in range(3):
        queue.receive(1)
        clock.advance(30)
    assert queue.receive(1) == []
    send(queue, "later")

    assert dead.redrive() == 1

    assert dead.counts() == (0, 0)
    moved = queue.receive(10)
    assert bodies(moved) == ["later", "poison"]
    assert moved[1].receives == 1


def test_a_redrive_leaves_what_has_no_origin(dead: FifoQueue) -> None:
    send(dead, "direct")

    assert dead.redrive() == 0
    assert dead.counts() == (1, 0)


def test_visibility_zero_brings_a_message_back_at_once_and_first(queue: FifoQueue) -> None:
    send(queue, "1", "2")
    [first] = queue.receive(1)
    queue.change_visibility(first.receipt, 0)

    assert bodies(queue.receive(10)) == ["1", "2"]


def test_messages_before_a_held_one_can_be_received_and_those_after_it_cannot(queue: FifoQueue) -> None:
    send(queue, "1", "2", "3")
    first, second, third = queue.receive(3)
    queue.change_visibility(first.receipt, 0)
    queue.change_visibility(third.receipt, 0)

    assert bodies(queue.receive(10)) == ["1"]
    assert second.body == "2"


@pytest.mark.parametrize("seconds", [-1, 43_201])
def test_visibility_has_bounds(queue: FifoQueue, seconds: int) -> None:
    send(queue, "1")
    [message] = queue.receive()
    with pytest.raises(SqsError, match="VisibilityTimeout"):
        queue.change_visibility(message.receipt, seconds)


def test_the_limit_is_in_bytes_and_counts_attributes(queue: FifoQueue) -> None:
    queue.send("汤" * (MAX_BYTES // 3), group="g", deduplication="fits")
    for body, attributes in [("汤" * (MAX_BYTES // 3 + 1), {}), ("x" * MAX_BYTES, {"a": 1})]:
        with pytest.raises(SqsError, match="bytes"):
            queue.send(body, group="g", deduplication="too large", attributes=attributes)


@pytest.mark.parametrize("text", ["\0", "a\x1fb", "\ud800", "\ufffe"])
def test_characters_that_sqs_refuses_are_refused(queue: FifoQueue, text: str) -> None:
    with pytest.raises(SqsError, match="characters"):
        queue.send(text, group="g", deduplication="d")


def test_all_other_text_comes_back_as_it_was(queue: FifoQueue) -> None:
    body = '不吃香菜 👩‍👩‍👧\t"quoted"\r\n\U0001f9c2'
    queue.send(body, group="g", deduplication="d")

    assert bodies(queue.receive()) == [body]


@pytest.mark.parametrize("group", ["", "x" * 129, "with space", "会话", "a\n"])
def test_group_ids_are_short_and_ascii(queue: FifoQueue, group: str) -> None:
    with pytest.raises(SqsError, match="MessageGroupId"):
        queue.send("x", group=group, deduplication="d")


@pytest.mark.parametrize("limit", [0, 11])
def test_a_batch_has_one_to_ten_messages(queue: FifoQueue, limit: int) -> None:
    with pytest.raises(SqsError, match="MaxNumberOfMessages"):
        queue.receive(limit)


def test_messages_older_than_the_retention_are_gone(journal: Journal, clock: FakeClock) -> None:
    queue = make_queue(journal, clock, retention_seconds=3_600)
    send(queue, "old")
    clock.advance(3_600)
    send(queue, "new")

    assert bodies(queue.receive(10)) == ["new"]


def test_sequence_numbers_rise(queue: FifoQueue) -> None:
    sequences = [queue.send(str(n), group=str(n % 2), deduplication=str(n)).sequence for n in range(12)]

    assert sequences == sorted(sequences)
    assert len(set(sequences)) == 12


def test_messages_survive_the_process_and_an_interrupted_attempt_is_not_counted(
    reopened: Callable[[], FifoQueue],
) -> None:
    before = reopened()
    send(before, "1", "2", "3")
    [first] = before.receive(1)
    before.delete(first.receipt)
    before.receive(1)

    after = reopened()
    assert after.receive() == []
    assert after.recover() == ["2"]

    assert [(message.body, message.receives) for message in after.receive(10)] == [("2", 1), ("3", 1)]


def test_a_transaction_that_fails_leaves_nothing_behind(queue: FifoQueue, journal: Journal) -> None:
    def half_done() -> None:
        with journal.transaction() as db:
            db.execute("INSERT INTO remembered VALUES ('runs', 'g', 'x', 'id', 1, 9e9)")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half_done()
    send(queue, "x")

    assert bodies(queue.receive()) == ["x"]


def test_threads_that_send_and_receive_together_lose_and_repeat_nothing(journal: Journal, clock: FakeClock) -> None:
    queue = make_queue(journal, clock)
    start = Barrier(4)
    taken: list[str] = []

    def sender(group: str) -> None:
        start.wait()
        send(queue, *(f"{group}{number:02d}" for number in range(40)), group=group)

    def receiver() -> None:
        start.wait()
        while len(taken) < 80:
            for message in queue.receive(10):
                taken.append(message.body)
                queue.delete(message.receipt)

    threads = [Thread(target=sender, args=(group,)) for group in "ab"] + [Thread(target=receiver) for _ in "12"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(taken) == [f"{group}{number:02d}" for group in "ab" for number in range(40)]


class QueueInUse(RuleBasedStateMachine):
    """No message overtakes an undeleted one of its group; none is lost; none comes back after its deletion."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.journal = Journal()
        self.queue = make_queue(self.journal, self.clock, dead_letters="")
        self.waiting: dict[str, list[str]] = {"a": [], "b": [], "c": []}
        self.in_hand: list[QueuedMessage] = []
        self.sent = 0

    @rule(group=st.sampled_from("abc"))
    def send(self, group: str) -> None:
        self.sent += 1
        body = f"{group}{self.sent}"
        send(self.queue, body, group=group)
        self.waiting[group].append(body)

    @rule(limit=st.integers(1, 10))
    def receive(self, limit: int) -> None:
        received = self.queue.receive(limit)
        for group, waiting in self.waiting.items():
            mine = [message.body for message in received if message.group == group]
            assert mine == waiting[: len(mine)]
        self.in_hand += received

    @rule(which=st.integers(0, 9))
    def delete(self, which: int) -> None:
        if self.in_hand:
            message = self.in_hand[which % len(self.in_hand)]
            with suppress(SqsError):  # its time in flight is over
                self.queue.delete(message.receipt)
                if message.body in self.waiting[message.group]:
                    self.waiting[message.group].remove(message.body)

    @rule(which=st.integers(0, 9), seconds=st.integers(0, 40))
    def change_visibility(self, which: int, seconds: int) -> None:
        if self.in_hand:
            with suppress(SqsError):
                self.queue.change_visibility(self.in_hand[which % len(self.in_hand)].receipt, seconds)

    @rule(seconds=st.integers(1, 40))
    def let_time_pass(self, seconds: int) -> None:
        self.clock.advance(seconds)

    def teardown(self) -> None:
        self.clock.advance(43_200)
        rest: list[QueuedMessage] = []
        while batch := self.queue.receive(10):
            rest += batch
            for message in batch:
                self.queue.delete(message.receipt)
        self.journal.close()
        for group, waiting in self.waiting.items():
            assert [message.body for message in rest if message.group == group] == waiting


TestQueueInUse = QueueInUse.TestCase
TestQueueInUse.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
