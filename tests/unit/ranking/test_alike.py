"""What is stored that is like a text about to be stored, with numpy and without."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.ranking import alike as room
from strata.ranking import ranked
from strata.ranking import shelf as shelves
from strata.ranking.alike import alike
from strata.ranking.calibration import similarity
from strata.ranking.query import prepared
from strata.ranking.ranked import Candidate
from strata.ranking.shelf import Shelf
from tests.unit.ranking.shelves import DIMENSIONS, background, entry, names, shelf_of, texts, vector

LEAST = 0.85
MEMORIES = ("用户对花生过敏", "用户喜欢喝绿茶", "User prefers window seats on trains", "The family has an orange cat")


def like(shelf: Shelf, text: str, *, least: float = LEAST, limit: int = 10, **query: object) -> list[Candidate]:
    asked = prepared(text, passage=True, **{"now": 0.0, **query})  # type: ignore[arg-type]
    return alike(shelf, asked, background, least=least, limit=limit)


@pytest.fixture(params=["numpy", "plain"])
def memories(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    if request.param == "plain":
        for module in (shelves, room, ranked):
            monkeypatch.setattr(module, "numpy_is_there", lambda: False)
    return texts(*MEMORIES)


@pytest.mark.parametrize("number", range(len(MEMORIES)))
def test_the_same_text_is_the_closest(memories: Shelf, number: int) -> None:
    best = like(memories, MEMORIES[number])[0]
    assert best.memory_id == f"m{number}"
    assert best.score > 0.95


def test_an_empty_shelf_holds_nothing_alike() -> None:
    assert like(texts(), "anything") == []


def test_a_text_without_words_is_like_nothing(memories: Shelf) -> None:
    assert [one for one in like(memories, "!?") if one.score >= LEAST] == []


def test_other_words_of_the_same_meaning_are_alike() -> None:
    shelf = shelf_of(
        [
            entry("near", "Lin avoids peanuts", vector=vector(1, 0.1, 0, 0)),
            entry("far", "Trains leave at nine", vector=vector(0, 0, 1, 0)),
        ],
        dimensions=DIMENSIONS,
    )
    assert names(like(shelf, "花生不能吃", vector=vector(1, 0, 0, 0))) == ["near"]


def test_what_may_not_be_seen_or_has_run_out_is_not_looked_at() -> None:
    shelf = shelf_of(
        [
            entry("open", "green tea"),
            entry("closed", "green tea", readers=frozenset({"nurse"})),
            entry("gone", "green tea", expires=5.0),
            entry("dropped", "green tea"),
        ]
    )
    shelf.drop("dropped")
    assert names(like(shelf, "green tea", reader="cook", now=5.0)) == ["open"]
    assert set(names(like(shelf, "green tea", reader="nurse", now=4.0))) == {"open", "closed", "gone"}


def test_the_closest_come_first_and_no_more_than_asked_for() -> None:
    shelf = texts(*(f"green tea with honey {'and milk ' * extra}" for extra in range(20)))
    found = like(shelf, "green tea with honey", limit=5)
    assert len(found) == 5
    assert found[0].memory_id == "m0"
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


VECTORS = st.lists(st.integers(-5, 5), min_size=DIMENSIONS, max_size=DIMENSIONS).filter(any)


@given(st.lists(VECTORS, min_size=1, max_size=12), VECTORS)
def test_what_is_close_enough_by_meaning_is_never_cut(stored: list[list[int]], asked: list[int]) -> None:
    shelf = shelf_of(
        [entry(f"m{number}", f"word{number}", vector=vector(*values)) for number, values in enumerate(stored)],
        dimensions=DIMENSIONS,
    )
    wanted = np.frombuffer(vector(*asked), dtype="<f4")
    close = {
        f"m{number}"
        for number, values in enumerate(stored)
        if similarity(float(np.frombuffer(vector(*values), dtype="<f4") @ wanted) / 0.1, passage=True) >= LEAST
    }
    assert close <= set(names(like(shelf, "something else", vector=vector(*asked), limit=20)))
