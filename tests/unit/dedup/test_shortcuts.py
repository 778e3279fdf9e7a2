"""What is quick proposes and decides what the plain way does: comparing every text with every other, word by word."""

import json
from collections import Counter
from itertools import combinations, product
from math import log
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from strata.dedup import Profiles, Proposal, Signal, Thresholds, normalise, propose
from strata.dedup.bitsets import Shared, positions
from strata.dedup.characters import CharacterIndex
from strata.dedup.explanations import difference
from strata.dedup.guard import UNPROVEN, decide, may_contradict
from strata.dedup.holders import other_holder
from strata.dedup.opposition import clash, may_clash
from strata.dedup.oppositions import oppositions
from strata.dedup.reading import read
from strata.dedup.sameness import extends, same_reading
from strata.dedup.shelf import Shelf
from strata.dedup.topics import topic_of
from strata.dedup.values import other_value

DATA = Path(__file__).parents[2] / "data"
THRESHOLDS = Thresholds()
LIMIT = 5


def pairs(name: str) -> list[tuple[str, str]]:
    return [(pair["old"], pair["new"]) for pair in json.loads((DATA / name).read_text(encoding="utf-8"))]


def labelled() -> list[str]:
    return [text for pair in pairs("dedup_pairs.json") for text in pair]


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


def contradicts(old: str, new: str) -> bool:
    """By the slow way: every clause against every other."""
    return any(clash(one, other) for one, other in product(read(old).clauses, read(new).clauses))


def repeats(old: str, new: str) -> bool:
    one, other = read(old), read(new)
    return same_reading(one, other) or extends(one, other) or extends(other, one)


@pytest.mark.parametrize("name", ["dedup_pairs.json", "dedup_pairs_own.json", "dedup_pairs_free.json"])
def test_no_labelled_pair_is_passed_over_by_what_its_clauses_hold_together(name: str) -> None:
    found = [pair for pair in pairs(name) if contradicts(*pair)]
    assert found
    assert [pair for pair in found if not may_contradict(read(pair[0]), read(pair[1]))] == []


def test_no_two_labelled_texts_are_passed_over_by_what_their_clauses_hold_together() -> None:
    readings = [read(text) for text in labelled()]
    passed_over = [(one, other) for one, other in combinations(readings, 2) if not may_contradict(one, other)]
    assert len(passed_over) > len(readings)
    for one, other in passed_over:
        found = [clash(ours, theirs) for ours, theirs in product(one.clauses, other.clauses)]
        assert not any(found), (one.text, other.text)


@settings(max_examples=300)
@given(st.sampled_from(labelled()) | MADE_UP, st.sampled_from(labelled()) | MADE_UP)
def test_what_is_decided_unproven_is_so_by_the_slow_way(old: str, new: str) -> None:
    is_unproven = normalise(old) != normalise(new) and not contradicts(old, new) and not repeats(old, new)
    assert (decide(old, new) is UNPROVEN) is is_unproven


BITS = st.sets(st.integers(0, 200), max_size=60)


@given(st.lists(BITS, max_size=20))
def test_positions_are_counted_as_one_by_one(sets: list[set[int]]) -> None:
    shared = Shared([sum(1 << place for place in each) for each in sets])
    counts = Counter(place for each in sets for place in each)
    assert shared.most == max(counts.values(), default=0)
    for count in range(1, len(sets) + 2):
        assert list(positions(shared.at_least(count))) == sorted(place for place in counts if counts[place] >= count)
        assert set(positions(shared.exactly(count))) == {place for place in counts if counts[place] == count}


@given(st.lists(MADE_UP.map(normalise), max_size=30), MADE_UP.map(normalise), st.data())
def test_only_what_is_known_is_left_out(texts: list[str], text: str, data: st.DataObject) -> None:
    index = CharacterIndex(texts)
    known = set(data.draw(st.lists(st.integers(0, max(0, len(texts) - 1)))))
    near = index.near(text, THRESHOLDS.characters, len(texts) + 1)
    others = index.near(text, THRESHOLDS.characters, len(texts) + 1, known)
    assert others == near or (not others and {place for place, _ in near} <= known)
    edited = set(index.few_edits_away(text, THRESHOLDS.edits, THRESHOLDS.short))
    assert set(index.few_edits_away(text, THRESHOLDS.edits, THRESHOLDS.short, known)) == edited - known


def test_a_kept_clause_is_one_object_wherever_it_stands() -> None:
    """What is kept of thousands of texts is looked through by the collector whenever much is new."""
    one, other = read("用户喜欢绿茶，第1次"), read("用户喜欢绿茶，第2次")
    assert one.clauses[0] is other.clauses[0]
    assert one.clauses[1].limits is other.clauses[1].limits is one.clauses[0].limits


def test_a_clause_without_people_or_condition_of_its_own_takes_those_in_front() -> None:
    """The same words, read behind others: what is kept is kept for what stood in front, too."""
    alone, behind, supposed = read("不能久站"), read("妈妈膝盖不好，不能久站"), read("如果妈妈膝盖不好，不能久站")
    assert alone.clauses[-1].people != behind.clauses[-1].people == {"MOTHER"}
    assert not behind.clauses[-1].moods
    assert supposed.clauses[-1].moods == {"IF"}


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
