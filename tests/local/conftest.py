"""A clock that stands still, and queues on it."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from strata.clock import FakeClock
from strata.local.deployment import QueueSpec
from strata.local.journal import Journal
from strata.local.queue import FifoQueue
from tests.local.parts import RUNS


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def journal() -> Iterator[Journal]:
    with closing(Journal()) as journal:
        yield journal


@pytest.fixture
def queue(journal: Journal, clock: FakeClock) -> FifoQueue:
    return FifoQueue(RUNS, journal, clock)


@pytest.fixture
def dead(journal: Journal, clock: FakeClock) -> FifoQueue:
    return FifoQueue(QueueSpec(name="dead"), journal, clock)
