"""Scores that mean the same everywhere."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.ranking.calibration import PASSAGE_CURVE, QUESTION_CURVE, combined, coverage, pooled, similarity

FRACTIONS = st.floats(0.0, 1.0)


@given(st.lists(st.floats(-5, 12), min_size=2).map(sorted), st.booleans())
def test_closer_is_never_less_similar(deviations: list[float], passage: bool) -> None:
    scores = [similarity(one, passage=passage) for one in deviations]
    assert scores == sorted(scores)
    assert all(0.0 <= score <= 1.0 for score in scores)


@pytest.mark.parametrize("passage", [False, True])
def test_the_curve_goes_through_its_points(passage: bool) -> None:
    for deviations, score in PASSAGE_CURVE if passage else QUESTION_CURVE:
        assert similarity(deviations, passage=passage) == pytest.approx(score)


def test_coverage_is_the_share_of_the_question_or_of_a_memory_named_in_passing() -> None:
    assert coverage(0.0, 5.0, 5.0) == 0.0
    assert coverage(5.0, 5.0, 9.0) == 1.0
    assert coverage(1.0, 4.0, 10.0) == 0.25
    assert coverage(2.0, 40.0, 2.0) == pytest.approx(0.9)


@given(FRACTIONS, FRACTIONS)
def test_two_measures_support_each_other(semantic: float, keyword: float) -> None:
    both = combined(semantic, keyword)
    assert max(semantic, keyword) <= both <= 1.0
    assert both == combined(keyword, semantic)


@given(st.lists(FRACTIONS))
def test_pooled_scores_never_rise_and_keep_their_sum(scores: list[float]) -> None:
    made = pooled(scores)
    assert len(made) == len(scores)
    assert all(after <= before + 1e-9 for before, after in pairwise(made))
    assert sum(made) == pytest.approx(sum(scores))


def test_scores_in_order_stay_as_they_are() -> None:
    assert pooled([0.9, 0.5, 0.5, 0.1]) == [0.9, 0.5, 0.5, 0.1]
    assert pooled([0.2, 0.6]) == pytest.approx([0.4, 0.4])
