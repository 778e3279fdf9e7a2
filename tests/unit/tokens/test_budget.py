"""Filling a budget."""

from hypothesis import given
from hypothesis import strategies as st

from strata.tokens.budget import fit


def test_one_long_line_does_not_shut_out_the_short_ones_behind_it() -> None:
    assert fit([40, 900, 30, 30], 200) == [True, False, True, True]


def test_nothing_fits_no_budget() -> None:
    assert fit([1, 2], 0) == [False, False]


@given(st.lists(st.integers(0, 100)), st.integers(0, 500))
def test_what_enters_fits_and_what_stays_out_would_not_have(lines: list[int], budget: int) -> None:
    chosen = fit(lines, budget)
    spent = 0
    for tokens, enters in zip(lines, chosen, strict=True):
        assert enters == (spent + tokens <= budget)
        spent += tokens if enters else 0
    assert spent <= budget
