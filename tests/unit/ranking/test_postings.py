"""The inverted index is exact after any mix of adds and removals, and when it is cut into several."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.ranking.postings import Postings, Statistics, best_score, statistics_of, weighted_query

WORDS = st.lists(st.sampled_from("abcdef"), max_size=6)
STEPS = st.lists(st.tuples(st.integers(0, 5), WORDS, st.booleans()), max_size=25)


def built(documents: dict[int, list[str]]) -> Postings:
    postings = Postings()
    for slot, words in documents.items():
        postings.add(slot, words)
    return postings


def scores(postings: Postings, query: list[str]) -> dict[int, float]:
    statistics = statistics_of([postings], query)
    return postings.scores(weighted_query(query, statistics), statistics)


@given(steps=STEPS, query=WORDS)
def test_after_any_changes_it_is_as_if_built_anew(steps: list[tuple[int, list[str], bool]], query: list[str]) -> None:
    postings, documents = Postings(), dict[int, list[str]]()
    for slot, words, removes in steps:
        if slot in documents:
            postings.remove(slot)
            del documents[slot]
        if not removes:
            postings.add(slot, words)
            documents[slot] = words
    fresh = built(documents)
    assert scores(postings, query) == pytest.approx(scores(fresh, query))
    assert postings.total_length == fresh.total_length
    assert all(postings.rarity_of(slot) == pytest.approx(fresh.rarity_of(slot)) for slot in documents)
    assert {word: postings.frequency(word) for word in "abcdef"} == {word: fresh.frequency(word) for word in "abcdef"}


@given(documents=st.lists(WORDS, min_size=1, max_size=8), query=WORDS, cut=st.integers(0, 8))
def test_indexes_searched_together_score_like_one(documents: list[list[str]], query: list[str], cut: int) -> None:
    numbered = dict(enumerate(documents))
    whole = built(numbered)
    parts = [
        built({slot: words for slot, words in numbered.items() if slot < cut}),
        built({slot: words for slot, words in numbered.items() if slot >= cut}),
    ]
    statistics = statistics_of(parts, query)
    weights = weighted_query(query, statistics)
    together = parts[0].scores(weights, statistics) | parts[1].scores(weights, statistics)
    assert together == pytest.approx(scores(whole, query))


def test_rare_words_and_short_documents_count_more() -> None:
    postings = built({0: ["tea"], 1: ["tea", "rice", "fish", "soup"], 2: ["rice"], 3: ["rice"]})
    found = scores(postings, ["tea"])
    assert found[0] > found[1]
    statistics = statistics_of([postings], ["tea", "rice", "none"])
    assert statistics.rarity("none") > statistics.rarity("tea") > statistics.rarity("rice") > 0


def test_a_repeated_word_of_the_question_counts_twice_at_most() -> None:
    statistics = Statistics(10, 3.0, {"tea": 1})
    once, twice, often = (weighted_query(["tea"] * times, statistics)["tea"] for times in (1, 2, 9))
    assert (twice, often) == (2 * once, 2 * once)


def test_nothing_scores_more_than_the_question_itself_by_much() -> None:
    postings = built({0: ["tea", "rice"], 1: ["fish"]})
    statistics = statistics_of([postings], ["tea", "rice"])
    weights = weighted_query(["tea", "rice"], statistics)
    assert postings.scores(weights, statistics)[0] == pytest.approx(best_score(weights), rel=0.3)
    assert best_score({}) == 1.0
