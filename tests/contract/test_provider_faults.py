"""Every external provider under every fault: typed errors in time, and nothing stored twice."""

import random
import time
from collections.abc import Iterator
from typing import Any

import pytest

from strata.clock import FakeClock, SystemClock
from strata.errors import (
    CircuitOpenError,
    ProviderProtocolError,
    ProviderRejectedError,
    ProviderUnavailableError,
    StrataError,
)
from strata.ports import Access, MemoryDraft, ProviderHits, ProviderQuery, ProviderScope
from strata.providers.scopes import cube_of
from tests.doubles import mem0, mem0_platform, memos, memos_cloud
from tests.doubles.faults import AT_THE_DOOR, NO_ANSWER, Fault
from tests.doubles.open import KINDS, Opened, opened
from tests.fakes.limits import SLACK_SECONDS, assert_ends_within

SCOPE = ProviderScope(tenant="t", user_id="alice", agent_id="chef")
ALICE = cube_of("t", "user:alice")
ENDLESS = {Fault.HANG, Fault.DRIP, Fault.DRIP_HEAD, Fault.LATE}
DEADLINE = 0.2
ADD_PATHS = {
    "memos": "/product/add",
    "memos-sync": "/product/add",
    "memos-cloud": "/add/message",
    "mem0": "POST /memories",
    "mem0-platform": "/v3/memories/add/",
}
BEHAVIOURS: dict[str, Any] = {
    "memos": memos.MemosBehaviour,
    "memos-sync": memos.MemosBehaviour,
    "memos-cloud": memos_cloud.CloudBehaviour,
    "mem0": mem0.Mem0Behaviour,
    "mem0-platform": mem0_platform.PlatformBehaviour,
}


@pytest.fixture(params=KINDS)
def faulty(request: pytest.FixtureRequest) -> Iterator[Opened]:
    """A provider on a real clock that does not try twice."""
    with opened(request.param, SystemClock(), retries=0, breaker_failures=100) as provider:
        yield provider


def draft(number: int = 1) -> MemoryDraft:
    return MemoryDraft(
        memory_id=f"m-{number}",
        collection="user:alice",
        memory_type="user_preference",
        content=f"The invoice address is Rua das Flores {number}",
        fingerprint=f"f-{number}",
        said_at=FakeClock().now(),
    )


def search(where: Opened, *, seconds: float = 5.0, text: str = "invoice address") -> ProviderHits:
    access = Access(tenant="t", agent_id="chef")
    collections = ("user:alice", "agent:chef")
    return where.provider.search(
        ProviderQuery(scope=SCOPE, access=access, text=text, collections=collections, deadline_seconds=seconds)
    )


def add(to: Opened, number: int = 1) -> tuple[str, ...]:
    return to.provider.add(SCOPE, draft(number), now=draft().said_at)


@pytest.mark.parametrize("fault", sorted(Fault))
def test_a_search_ends_in_time_with_an_error_that_says_what_went_wrong(faulty: Opened, fault: Fault) -> None:
    faulty.service.put(ALICE, "The invoice address is Rua das Flores 12")
    faulty.double.faults.late_seconds = 1.0
    faulty.double.faults.always(fault)
    seconds = DEADLINE if fault in ENDLESS else 5.0

    def fail() -> None:
        with pytest.raises((ProviderUnavailableError, ProviderProtocolError, ProviderRejectedError)) as caught:
            search(faulty, seconds=seconds)
        assert caught.value.code != "internal"

    assert_ends_within(seconds + SLACK_SECONDS, fail)
    faulty.double.faults.clear()
    assert search(faulty).hits


@pytest.mark.parametrize("fault", sorted(NO_ANSWER - AT_THE_DOOR - ENDLESS))
def test_an_add_whose_answer_was_lost_is_found_and_not_repeated(faulty: Opened, fault: Fault) -> None:
    faulty.double.faults.once(fault, ADD_PATHS[faulty.kind], effective=True)
    add(faulty)
    add(faulty)
    assert len(faulty.service.texts()) == 1


def test_an_add_that_answered_too_late_is_found_by_the_next_try(faulty: Opened) -> None:
    with opened(faulty.kind, SystemClock(), retries=0, write_timeout_seconds=0.4) as provider:
        provider.double.faults.late_seconds = 0.8
        provider.double.faults.once(Fault.LATE, ADD_PATHS[faulty.kind])
        for _ in range(4):
            try:
                add(provider)
                break
            except ProviderUnavailableError:
                time.sleep(0.8)  # it is stored after it was looked for
        assert len(provider.service.texts()) == 1
        assert provider.provider.listed(SCOPE, "user:alice")


@pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.CLOSE, Fault.RESET, Fault.GARBAGE])
def test_an_add_that_was_not_stored_is_an_error_and_then_a_success(faulty: Opened, fault: Fault) -> None:
    faulty.double.faults.once(fault, ADD_PATHS[faulty.kind])
    with pytest.raises((ProviderUnavailableError, ProviderProtocolError)):
        add(faulty)
    assert faulty.service.texts() == []
    faulty.double.faults.clear()
    add(faulty)
    assert len(faulty.service.texts()) == 1


def test_an_add_is_not_tried_where_it_cannot_be_looked_for(faulty: Opened) -> None:
    faulty.double.faults.always(Fault.UNAVAILABLE)
    with pytest.raises(ProviderUnavailableError):
        add(faulty)
    faulty.double.faults.clear()
    assert faulty.service.texts() == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_under_random_faults_nothing_is_stored_twice_and_nothing_that_was_said_to_be_is_missing(
    kind: str, seed: int
) -> None:
    clock = FakeClock()
    with opened(kind, clock, BEHAVIOURS[kind].at_random(seed), retries=1, breaker_failures=100) as provider:
        provider.double.faults.at_random(seed, rate=0.25)
        said = set()
        for number in [random.Random(seed).randrange(8) for _ in range(24)] * 2:
            clock.advance(5)
            try:
                add(provider, number)
            except StrataError:
                continue
            said.add(f"m-{number}")
        provider.double.faults.clear()
        clock.advance(5)
        memories = provider.provider.listed(SCOPE, "user:alice")
        assert said <= {memory.memory_id for memory in memories}
        splits = 2 if getattr(provider.service.behaviour, "extraction", "") == "splits" else 1
        assert len(provider.service.texts()) == len(memories) * splits
        assert {memory.content for memory in memories} <= {draft(number).content for number in range(8)}


@pytest.mark.parametrize("kind", KINDS)
def test_in_an_outage_a_warm_caller_asks_nobody(kind: str) -> None:
    clock = FakeClock()
    with opened(kind, clock, retries=0, breaker_failures=5, breaker_seconds=15.0) as provider:
        provider.service.put(ALICE, "The invoice address is Rua das Flores 12")
        provider.double.faults.always(Fault.UNAVAILABLE)
        for _ in range(5):
            with pytest.raises(ProviderUnavailableError):
                search(provider)
        asked = len(provider.double.asked)
        for _ in range(20):
            with pytest.raises(CircuitOpenError):
                search(provider)
        assert len(provider.double.asked) == asked
        provider.double.faults.clear()
        clock.advance(15.0)
        assert search(provider).hits


@pytest.mark.parametrize("kind", KINDS)
def test_warm_calls_open_no_more_connections(kind: str) -> None:
    clock = FakeClock()
    with opened(kind, clock) as provider:
        for _ in range(30):
            search(provider)
        assert provider.double.connections <= 2
