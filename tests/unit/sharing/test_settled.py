"""Hits in order among themselves."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from strata.model.memories import Hit
from strata.ranking.tokens import terms
from strata.sharing.settled import CLOSE_LOOKS, ReadHit, settled
from tests.unit.context.memories import NOW, memory


def read(content: str, score: float = 0.9, *, name: str = "", days_ago: int = 3, **fields: Any) -> ReadHit:
    one = replace(memory(content, name=name), said_at=NOW - timedelta(days=days_ago), **fields)
    return ReadHit(Hit(memory=one, score=score, signals=("keyword",)), frozenset(terms(content)))


def contents(hits: list[ReadHit]) -> list[str]:
    return [one.hit.memory.content for one in hits]


@pytest.mark.parametrize("again", ["用户不吃香菜", "用户不吃香菜。", "用户 不吃香菜"])
def test_a_restatement_is_taken_up_by_the_better_hit(again: str) -> None:
    other = replace(
        read(again, 0.5, name="again"), hit=replace(read(again, 0.5, name="again").hit, signals=("semantic",))
    )
    (kept,) = settled([read("用户不吃香菜"), other])
    assert kept.hit.memory.content == "用户不吃香菜"
    assert kept.hit.signals == ("keyword", "semantic")


def test_what_only_looks_alike_stays() -> None:
    assert len(settled([read("用户不吃香菜"), read("用户不吃芹菜")])) == 2


def test_turns_of_conversations_are_left_as_they_are() -> None:
    turns = [read("user: 好的", name=f"t{number}", memory_type="episode") for number in range(3)]
    assert settled(turns) == turns
    assert len(settled([read("user: 好的"), *turns])) == 4


def test_the_same_words_about_somebody_else_stay() -> None:
    assert len(settled([read("对花生过敏", user_id="ann"), read("对花生过敏", name="b", user_id="bob")])) == 2


def test_a_newer_contradiction_goes_in_front_and_takes_the_score() -> None:
    old, new = read("用户喜欢吃香菜", 0.9, days_ago=30), read("用户不喜欢吃香菜", 0.6, days_ago=1)
    kept = settled([read("用户喜欢喝绿茶", 0.95), old, new])
    assert contents(kept) == ["用户喜欢喝绿茶", "用户不喜欢吃香菜", "用户喜欢吃香菜"]
    assert [one.hit.score for one in kept] == [0.95, 0.9, 0.9]
    assert contents(settled([new, old])) == ["用户不喜欢吃香菜", "用户喜欢吃香菜"]


def test_what_is_superseded_and_still_shown_stands_behind_its_successor() -> None:
    old = read("用户对花生过敏", 0.9, name="old", superseded_by="new")
    new = read("医生说现在可以吃坚果", 0.5, name="new")
    kept = settled([old, read("用户喜欢喝绿茶", 0.7), new])
    assert [one.hit.memory.memory_id for one in kept][-2:] == ["new", "old"]
    scores = [one.hit.score for one in kept]
    assert scores == sorted(scores, reverse=True)


def test_close_looks_are_bounded() -> None:
    alike = [read(f"用户不吃香菜和葱花第{number}种做法", name=f"m{number}") for number in range(CLOSE_LOOKS * 4)]
    assert len(settled(alike)) >= len(alike) - CLOSE_LOOKS
    assert settled([]) == []
