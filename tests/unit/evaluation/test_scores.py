"""Scores of ranked lists."""

from hypothesis import given
from hypothesis import strategies as st

from strata.evaluation.retrieval import scores
from strata.evaluation.retrieval.scores import Unit

RANKED = [Unit(40, ("a",)), Unit(30, ("b", "c")), Unit(100, ("d",)), Unit(20, ("e",))]
names = st.sampled_from("abcdefgh")
ranked_lists = st.lists(st.builds(Unit, st.integers(1, 60), st.lists(names, max_size=3).map(tuple)), max_size=12)


def test_a_unit_counts_for_every_turn_it_stands_for() -> None:
    found = scores.at(RANKED, ("b", "c", "e"), 2)
    assert (found.recall, found.any, found.all, found.tokens) == (2 / 3, True, False, 70)


def test_what_does_not_fit_is_skipped_and_smaller_ones_enter() -> None:
    found = scores.within(RANKED, ("d", "e"), 90)
    assert (found.recall, found.tokens) == (0.5, 90)


def test_the_first_rank_with_evidence_counts() -> None:
    assert scores.reciprocal(RANKED, ("d", "c")) == 1 / 2
    assert scores.reciprocal(RANKED, ("z",)) == 0.0


def test_sessions_stand_in_the_order_in_which_they_are_met() -> None:
    session_of = {"a": "2", "b": "1", "c": "1", "d": "3", "e": "4"}
    assert scores.sessions_at(RANKED, ("b",), session_of, 1).any is False
    assert scores.sessions_at(RANKED, ("b", "d"), session_of, 2).recall == 0.5
    assert scores.sessions_at(RANKED, ("b", "d"), session_of, 3).all is True


@given(ranked_lists, st.lists(names, min_size=1, max_size=4, unique=True), st.integers(0, 400))
def test_a_budget_is_kept_and_more_never_finds_less(ranked: list[Unit], evidence: list[str], budget: int) -> None:
    found = scores.within(ranked, evidence, budget)
    assert found.tokens <= budget
    assert scores.within(ranked, evidence, 10_000) == scores.of(ranked, evidence)
    recalls = [scores.at(ranked, evidence, k).recall for k in range(len(ranked) + 1)]
    assert recalls == sorted(recalls)
    assert (found.recall == 1.0) is found.all
    assert (found.recall > 0.0) is found.any
