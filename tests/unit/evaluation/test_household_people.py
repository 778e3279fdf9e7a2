"""Households: reproducible, possible to cook for, and told in their own words."""

import json
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata.evaluation.catalogue import LANGUAGES, catalogue
from strata.evaluation.household_people import LEAST_CHOICE, Household, Kind, households, wording

SEEDS = st.integers(0, 10_000)
JUDGED = Path(__file__).resolve().parents[2] / "data" / "judged_sentences.jsonl"


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_a_seed_makes_the_same_households(seed: int) -> None:
    assert households(seed, 4) == households(seed, 4)


def test_another_seed_makes_others() -> None:
    assert not {home.facts for home in households(1, 20)} & {home.facts for home in households(2, 20)}


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_every_household_can_be_cooked_for(seed: int) -> None:
    for home in households(seed, 4):
        assert len(home.choice(catalogue())) >= LEAST_CHOICE
        liked = [catalogue().dishes[key] for key in home.keys(Kind.ACCEPTED)]
        assert liked
        assert all(home.is_safe(dish, catalogue()) and home.suits(dish) for dish in liked)


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_every_fact_is_told_once_by_the_user(seed: int) -> None:
    for home in households(seed, 4):
        said = [text for role, text in chain.from_iterable(home.talks) if role == "user"]
        assert {kind: sum(fact.kind is kind for fact in home.facts) > 0 for kind in Kind} == dict.fromkeys(Kind, True)
        assert [sum(fact.text in text for text in said) for fact in home.facts] == [1] * len(home.facts)
        assert not any("{" in text for _, text in chain.from_iterable(home.talks))


def test_both_languages_have_their_share() -> None:
    assert [home.language for home in households(3, 6)] == ["zh", "en"] * 3


def test_roundabout_sentences_are_at_least_as_many_as_plain_ones() -> None:
    for language in LANGUAGES:
        for kind in ("allergy", "taboo"):
            ways = wording(language)[kind]
            assert len(ways["roundabout"]) >= len(ways["plain"]) >= 4


@pytest.fixture(scope="module")
def many() -> list[Household]:
    return [home for seed in range(10) for home in households(seed, 20)]


def test_no_sentence_is_one_the_rule_judge_was_written_with(many: list[Household]) -> None:
    rows = map(json.loads, JUDGED.read_text(encoding="utf-8").splitlines())
    known = {text for row in rows for _, text in row.get("turns") or [("user", row["text"])]}
    assert {fact.text for home in many for fact in home.facts} & known == set()
