"""Calibrated candidates, with numpy and without."""

import pytest

from strata.model.context import SearchMode
from strata.ranking import ranked as room
from strata.ranking import shelf as shelves
from strata.ranking.mix import EPISODES
from strata.ranking.shelf import Shelf
from tests.unit.ranking.shelves import entry, names, search, shelf_of, texts

MEMORIES = (
    "用户对花生过敏",
    "用户喜欢喝绿茶",
    "User prefers window seats on trains",
    "番茄价格三块五一斤",
    "The family has an orange cat called Rex",
)


@pytest.fixture(params=["numpy", "plain"])
def memories(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A shelf as it is with numpy, and as it is on a machine that has none."""
    if request.param == "plain":
        monkeypatch.setattr(shelves, "numpy_is_there", lambda: False)
        monkeypatch.setattr(room, "numpy_is_there", lambda: False)
    return texts(*MEMORIES)


@pytest.mark.parametrize("number", range(len(MEMORIES)))
def test_the_same_text_scores_one(memories: Shelf, number: int) -> None:
    best = search(memories, MEMORIES[number])[0]
    assert (best.memory_id, best.signals) == (f"m{number}", ("keyword",))
    assert best.score > 0.95


@pytest.mark.parametrize("question", ["怎么修自行车", "how do I fix a flat tyre", "明天天气怎么样"])
def test_the_unrelated_score_below_the_threshold(memories: Shelf, question: str) -> None:
    assert all(one.score < 0.3 for one in search(memories, question))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("绿茶", "m1"),
        ("window seat", "m2"),
        ("花生能吃吗", "m0"),
        ("我們買番茄吧", "m3"),
        ("what is the cat's name", "m4"),
    ],
)
def test_words_find_their_memory(memories: Shelf, question: str, expected: str) -> None:
    assert names(search(memories, question))[0] == expected


def test_a_long_message_that_names_a_short_memory_in_passing_finds_it(memories: Shelf) -> None:
    message = (
        "Tomorrow we leave early and I still have to pack, so tell me again which window seats on trains user prefers"
    )
    found = search(memories, message)[0]
    assert found.memory_id == "m2"
    assert found.score >= 0.3


def test_limit_and_emptiness(memories: Shelf) -> None:
    assert len(search(memories, "用户 user", limit=2)) == 2
    assert search([], "tea") == []
    assert search(Shelf("empty"), "tea") == []
    assert all(one.score == 0.0 for one in search(memories, ""))


def test_tags_expiry_and_readers_hold_without_numpy_too(memories: Shelf) -> None:
    memories.put(entry("tagged", "绿茶", tags=frozenset({("a", "b")}), expires=50.0, readers=frozenset({"me"})))
    tags = frozenset({("a", "b")})
    assert names(search(memories, "绿茶", tags=tags, reader="me", now=49.0)) == ["tagged"]
    assert names(search(memories, "绿茶", tags=tags, reader="you", now=49.0)) == []
    assert names(search(memories, "绿茶", tags=tags, reader="me", now=50.0)) == []


def test_scores_never_rise_along_the_list(memories: Shelf) -> None:
    for mode in SearchMode:
        scores = [one.score for one in search(memories, "用户喜欢 window cat", mode=mode)]
        assert scores == sorted(scores, reverse=True)


def test_turns_are_ranked_by_their_own_rules() -> None:
    shelf = shelf_of(
        [
            entry("t1", "user: the otter?", session_id="s", seq=1, dated=True),
            entry("t2", "assistant: yes", session_id="s", seq=2, previous_seq=1, dated=True),
            entry("t3", "user: soup", session_id="x", seq=1, dated=True),
        ],
        label="episode",
    )
    assert set(names(search(shelf, "otter", mix=EPISODES))[:2]) == {"t1", "t2"}
    assert names(search(shelf, "march", mix=EPISODES))[0] in {"t1", "t2", "t3"}
