"""What similarity proposes to look at."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.dedup import Profiles, Proposal, Signal, Thresholds, propose, propose_batch

STORED = [
    "用户对花生过敏，随身带肾上腺素笔",
    "User likes oolong tea",
    "用户住在武汉",
    "周末带孩子去爬山",
    "机器学习课程每周三晚上",
    "",
]


def found(new: str, stored: list[str], thresholds: Thresholds = Thresholds()) -> list[tuple[int, Signal]]:  # noqa: B008 (frozen)
    return [(proposal.place, proposal.signal) for proposal in propose(new, stored, thresholds=thresholds)]


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param("“user likes oolong tea.”", (1, Signal.EXACT), id="exact after normalising"),
        pytest.param("用户对花生过敏", (0, Signal.CONTAINS), id="contained in a stored text"),
        pytest.param("用户喜欢周末带孩子去爬山，也喜欢游泳", (3, Signal.CONTAINS), id="contains a stored text"),
        pytest.param("机器学习的课程是每周三晚上", (4, Signal.CHARACTERS), id="mostly the same characters"),
        pytest.param("User likes oolong teas", (1, Signal.CONTAINS), id="a letter more"),
        pytest.param("User likes oolong tae", (1, Signal.CHARACTERS), id="letters changed places"),
        pytest.param("用户已搬到厦门", (2, Signal.TOPIC), id="another home, not a character shared"),
    ],
)
def test_proposes(new: str, expected: tuple[int, Signal]) -> None:
    assert found(new, STORED)[0] == expected


def test_few_edits_are_proposed_where_characters_are_not_enough() -> None:
    only_edits = Thresholds(characters=1.0, topic=1.1)
    assert found("用户每天早上七点半起床跑步", ["用户每天早上八点半起床跑步"], thresholds=only_edits) == [
        (0, Signal.EDITS)
    ]


@pytest.mark.parametrize("new", ["机器学习课程", "wholly unrelated words", "用户", ""])
def test_texts_without_a_common_word_are_not_proposed(new: str) -> None:
    assert all(signal is Signal.CONTAINS for _, signal in found(new, ["周末爬山", "", "   ", "？"]))
    assert found(new, ["周末爬山", "", "   ", "？"]) == []


def test_two_chinese_texts_without_a_common_character_are_not_the_same() -> None:
    assert found("机器学习课程每周三晚上", ["周末带孩子去爬山"], thresholds=Thresholds(topic=1.1)) == []


def test_each_text_is_proposed_once_by_its_strongest_signal() -> None:
    assert found("用户对花生过敏", ["用户对花生过敏", "用户对花生过敏！"]) == [(0, Signal.EXACT), (1, Signal.EXACT)]


def test_at_most_the_limit_is_proposed() -> None:
    assert len(propose("用户喜欢喝绿茶", [f"用户喜欢喝绿茶{n}" for n in "一二三四五"], limit=3)) == 3


TEXTS = st.lists(st.text(alphabet="用户喜欢绿茶花生不 abctea,。", max_size=12), max_size=8)


@given(TEXTS, TEXTS)
def test_a_batch_proposes_what_one_by_one_does(new: list[str], stored: list[str]) -> None:
    assert propose_batch(new, stored) == [propose(text, stored) for text in new]
    assert propose_batch(new, Profiles(stored)) == propose_batch(new, stored)


@given(st.text(alphabet="用户喜欢绿茶花生abctea", min_size=1, max_size=12), TEXTS)
def test_character_overlap_is_the_jaccard_index(new: str, stored: list[str]) -> None:
    thresholds = Thresholds(edits=1.0, topic=1.1)
    for proposal in propose(new, stored, thresholds=thresholds, limit=100):
        if proposal.signal is Signal.CHARACTERS:
            one, other = (
                set(Profiles([text], topics=False).texts[0]) - set(" ,?") for text in (new, stored[proposal.place])
            )
            assert proposal.score == pytest.approx(len(one & other) / len(one | other))
            assert proposal.score >= 0.7 - 1e-9


def test_a_proposal_says_where_by_what_and_how_much() -> None:
    assert propose("abc", ["abc"]) == [Proposal(place=0, signal=Signal.EXACT, score=1.0)]


def test_a_text_is_contained_only_whole() -> None:
    """*red tea* at the end of a longer text is not *red tea with lemon*, and its score is its share."""
    proposed = propose("mother drinks red tea", ["red tea with lemon", "red tea"])
    contained = {each.place: each.score for each in proposed if each.signal is Signal.CONTAINS}
    assert contained == pytest.approx({1: len("red tea") / len("mother drinks red tea")})


@given(
    st.permutations(["用户喜欢绿茶", "用户爱喝绿茶", "用户讨厌绿茶", "用户住在武汉", "用户养了一只猫", "妈妈喜欢绿茶"])
)
def test_what_is_about_as_much_is_as_near_wherever_it_stands(stored: list[str]) -> None:
    only_topics = Thresholds(characters=1.0, edits=1.0)
    scores = {stored[each.place]: each.score for each in propose("用户常买绿茶和面包", stored, thresholds=only_topics)}
    assert scores["用户喜欢绿茶"] == scores["用户讨厌绿茶"] == scores["妈妈喜欢绿茶"]
