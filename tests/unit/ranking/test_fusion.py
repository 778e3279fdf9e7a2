"""What speaks for a memory besides its words, and how signals become one score."""

from dataclasses import replace

import numpy as np
import pytest

from strata.model.context import SearchMode
from strata.ranking import signals
from strata.ranking.field import Field
from strata.ranking.fusion import PRIOR_ROWS, fused, standardised
from strata.ranking.mix import EPISODES, FACTS, Mix
from strata.ranking.query import prepared
from strata.ranking.shelf import Entry, Shelf
from tests.unit.ranking.shelves import MARCH, asking, background, entry, names, search, shelf_of, texts, vector


def turns(*said: str, speakers: tuple[str, ...] = ("Ann", "Bob"), **fields: object) -> Shelf:
    def one(number: int, text: str) -> Entry:
        speaker = speakers[number % len(speakers)]
        place = {"session_id": "s", "seq": number + 1, "previous_seq": number}
        return entry(f"t{number}", f"{speaker}: {text}", speaker=speaker, **{**place, **fields})

    return shelf_of((one(number, text) for number, text in enumerate(said)), label="episode")


def score(shelf: Shelf, question: str, name: str) -> float:
    query = prepared(question, now=0.0)
    ranking = fused(Field.of([shelf]), asking(shelf, query, mix=EPISODES, mode=SearchMode.KEYWORD)).ranking
    return float(ranking[int(name[1:])])


def test_scores_are_distances_from_the_mean() -> None:
    values = np.array([0.0] * 500 + [1.0] * 500)
    scaled = standardised(values, np.ones(1_000, dtype=bool), (0.5, 0.5))
    assert scaled[0] == pytest.approx(-1.0, abs=0.01)
    assert scaled[-1] == pytest.approx(1.0, abs=0.01)


def test_a_few_rows_are_measured_against_what_is_usual() -> None:
    alone = standardised(np.array([3.0]), np.array([True]), (0.0, 1.0))
    assert 1.0 < alone[0] < 3.0
    assert standardised(np.array([0.0]), np.array([True]), (0.0, 1.0))[0] == 0.0
    assert PRIOR_ROWS > 0


def test_rows_that_may_not_be_found_do_not_move_the_mean() -> None:
    values, allowed = np.array([0.0, 1.0, 1e9]), np.array([True, True, False])
    assert standardised(values, allowed, (0.0, 1.0))[1] == standardised(values[:2], allowed[:2], (0.0, 1.0))[1]


def test_meaning_finds_what_words_do_not_and_the_mode_decides() -> None:
    shelf = shelf_of(
        [entry("words", "green tea", vector=vector(0, 1, 0, 0)), entry("sense", "绿茶", vector=vector(1, 0, 0, 0))],
        dimensions=4,
    )
    asked = vector(1, 0, 0, 0)
    assert names(search(shelf, "green tea", vector=asked, mode=SearchMode.SEMANTIC))[0] == "sense"
    assert names(search(shelf, "green tea", vector=asked, mode=SearchMode.KEYWORD))[0] == "words"
    hybrid = search(shelf, "green tea", vector=asked)
    assert {one.memory_id: one.signals for one in hybrid} == {"words": ("keyword",), "sense": ("semantic",)}


def test_without_a_vector_every_mode_goes_by_words() -> None:
    shelf = texts("green tea", "rice", dimensions=4)
    assert names(search(shelf, "tea", mode=SearchMode.SEMANTIC))[0] == "m0"
    assert EPISODES.under(SearchMode.HYBRID, semantic=False).keyword == pytest.approx(0.5)
    assert FACTS.under(SearchMode.SEMANTIC, semantic=True).semantic == pytest.approx(1.0)


def test_each_pair_of_scripts_has_its_own_zero() -> None:
    def scale(dense_scripts: int, *, question: bool) -> tuple[float, float]:
        return (0.7, 0.8, 0.9)[dense_scripts], 0.1

    shelf = shelf_of(
        [
            entry("far", "用户喜欢绿茶", vector=vector(0.8, 0.6, 0, 0)),
            entry("near", "green tea", vector=vector(0.8, 0.6, 0, 0)),
        ],
        dimensions=4,
    )
    field = Field.of([shelf])
    for question, above in (("what tea", (0.0, 1.0)), ("喝什么茶", (-1.0, 0.0))):
        query = prepared(question, vector=vector(1, 0, 0, 0), now=0.0)
        found = fused(field, asking(shelf, query, scale=scale)).semantic
        assert found == pytest.approx(above, abs=1e-5)


def test_the_one_whom_the_question_names_is_preferred() -> None:
    shelf = turns("I went to the museum", "I went to the museum")
    assert names(search(shelf, "When did Bob go to the museum?", mix=EPISODES))[0] == "t1"
    assert names(search(shelf, "When did Ann go to the museum?", mix=EPISODES))[0] == "t0"
    plain = search(shelf, "museum with Ann and Bob", mix=EPISODES)
    assert plain[0].score == pytest.approx(plain[1].score, abs=0.01)


def test_a_chinese_name_is_found_inside_a_sentence() -> None:
    shelf = turns("我去了博物馆", "我去了博物馆", speakers=("小明", "小红"))
    assert names(search(shelf, "小红什么时候去的博物馆", mix=EPISODES))[0] == "t1"


def test_the_date_that_the_question_names_is_preferred() -> None:
    shelf = shelf_of(
        [entry("march", "we had soup", said_on=MARCH), entry("may", "we had soup", said_on=MARCH.replace(month=5))]
    )
    assert names(search(shelf, "what soup did we have in May 2026"))[0] == "may"
    assert names(search(shelf, "3月10日喝了什么汤 soup"))[0] == "march"


def test_neighbours_speak_for_a_turn() -> None:
    shelf = turns("Did the otter get its fish?", "Yes, both of them!", "Nice weather", "Indeed it is")
    assert score(shelf, "otter fish", "t1") > score(shelf, "otter fish", "t3")


def test_a_turn_that_only_asks_stands_behind_one_that_says() -> None:
    shelf = turns("you like the green tea?", "you like the green tea.")
    assert score(shelf, "green tea", "t1") > score(shelf, "green tea", "t0")


def test_a_turn_that_answers_stands_before_one_that_does_not() -> None:
    shelf = turns("Anything new?", "green tea", "Nothing new.", "green tea")
    assert score(shelf, "green tea", "t1") > score(shelf, "green tea", "t3")


def test_what_is_near_to_everything_stands_behind_what_is_near_to_the_question() -> None:
    crowd = [entry(f"c{number}", f"row {number}", vector=vector(1, 0, 0, number / 50)) for number in range(10)]
    hub = entry("hub", "row x", vector=vector(1, 0.45, 0, 0))
    own = entry("own", "row y", vector=vector(0.55, 0.45, 0.7, 0))
    shelf = shelf_of([*crowd, hub, own], dimensions=4)
    asked = vector(0.9, 0.4, 0.2, 0)
    plain = Mix(semantic=1.0, keyword=0.0)
    assert names(search(shelf, "?", vector=asked, mix=plain))[0] == "hub"
    assert names(search(shelf, "?", vector=asked, mix=replace(plain, common=0.6)))[0] == "own"


def test_what_is_common_is_measured_within_a_script() -> None:
    latin = [entry(f"l{number}", "green tea", vector=vector(1, 0, 0, 0)) for number in range(9)]
    dense = [entry(f"d{number}", "绿茶", vector=vector(0.6, 0.8, 0, 0)) for number in range(2)]
    shelf = shelf_of([*latin, *dense, entry("bare", "green tea")], dimensions=4)
    query = prepared("tea", vector=vector(1, 0, 0, 0), now=0.0)
    assert signals.common(Field.of([shelf]), query, background) == pytest.approx(np.zeros(12), abs=1e-5)


def test_a_question_with_a_photo_is_still_a_question() -> None:
    shelf = turns("you like it? [photo: green tea]", "you like it. [photo: green tea]")
    assert list(shelf.column("question")) == [True, False]


def test_shelves_searched_together_are_comparable() -> None:
    one, other = texts("green tea", "rice"), shelf_of([entry("x", "green tea and rice"), entry("y", "fish")])
    found = search([one, other], "green tea")
    assert names(found)[:2] == ["m0", "x"]
    assert [candidate.shelf for candidate in found][:2] == ["user_preference", "user_preference"]
