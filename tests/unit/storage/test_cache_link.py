"""The breaker before the cache, and the short way to its servers."""

from typing import Any

import pytest
from redis.exceptions import ConnectionError as LinkError
from redis.exceptions import MovedError, ResponseError
from redis.exceptions import TimeoutError as TimedOut

from strata import config
from strata.clock import FakeClock
from strata.errors import CacheUnavailableError
from strata.storage.cache_link import Breaker, CacheLink
from strata.storage.cache_wire import packed


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def is_open(breaker: Breaker) -> bool:
    try:
        breaker.check()
    except CacheUnavailableError:
        return True
    return False


def test_failures_in_a_row_keep_callers_away_and_then_one_may_try(clock: FakeClock) -> None:
    breaker = Breaker(clock, failures=3, seconds=5.0, probe_seconds=0.8)
    for _ in range(2):
        breaker.failed()
    assert not is_open(breaker)
    breaker.failed()
    assert is_open(breaker)
    clock.advance(5.0)
    assert [is_open(breaker) for _ in range(4)] == [False, True, True, True]
    breaker.failed()
    clock.advance(4.9)
    assert is_open(breaker)
    clock.advance(0.2)
    assert not is_open(breaker)
    breaker.succeeded()
    assert not any(is_open(breaker) for _ in range(4))


def test_a_try_whose_end_is_never_heard_of_keeps_nobody_away_for_ever(clock: FakeClock) -> None:
    breaker = Breaker(clock, failures=1, seconds=5.0, probe_seconds=0.8)
    breaker.failed()
    clock.advance(5.1)
    assert [is_open(breaker), is_open(breaker)] == [False, True]
    clock.advance(0.9)
    assert not is_open(breaker)


class Scripted:
    """Does one thing after the other."""

    def __init__(self, *outcomes: object) -> None:
        self.outcomes = list(outcomes)

    def __call__(self, _with: object) -> Any:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@pytest.fixture
def link(clock: FakeClock) -> CacheLink:
    made = CacheLink(object, config.Cache(), clock)
    made.call(lambda _client: None)
    made._wire = object()  # type: ignore[assignment]
    return made


@pytest.mark.parametrize("trouble", [LinkError(), MovedError("1 127.0.0.1:1")])
def test_what_the_short_way_cannot_do_the_client_can(link: CacheLink, trouble: Exception) -> None:
    assert link.call(Scripted("through the client"), Scripted(trouble)) == "through the client"
    assert link.call(Scripted(), Scripted("the short way")) == "the short way"


def test_an_expired_timeout_is_not_tried_again_and_the_next_goes_through_the_client(link: CacheLink) -> None:
    with pytest.raises(CacheUnavailableError):
        link.call(Scripted(), Scripted(TimedOut()))
    assert link.call(Scripted("through the client"), Scripted()) == "through the client"
    assert link.call(Scripted(), Scripted("the short way")) == "the short way"


def test_only_failures_that_cost_time_keep_callers_away(link: CacheLink, clock: FakeClock) -> None:
    """A server that is starting again refuses at once; what is appended meanwhile must reach it as soon as it is up."""
    for _ in range(10):
        with pytest.raises(CacheUnavailableError):
            link.call(Scripted(LinkError(), LinkError()))
    assert link.call(Scripted("back")) == "back"

    def silent(_client: object) -> None:
        clock.advance(0.5)
        raise TimedOut

    for _ in range(3):
        with pytest.raises(CacheUnavailableError):
            link.call(silent)
    with pytest.raises(CacheUnavailableError, match="left alone"):
        link.call(Scripted("not asked"))


def test_a_refusal_is_passed_on(link: CacheLink) -> None:
    with pytest.raises(CacheUnavailableError) as raised:
        link.call(Scripted(), Scripted(ResponseError("OOM command not allowed")))
    assert isinstance(raised.value.__cause__, ResponseError)


def test_a_command_is_packed_by_its_bytes() -> None:
    assert (
        packed(("GET", "键", 7, b"\x00\r\n"))
        == b"*4\r\n$3\r\nGET\r\n$3\r\n\xe9\x94\xae\r\n$1\r\n7\r\n$3\r\n\x00\r\n\r\n"
    )
