"""What two spellings of one text have in common, in English and Chinese."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.ranking.tokens import fold, is_dense, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("用户喜欢喝绿茶", "用户\u200b喜欢喝绿茶"),
        ("用户喜欢喝绿茶", "\ufeff用户喜欢喝\u2060绿茶"),
        ("我對花生過敏，不吃雞蛋", "我对花生过敏，不吃鸡蛋"),
        ("会议室Ａ３０２", "会议室a302"),
        ("Café", "cafe"),
        ("STRASSE", "straße"),
        ("①②", "12"),
    ],
)
def test_spellings_that_mean_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)
    assert terms(one) == terms(other)


def test_english_loses_stop_words_and_endings() -> None:
    assert list(terms("She is running to the allergies' doctors, isn't she?")) == ["run", "allergi", "doctor"]
    assert list(terms("Caroline's and I'm don't")) == ["carolin"]


def test_chinese_becomes_characters_and_bigrams() -> None:
    assert list(terms("不吃香菜")) == ["不", "吃", "香", "菜", "不吃", "吃香", "香菜"]
    assert list(terms("我的")) == []
    assert "我喜" in terms("我喜欢")


def test_words_numbers_and_chinese_stand_side_by_side() -> None:
    assert list(terms("买2,000克rice，3.5kg茶")) == ["买", "2000", "克", "rice", "3.5", "kg", "茶"]
    assert list(terms("user_name")) == ["user", "name"]


def test_japanese_and_korean_are_searched_like_chinese() -> None:
    assert "한국" in terms("한국어를")
    assert "すし" in terms("すしが好き")


def test_persian_words_survive_their_joiner() -> None:
    assert len(terms("می‌خواهم")) == 1


@pytest.mark.parametrize(
    ("text", "dense"),
    [
        ("用户不吃香菜", True),
        ("User is allergic", False),
        ("用户喜欢 iPhone", True),
        ("", False),
        ("OK 好 thanks a lot", False),
    ],
)
def test_which_script_a_text_is_in(text: str, dense: bool) -> None:
    assert is_dense(text) is dense


@given(st.text())
def test_any_text_can_be_folded_and_once_is_enough(text: str) -> None:
    folded = fold(text)
    assert fold(folded) == folded
    assert all(term == term.strip() != "" for term in terms(text))


@given(st.text(alphabet="不吃香菜abc 喜欢", max_size=30))
def test_invisible_characters_change_nothing(text: str) -> None:
    assert terms("\u200b".join(text)) == terms(text)
