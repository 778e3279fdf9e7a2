"""The catalogue: enough of it, no name twice, and what a text names is found."""

import pytest

from strata.evaluation.catalogue import LANGUAGES, MAIN, SIDE, Catalogue, catalogue


@pytest.fixture(scope="module")
def foods() -> Catalogue:
    return catalogue()


def test_it_offers_a_choice(foods: Catalogue) -> None:
    assert len(foods.dishes) >= 150
    assert sum("beef" in dish.ingredients for dish in foods.courses(MAIN)) >= 50
    assert len(foods.courses(SIDE)) >= 40


def test_every_ingredient_of_a_dish_is_known(foods: Catalogue) -> None:
    used = {item for dish in foods.dishes.values() for item in dish.ingredients}
    assert used - foods.ingredients.keys() == set()


def test_every_member_of_a_group_is_known(foods: Catalogue) -> None:
    members = {member for item in foods.ingredients.values() for member in item.members}
    assert members - foods.ingredients.keys() == set()


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_dishes_share_a_name(foods: Catalogue, language: str) -> None:
    names = [name for dish in foods.dishes.values() for name in dish.names[language]]
    assert len(names) == len(set(names))
    assert all(names)


def test_every_dish_is_found_by_each_of_its_names(foods: Catalogue) -> None:
    lost = [
        name
        for dish in foods.dishes.values()
        for language in LANGUAGES
        for name in dish.names[language]
        if foods.dishes_in(name.upper()) != [dish.id]
    ]
    assert lost == []


def test_every_word_stands_for_its_ingredient(foods: Catalogue) -> None:
    lost = [
        word
        for item in foods.ingredients.values()
        for language in LANGUAGES
        for word in item.words[language]
        if not item.members <= foods.foods_in(f"({word})")
    ]
    assert lost == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("胡萝卜", {"carrot"}),
        ("白萝卜和胡萝卜", {"carrot", "radish"}),
        ("奶奶来了", set()),
        ("peanut butter, no butter beside", {"peanut", "butter"}),
        ("corned beef", {"beef"}),
        ("popcorn", set()),
        ("no seafood", {"shrimp", "crab", "clam", "oyster_sauce", "fish", "anchovy"}),
        ("the tomato beef stew was good", set()),
    ],
)
def test_words_are_whole_and_the_longest_is_meant(foods: Catalogue, text: str, found: set[str]) -> None:
    assert foods.foods_in(text) == found


def test_dishes_come_in_the_order_of_the_text(foods: Catalogue) -> None:
    assert foods.dishes_in("先做红烧牛腩，再做番茄牛腩，还是红烧牛腩") == ["red-braised brisket", "tomato beef stew"]
