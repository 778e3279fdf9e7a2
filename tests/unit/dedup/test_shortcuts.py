"""What is quick proposes and decides what the plain way does: comparing every text with every other, word by word."""

import json
from collections import Counter
from itertools import product
from math import log
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from strata.dedup import Profiles, Proposal, Signal, Thresholds, normalise, propose
from strata.dedup.explanations import difference
from strata.dedup.holders import other_holder
from strata.dedup.opposition import may_clash
from strata.dedup.oppositions import oppositions
from strata.dedup.reading import read
from strata.dedup.shelf import Shelf
from strata.dedup.topics import topic_of
from strata.dedup.values import other_value

DATA = Path(__file__).parents[2] / "data"
THRESHOLDS = Thresholds()
LIMIT = 5


def labelled() -> list[str]:
    pairs = json.loads((DATA / "dedup_pairs.json").read_text(encoding="utf-8"))
    return [pair[side] for pair in pairs for side in ("old", "new")]


def plainly(new: str, stored: list[str]) -> list[Proposal]:
    """Every signal measured against every text."""
    text, others = normalise(new), [normalise(each) for each in stored]
    found = [*_same_and_contained(text, others), *_alike(text, others)]
    found += _of_one_topic(new, stored)
    order = list(Signal)
    best: dict[int, Proposal] = {}
    for each in sorted(found, key=lambda each: (order.index(each.signal), -each.score, each.place)):
        best.setdefault(each.place, each)
    return list(best.values())[:LIMIT] if text else []


def _of_one_topic(new: str, stored: list[str]) -> list[Proposal]:
    topics = [topic_of(text) for text in stored]
    counts = Counter(concept for topic in topics for concept in topic)

    def weight(concepts: frozenset[str]) -> float:
        return sum(log(1 + len(stored) / counts[each]) if counts[each] else log(1 + len(stored)) for each in concepts)

    ours = topic_of(new)
    total, found = weight(ours) or 1.0, []
    for index, topic in enumerate(topics):
        shared = [
            max(weight(frozenset({each})), THRESHOLDS.topic * total if each in oppositions().topics else 0.0)
            for each in ours & topic
        ]
        score = sum(shared) / min(total, weight(topic) or 1.0)
        if score >= THRESHOLDS.topic - 1e-9:
            found.append(Proposal(index, Signal.TOPIC, min(1.0, score)))
    return sorted(found, key=lambda each: (each.score, each.place), reverse=True)[:LIMIT]


def _same_and_contained(text: str, others: list[str]) -> list[Proposal]:
    found = []
    for index, other in enumerate(others):
        shorter, longer = sorted((text, other), key=len)
        if text == other:
            found.append(Proposal(index, Signal.EXACT, 1.0))
        elif len(shorter) > 2 and shorter in longer:
            found.append(Proposal(index, Signal.CONTAINS, len(shorter) / len(longer)))
    return found


def _alike(text: str, others: list[str]) -> list[Proposal]:
    found = []
    for index, other in enumerate(others):
        ours, theirs = set(text) - set(" ,?"), set(other) - set(" ,?")
        overlap = len(ours & theirs) / len(ours | theirs) if ours and theirs else 0.0
        edits = Levenshtein.normalized_similarity(text, other)
        if overlap >= THRESHOLDS.characters - 1e-9:
            found.append(Proposal(index, Signal.CHARACTERS, overlap))
        if max(len(text), len(other)) <= THRESHOLDS.short and other and edits >= THRESHOLDS.edits:
            found.append(Proposal(index, Signal.EDITS, edits))
    return found


MADE_UP = st.text(alphabet="用户喜欢不吃绿茶花生 abc1,", max_size=14)
TEXTS = st.lists(st.sampled_from(labelled()) | MADE_UP, max_size=30, unique_by=normalise)


@given(st.sampled_from(labelled()) | MADE_UP, TEXTS)
def test_the_index_proposes_what_comparing_all_texts_does(new: str, stored: list[str]) -> None:
    found = propose(new, stored, limit=LIMIT)
    expected = plainly(new, stored)
    assert [each.signal for each in found] == [each.signal for each in expected]
    assert [each.score for each in found] == pytest.approx([each.score for each in expected])


@given(st.lists(st.sampled_from(labelled()), min_size=2, max_size=2))
def test_what_is_fixed_on_one_side_always_makes_a_difference(texts: list[str]) -> None:
    for left, right in product(*(read(text).clauses for text in texts)):
        rest = difference(left, right)
        assert left.fixed - right.items <= rest.left
        assert right.fixed - left.items <= rest.right


@settings(max_examples=300)
@given(st.lists(st.sampled_from(labelled()), min_size=2, max_size=2))
def test_no_contradiction_is_passed_over(texts: list[str]) -> None:
    for left, right in product(*(read(text).clauses for text in texts)):
        if not may_clash(left, right) and left.negative == right.negative:
            rest = difference(left, right)
            assert other_value(left, right, rest) is None
            assert other_holder(left, right, rest) is None


def test_an_index_is_made_once_for_the_same_texts() -> None:
    shelf = Shelf()
    made = shelf.profiles(["用户喜欢绿茶", "User likes tea"])
    assert shelf.profiles(["用户喜欢绿茶", "User likes tea"]) is made
    assert shelf.profiles(["User likes tea", "用户喜欢绿茶"]) is not made


def test_only_so_many_texts_are_kept_and_those_used_last() -> None:
    shelf = Shelf(most_texts=5)
    first, second = shelf.profiles(["一", "二"]), shelf.profiles(["三", "四", "五"])
    assert shelf.profiles(["一", "二"]) is first
    shelf.profiles(["六"])
    assert shelf.profiles(["一", "二"]) is first
    assert shelf.profiles(["三", "四", "五"]) is not second


def test_a_collection_larger_than_the_shelf_is_kept_alone() -> None:
    shelf = Shelf(most_texts=1)
    made = shelf.profiles(["一", "二", "三"])
    assert shelf.profiles(["一", "二", "三"]) is made


@given(TEXTS, st.sampled_from(labelled()))
def test_a_kept_index_proposes_what_a_new_one_does(stored: list[str], new: str) -> None:
    shelf = Shelf()
    shelf.profiles(stored)
    assert propose(new, shelf.profiles(stored)) == propose(new, Profiles(stored))
