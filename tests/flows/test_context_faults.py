"""A load through every external provider while its service fails in every way: complete, and honest about it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from strata.clock import FakeClock, SystemClock
from strata.context.load import LoadContext
from strata.model.context import Lane, LoadedContext
from tests.doubles.faults import Fault
from tests.doubles.open import KINDS, Opened, opened
from tests.flows.test_context import CALLER, PEANUTS, PROFILE, REQUEST, World, texts

HASTY = replace(REQUEST, deadline_ms=150)
PATIENT = replace(REQUEST, deadline_ms=20_000)
SILENT = {Fault.HANG, Fault.DRIP, Fault.DRIP_HEAD, Fault.LATE}
"""Faults that only a deadline ends."""
FAILURES = 3


@pytest.fixture(params=KINDS)
def faulty(request: pytest.FixtureRequest) -> Iterator[Opened]:
    with opened(request.param, SystemClock(), retries=0, breaker_failures=100) as provider:
        provider.double.faults.late_seconds = 1.0
        yield provider


def loader(provider: Opened) -> LoadContext:
    return World(search=provider.provider.search).loader(SystemClock())


def assert_complete_but_for_the_provider(loaded: LoadedContext, code: str = "") -> None:
    assert texts(loaded, Lane.CONSTRAINT) == [PEANUTS.content]
    assert PEANUTS.content in loaded.prompt
    assert loaded.messages[-1]["content"] == "hi"
    assert [one.lane for one in loaded.memories] == [Lane.CONSTRAINT]
    (degraded,) = loaded.degraded
    assert degraded.part == "long_term"
    assert degraded.code == code if code else degraded.code not in {"", "internal"}
    assert degraded.detail


@pytest.mark.parametrize("fault", sorted(Fault))
def test_a_load_is_complete_whatever_the_service_does(faulty: Opened, fault: Fault) -> None:
    load = loader(faulty)
    faulty.double.faults.always(fault)
    loaded = load(CALLER, PROFILE, HASTY if fault in SILENT else PATIENT)
    assert_complete_but_for_the_provider(loaded)
    load.close()


@pytest.mark.parametrize("kind", KINDS)
def test_an_outage_is_not_asked_again_and_its_end_is_noticed(kind: str) -> None:
    clock = FakeClock()
    limits = {"retries": 0, "breaker_failures": FAILURES, "breaker_seconds": 15.0}
    with opened(kind, clock, **limits) as provider:
        load = loader(provider)
        provider.double.faults.always(Fault.UNAVAILABLE)
        for _ in range(FAILURES):
            assert_complete_but_for_the_provider(load(CALLER, PROFILE, PATIENT))
        asked = len(provider.double.asked)
        for _ in range(20):
            assert_complete_but_for_the_provider(load(CALLER, PROFILE, PATIENT), "circuit_open")
        assert len(provider.double.asked) == asked
        provider.double.faults.clear()
        clock.advance(15.0)
        load(CALLER, PROFILE, PATIENT)  # one request tries; those that go with it may still be kept away
        assert load(CALLER, PROFILE, PATIENT).degraded == ()
        load.close()
