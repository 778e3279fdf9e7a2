"""The queue door with a queue before it: what failed comes back later each time, in order; nothing else comes back."""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import pytest

from strata import bootstrap, config, observability
from strata.clock import FakeClock
from strata.edge import sqs
from strata.edge.backoff import waits
from strata.errors import QueueUnavailableError
from strata.local.deployment import FunctionSpec, QueueSpec
from strata.local.function import LocalFunction
from strata.local.journal import Journal
from strata.local.notices import LocalRunQueue
from strata.local.poller import Batch, Poller
from strata.local.queue import FifoQueue
from strata.model.messages import NewMessage, Role
from strata.model.runs import Run, RunState
from strata.model.sessions import SessionKey
from tests.fakes.rig import fresh_file

VISIBILITY_SECONDS = 360
QUEUE = QueueSpec(
    name="runs", visibility_seconds=VISIBILITY_SECONDS, max_receives=5, dead_letters="dead", deduplicates_per_group=True
)
FUNCTION = FunctionSpec(name="consolidator", logical_id="Consolidator", timeout_seconds=60, memory_mb=256)


class Works:
    """The door, its queue and the product behind it, on one clock that stands still."""

    def __init__(self, folder: Path, journal: Journal) -> None:
        self.clock = FakeClock()
        self.user = "ann"
        self.queue = FifoQueue(QUEUE, journal, self.clock)
        settings = config.Settings(
            database=config.Database(url=fresh_file(folder)), cache=config.Cache(url=f"memory://{folder}")
        )
        self.product = bootstrap.install(settings, clock=self.clock, queue=LocalRunQueue(self.queue))
        self.function = LocalFunction(FUNCTION, sqs.door(), self.clock)

    def end(self, session_id: str, text: str) -> Run:
        """Say something in a session and end it."""
        key = SessionKey(tenant="t", session_id=f"{session_id} of {self.user}")
        self.product.append(key, self.user, "adviser", [NewMessage(role=Role.USER, content=text)])
        return self.product.end_session(key, "adviser")

    def hold(self, run: Run, seconds: int) -> None:
        """Let somebody else work on a run."""
        assert self.product.runs.claim("t", run.run_id, seconds=seconds, now=self.clock.now()) is not None

    def poll(self) -> Batch | None:
        return Poller(self.queue, self.function).poll_once()

    def seconds_until_it_is_back(self) -> int:
        """Wait until the queue has something to hand out, and say how long that took."""
        waited = 0
        while not self.queue.counts()[0]:
            self.clock.advance(1)
            waited += 1
        return waited

    def state(self, run: Run) -> RunState:
        found = self.product.runs.get("t", run.run_id)
        assert found is not None
        return found.state


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Works]:
    observability.mute_metrics()
    with closing(Journal()) as journal:
        made = Works(tmp_path_factory.mktemp("works"), journal)
        yield made
        made.function.close()
        bootstrap.uninstall()


@pytest.fixture
def works(opened: Works) -> Works:
    """An empty queue and users that are new; opening the product is what takes long."""
    opened.queue.purge()
    opened.user = uuid.uuid4().hex
    return opened


def test_a_failure_takes_the_later_ones_of_its_session_with_it_and_all_come_back_in_order(works: Works) -> None:
    first = works.end("one", "我喜欢喝茶")
    second = works.end("one", "我喜欢爬山")
    neighbour = works.end("two", "我喜欢猫")
    works.hold(first, seconds=10)
    batch = works.poll()
    assert batch is not None
    assert (len(batch.done), len(batch.failed)) == (1, 2)
    assert works.state(neighbour) is RunState.SUCCEEDED
    works.clock.advance(14)
    assert works.queue.receive(10) == []
    works.clock.advance(6)
    received = works.queue.receive(10)
    assert [sqs.notice_of(message.body).run_id for message in received] == [first.run_id, second.run_id]


def test_each_wait_is_longer_than_the_one_before(works: Works) -> None:
    run = works.end("one", "我喜欢喝茶")
    works.hold(run, seconds=1_000)
    waited = []
    for _ in range(4):
        works.poll()
        waited.append(works.seconds_until_it_is_back())
    bounds = [(15, 20), (60, 80), (240, 320), (600, 800)]
    assert all(least <= wait <= most for wait, (least, most) in zip(waited, bounds, strict=True)), waited
    works.clock.advance(100)
    works.poll()
    assert works.state(run) is RunState.SUCCEEDED
    assert works.queue.counts() == (0, 0)


def test_a_failed_batch_leaves_nothing_behind_for_the_next(works: Works) -> None:
    run = works.end("one", "我喜欢喝茶")
    works.hold(run, seconds=10)
    works.poll()
    works.clock.advance(20)
    again = works.poll()
    other = works.end("two", "我喜欢猫")
    third = works.poll()
    assert again is not None
    assert third is not None
    assert (again.failed, third.failed) == ((), ())
    assert (works.state(run), works.state(other)) == (RunState.SUCCEEDED, RunState.SUCCEEDED)


class Deaf(LocalRunQueue):
    """Takes notices, and cannot put them off."""

    def postpone(self, waits: Mapping[str, int]) -> NoReturn:
        raise QueueUnavailableError


def test_where_nothing_can_be_put_off_the_queues_own_timeout_decides(
    works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(works.product, "queue", Deaf(works.queue))
    run = works.end("one", "我喜欢喝茶")
    neighbour = works.end("two", "我喜欢猫")
    works.hold(run, seconds=10)
    batch = works.poll()
    assert batch is not None
    assert len(batch.failed) == 1
    assert works.state(neighbour) is RunState.SUCCEEDED
    assert works.seconds_until_it_is_back() == VISIBILITY_SECONDS
    works.poll()
    assert works.state(run) is RunState.SUCCEEDED


def test_with_little_time_left_nothing_is_put_off(works: Works) -> None:
    run = works.end("one", "我喜欢喝茶")
    works.hold(run, seconds=10)
    spec = FunctionSpec(name="consolidator", logical_id="C", timeout_seconds=sqs.POSTPONING_SECONDS, memory_mb=256)
    hurried = LocalFunction(spec, sqs.door(), works.clock)
    with closing(hurried):
        Poller(works.queue, hurried).poll_once()
    assert works.seconds_until_it_is_back() == VISIBILITY_SECONDS


def test_a_message_that_is_no_notice_ends_among_the_dead_letters_and_holds_up_nobody(works: Works) -> None:
    works.queue.send("no notice", group="strange", deduplication=str(uuid.uuid4()))
    neighbour = works.end("one", "我喜欢猫")
    works.poll()
    assert works.state(neighbour) is RunState.SUCCEEDED
    for _ in range(4):
        works.seconds_until_it_is_back()
        works.poll()
    works.seconds_until_it_is_back()
    assert works.poll() is None
    assert works.queue.counts() == (0, 0)


def record(number: int, group: str, receives: int) -> dict[str, Any]:
    attributes = {"ApproximateReceiveCount": str(receives), "MessageGroupId": group}
    return {"messageId": f"m{number}", "receiptHandle": f"r{number}", "attributes": attributes}


def test_a_group_waits_as_its_first_failure_asks_for_and_what_worked_is_not_touched() -> None:
    records = [record(1, "a", 1), record(2, "a", 3), record(3, "b", 2), record(4, "c", 1), record(5, "a", 5)]
    found = waits(records, {"m2", "m3", "m5"}, first=20, longest=800)
    assert set(found) == {"r2", "r3", "r5"}
    assert found["r2"] == found["r5"]
    assert 240 <= found["r2"] <= 320
    assert 60 <= found["r3"] <= 80
