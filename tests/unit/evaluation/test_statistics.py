"""Means, percentiles, intervals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.evaluation.statistics import bootstrapped, mean, percentile, wilson

shares = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@pytest.mark.parametrize(("share", "value"), [(0.0, 1.0), (0.5, 2.5), (0.95, 3.85), (1.0, 4.0)])
def test_percentiles_lie_between_neighbours(share: float, value: float) -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], share) == pytest.approx(value)


def test_of_nothing_there_is_nothing() -> None:
    assert (mean([]), percentile([], 0.5), wilson(0, 0), bootstrapped([], 1)) == (0.0, 0.0, (0.0, 1.0), (0.0, 0.0))


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"), [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662)]
)
def test_wilson_is_what_the_tables_say(hits: int, trials: int, low: float, high: float) -> None:
    """The last one is Newcombe's example of 1998."""
    assert list(wilson(hits, trials)) == pytest.approx([low, high], abs=1e-4)


@given(shares)
def test_a_bootstrap_holds_the_mean_and_repeats_itself(values: list[float]) -> None:
    low, high = bootstrapped(values, 7)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert (low, high) == bootstrapped(values, 7)


@given(st.integers(1, 500).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials))))
def test_wilson_holds_the_share(case: tuple[int, int]) -> None:
    hits, trials = case
    low, high = wilson(hits, trials)
    assert 0.0 <= low <= hits / trials + 1e-12
    assert hits / trials - 1e-12 <= high <= 1.0
