"""Waits grow with every failure, stay within their bounds, and are spread."""

from hypothesis import given
from hypothesis import strategies as st

from strata.policy.backoff import wait_seconds

DRAWS = st.floats(0, 1)


def test_waits_grow_fourfold_up_to_the_bound() -> None:
    waits = [wait_seconds(attempt, first=20, longest=800, draw=1) for attempt in range(1, 7)]
    assert waits == [20, 80, 320, 800, 800, 800]


def test_waits_are_spread_over_a_quarter() -> None:
    assert [wait_seconds(2, first=20, longest=800, draw=draw) for draw in (0, 0.5, 1)] == [60, 70, 80]


@given(st.integers(-3, 10_000), st.integers(0, 900), st.integers(1, 43_200), DRAWS)
def test_no_wait_leaves_its_bounds(attempt: int, first: int, longest: int, draw: float) -> None:
    assert 0 <= wait_seconds(attempt, first=first, longest=longest, draw=draw) <= longest


@given(st.integers(1, 100), st.integers(0, 900), st.integers(1, 43_200), DRAWS)
def test_no_wait_is_shorter_than_the_one_before(attempt: int, first: int, longest: int, draw: float) -> None:
    waits = [wait_seconds(number, first=first, longest=longest, draw=draw) for number in (attempt, attempt + 1)]
    assert waits == sorted(waits)
