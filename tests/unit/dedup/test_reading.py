"""Texts read into clauses."""

import pytest

from strata.dedup.lemma import lemma
from strata.dedup.numerals import chinese_number, spell_out_numbers
from strata.dedup.reading import read
from strata.dedup.segment import tokens


@pytest.mark.parametrize(
    ("text", "negatives"),
    [
        pytest.param("孩子吃鱼不吃肉", [False, True], id="a second verb is denied alone"),
        pytest.param("用户吃海鲜不会过敏", [False], id="a verdict belongs to what stands before it"),
        pytest.param("用户过敏不能吃花生", [True, True], id="two that do not cancel"),
        pytest.param("用户不讨厌香菜", [False], id="two that cancel"),
        pytest.param("User doesn't drink or smoke", [True, True], id="both verbs are denied"),
        pytest.param("Mom has bad knees and can't stand for long", [True, True], id="a clause each"),
        pytest.param("User drinks coffee without sugar", [False, True], id="without denies the sugar"),
        pytest.param("用户不抽烟不喝酒", [True, True], id="two denied verbs"),
        pytest.param("User likes to not hurry", [True], id="a negation inside"),
    ],
)
def test_negations_belong_to_their_clause(text: str, negatives: list[bool]) -> None:
    assert [clause.negative for clause in read(text).clauses] == negatives


@pytest.mark.parametrize(
    ("text", "moods"),
    [
        pytest.param("用户能吃花生吗", {"QUESTION"}, id="particle"),
        pytest.param("Is Dad allergic to nuts", {"QUESTION"}, id="word order"),
        pytest.param("用户打算买车", {"PLAN"}, id="plan"),
        pytest.param("妈妈说用户不吃香菜", {"HEARSAY"}, id="somebody said"),
        pytest.param("用户会说法语", set(), id="speaking a language is no hearsay"),
        pytest.param("User lived in Paris", {"PAST"}, id="past tense of a state"),
        pytest.param("User agreed to share the location", set(), id="past tense of a deed"),
        pytest.param("用户表示不吃香菜", set(), id="the user's own words"),
    ],
)
def test_moods(text: str, moods: set[str]) -> None:
    assert set(read(text).clauses[0].moods) == moods


def test_what_follows_a_condition_stands_under_it() -> None:
    fact, condition, consequence = read("用户对海鲜过敏，如果误食，要打急救电话").clauses
    assert [set(clause.moods) for clause in (fact, condition, consequence)] == [set(), {"IF"}, {"IF"}]


def test_a_clause_without_people_is_about_those_before_it() -> None:
    assert [clause.people for clause in read("妈妈膝盖不好，不能久站").clauses] == [{"MOTHER"}, {"MOTHER"}]


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        pytest.param("孩子晚上9点睡觉", "@clock=1260", id="hour and part of the day"),
        pytest.param("bed at 9 pm", "@clock=1260", id="pm"),
        pytest.param("9点半开会", "@clock12=570", id="an hour that may be either"),
        pytest.param("身高一米七五", "@length=175", id="height"),
        pytest.param("1.5小时", "@minutes=90", id="hours are minutes"),
        pytest.param("三斤苹果", "@weight=1500", id="catties are grams"),
        pytest.param("每周三晚上", "@weekday=3", id="weekday"),
        pytest.param("每周三次", "@times=3", id="three times a week is no Wednesday"),
        pytest.param("会议室302", "#302", id="a number that names"),
        pytest.param("血压150", "@n=150", id="a number that measures"),
        pytest.param("三年级", "@grade=3", id="grade"),
        pytest.param("$3,000", "@usd=3000", id="money"),
        pytest.param("熬不了夜", "LATE_SLEEP", id="verb and object apart"),
        pytest.param("听不清", "hearing", id="potential complement"),
    ],
)
def test_tokens(text: str, concepts: str) -> None:
    from strata.dedup.fingerprint import canonical

    said = {token.concept for clause in read(text).clauses for token in clause.tokens}
    assert concepts in said | {token.concept for token in tokens(canonical(text))}


@pytest.mark.parametrize(
    ("numeral", "value"),
    [
        ("九", 9),
        ("十", 10),
        ("十二", 12),
        ("二十", 20),
        ("一百零五", 105),
        ("一万五", 15_000),
        ("三百五", 350),
        ("二〇二五", 2025),
        ("一亿二千万", 120_000_000),
    ],
)
def test_chinese_numbers(numeral: str, value: int) -> None:
    assert chinese_number(numeral) == value


@pytest.mark.parametrize("text", ["三文鱼", "四川", "万一下雨", "一点辣都不能吃", "十分喜欢", "second hand"])
def test_words_with_a_numeral_in_them_stay_words(text: str) -> None:
    assert spell_out_numbers(text) == text


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("hikes", "hike"),
        ("hiking", "hike"),
        ("hopping", "hop"),
        ("hoping", "hope"),
        ("movies", "movie"),
        ("went", "go"),
        ("glasses", "glasses"),
        ("children", "child"),
        ("news", "news"),
        ("practises", "practise"),
        ("is", "be"),
        ("bus", "bus"),
    ],
)
def test_dictionary_forms(word: str, base: str) -> None:
    assert lemma(word) == base
