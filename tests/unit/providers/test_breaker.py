"""The circuit breaker, on a clock that moves when told."""

import threading

import pytest

from strata.clock import FakeClock
from strata.errors import CircuitOpenError, ProviderProtocolError, ProviderRejectedError, ProviderUnavailableError
from strata.providers.breaker import Breaker, Breakers


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def breaker(clock: FakeClock) -> Breaker:
    return Breaker(clock, failures=3, seconds=15.0)


def fail(breaker: Breaker, error: Exception | None = None) -> None:
    with pytest.raises(type(error or ProviderUnavailableError())), breaker.guard():
        raise error or ProviderUnavailableError


def succeed(breaker: Breaker) -> None:
    with breaker.guard():
        pass


def test_opens_after_failures_in_a_row(breaker: Breaker) -> None:
    for _ in range(3):
        assert not breaker.is_open
        fail(breaker)
    assert breaker.is_open
    with pytest.raises(CircuitOpenError), breaker.guard():
        pytest.fail("the call went through")


def test_a_success_in_between_starts_the_count_anew(breaker: Breaker) -> None:
    for _ in range(5):
        fail(breaker)
        fail(breaker)
        succeed(breaker)
    assert not breaker.is_open


def test_an_answer_outside_the_contract_is_a_failure(breaker: Breaker) -> None:
    for _ in range(3):
        fail(breaker, ProviderProtocolError())
    assert breaker.is_open


def test_a_refused_request_is_an_answer(breaker: Breaker) -> None:
    fail(breaker)
    fail(breaker)
    fail(breaker, ProviderRejectedError())
    fail(breaker)
    assert not breaker.is_open


def test_a_bug_of_ours_says_nothing_about_the_service(breaker: Breaker) -> None:
    for _ in range(10):
        fail(breaker, KeyError("ours"))
    assert not breaker.is_open


def test_lets_one_probe_through_after_its_time_and_closes_when_that_succeeds(
    breaker: Breaker, clock: FakeClock
) -> None:
    for _ in range(3):
        fail(breaker)
    clock.advance(14.9)
    assert breaker.is_open
    clock.advance(0.2)
    with breaker.guard(), pytest.raises(CircuitOpenError), breaker.guard():
        pytest.fail("a second probe went through")
    succeed(breaker)
    succeed(breaker)
    assert not breaker.is_open


def test_a_failed_probe_opens_for_another_term_at_once(breaker: Breaker, clock: FakeClock) -> None:
    for _ in range(3):
        fail(breaker)
    clock.advance(15.0)
    fail(breaker)
    assert breaker.is_open
    clock.advance(14.0)
    assert breaker.is_open
    clock.advance(1.0)
    assert not breaker.is_open


def test_a_probe_that_ends_without_a_verdict_leaves_room_for_the_next(breaker: Breaker, clock: FakeClock) -> None:
    for _ in range(3):
        fail(breaker)
    clock.advance(15.0)
    fail(breaker, KeyError("ours"))
    succeed(breaker)
    assert not breaker.is_open


def test_endpoints_fail_separately(clock: FakeClock) -> None:
    breakers = Breakers(clock, failures=1, seconds=15.0)
    fail(breakers.of("search"))
    assert breakers.of("search").is_open
    assert not breakers.of("add").is_open


def test_of_many_threads_one_is_the_probe(breaker: Breaker, clock: FakeClock) -> None:
    for _ in range(3):
        fail(breaker)
    clock.advance(15.0)
    through, start, go = [], threading.Barrier(8), threading.Event()

    def call() -> None:
        start.wait()
        try:
            with breaker.guard():
                through.append(1)
                go.wait(5)
        except CircuitOpenError:
            through.append(0)
            if through.count(0) == 7:
                go.set()

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(through) == [0] * 7 + [1]
