"""An item's fields are found under whatever name and read in whatever shape."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.consolidation.fields import RANGES, Item, tidy
from strata.model.memories import Category, Scope

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "raw",
    [
        "User drives a blue van",
        {"fact": "User drives a blue van"},
        {"Content": " “User drives a blue van” "},
        {"User drives a blue van": "preference"},
        {"text": "- User drives\na blue van"},
        {"内容": "User drives a blue van\x00"},
        {"content": None, "memory": "User drives a blue van"},
    ],
)
def test_the_sentence_is_found(raw: Mapping[str, object] | str) -> None:
    assert Item(raw).content == "User drives a blue van"


@pytest.mark.parametrize("raw", [{}, {"content": ""}, {"content": 42}, {"category": "decision"}, {"x": ["a"]}, ""])
def test_without_a_sentence_there_is_none(raw: Mapping[str, object] | str) -> None:
    assert Item(raw).content == ""


@pytest.mark.parametrize(
    ("raw", "category"),
    [
        ({"category": "identity_safety"}, Category.SAFETY),
        ({"category": "Allergy"}, Category.SAFETY),
        ({"category": "健康"}, Category.SAFETY),
        ({"分类": "偏好"}, Category.PREFERENCE),
        ({"type": "rejection_reason"}, Category.DECISION),
        ({"kind": "task experience"}, Category.COLLABORATION),
        ({"category": "temporary constraint"}, Category.TEMPORARY),
        ({"category": "?", "type": "shopping_list"}, Category.TEMPORARY),
        ({"category": ["x"]}, Category.PREFERENCE),
        ({"I am vegan": "preference"}, Category.PREFERENCE),
    ],
)
def test_the_category_is_understood(raw: dict[str, object], category: Category) -> None:
    assert Item(raw).category is category


@pytest.mark.parametrize(
    ("said", "importance"),
    [
        (9, 9),
        ("9", 9),
        ("8/10", 8),
        (10.0, 9),
        (3, 6),
        (2, 2),
        (0, 0),
        (0.8, 8),
        (95, 7),
        (None, 7),
        ("high", 7),
        (True, 7),
    ],
)
def test_importance_keeps_to_the_range_of_its_category(said: object, importance: int) -> None:
    assert Item({"category": "preference_taboo", "importance": said}).importance == importance


@given(st.sampled_from(Category), st.integers(3, 10))
def test_every_importance_worth_keeping_is_in_range(category: Category, said: int) -> None:
    lowest, highest = RANGES[category]
    assert lowest <= Item({"category": category.value, "importance": said}).importance <= highest


@pytest.mark.parametrize(
    ("raw", "scope"),
    [
        ({"category": "preference_taboo", "scope": "agent"}, Scope.USER),
        ({"category": "collaboration_experience"}, Scope.AGENT),
        ({"category": "collaboration_experience", "scope": "user"}, Scope.USER),
        ({"category": "decision"}, Scope.USER),
    ],
)
def test_only_experience_is_the_agents(raw: dict[str, object], scope: Scope) -> None:
    assert Item(raw).scope is scope


@pytest.mark.parametrize(
    ("said", "seqs"),
    [
        ([12, 14], (12, 14)),
        ("#12, #14", (12, 14)),
        (12, (12,)),
        ([{"seq": 12}, "14", 12], (12, 14)),
        (None, ()),
        (True, ()),
    ],
)
def test_sources_are_numbers_of_messages(said: object, seqs: tuple[int, ...]) -> None:
    assert Item({"messages": said}).messages == seqs


@pytest.mark.parametrize(
    ("raw", "seconds"),
    [
        ({"ttl_days": 3}, 259_200),
        ({"ttl_days": "3 days"}, 259_200),
        ({"ttl": 60}, 60),
        ({"ttl_days": 0}, None),
        ({}, None),
    ],
)
def test_a_life_is_in_seconds(raw: dict[str, object], seconds: int | None) -> None:
    assert Item(raw).ttl_seconds == seconds


def test_an_operation_on_what_was_never_offered_adds_nothing() -> None:
    assert [Item({"op": op, "id": "12"}).adds for op in ("ADD", "DELETE", "UPDATE", "")] == [True, False, False, True]
    assert Item({"op": "DELETE", "id": "b7c0-made-up"}).target == "b7c0-made-up"


@given(JSON)
def test_any_item_can_be_read(raw: object) -> None:
    for item in (
        Item({"content": "x", "importance": raw, "messages": raw, "category": raw, "ttl_days": raw, "scope": raw}),
    ):
        assert item.content == "x"
        assert item.category in set(Category)
        assert item.scope in set(Scope)
        assert 0 <= item.importance <= 10
        assert all(isinstance(seq, int) for seq in item.messages)
        assert item.ttl_seconds is None or item.ttl_seconds > 0


@given(st.text(max_size=60))
def test_a_tidy_sentence_is_one_storable_line_and_stays_tidy(text: str) -> None:
    clean = tidy(text)
    assert tidy(clean) == clean
    assert "\n" not in clean
    assert "\x00" not in clean
    clean.encode()
