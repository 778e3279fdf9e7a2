"""The catalogue the household's agents cook from: dishes, what is in them, and how people name both.

Two files of plain lines (``data/ingredients.txt``, ``data/dishes.txt``). Chinese names are found anywhere in a text,
English ones as whole words; of names that overlap the longest is meant.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

LANGUAGES = ("zh", "en")
MAIN, SIDE = "main", "side"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingredient:
    """What a dish is made of, or a group of such things (``SHELLFISH``)."""

    name: str
    words: Mapping[str, tuple[str, ...]]
    """By language, the usual word first."""
    members: frozenset[str]
    """What is meant by it: itself, or a group's members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dish:
    """One dish."""

    names: Mapping[str, tuple[str, ...]]
    """By language, the usual name first."""
    course: str
    method: str
    minutes: int
    tastes: frozenset[str]
    ingredients: tuple[str, ...]

    @property
    def id(self) -> str:
        """Its usual English name."""
        return self.names["en"][0]

    def has_any(self, names: Iterable[str]) -> bool:
        """Tell whether any of these ingredients is in it."""
        return not frozenset(self.ingredients).isdisjoint(names)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All dishes and ingredients, and the search for their names in a text."""

    ingredients: Mapping[str, Ingredient]
    dishes: Mapping[str, Dish]
    _dish_pattern: re.Pattern[str] = field(init=False, repr=False)
    _food_pattern: re.Pattern[str] = field(init=False, repr=False)
    _dish_of: dict[str, str] = field(init=False, repr=False)
    _food_of: dict[str, frozenset[str]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Prepare the search."""
        dish_of = {word: dish.id for dish in self.dishes.values() for word in _all(dish.names)}
        food_of: dict[str, frozenset[str]] = {}
        for item in self.ingredients.values():
            for word in _all(item.words):
                food_of[word] = food_of.get(word, frozenset()) | item.members
        for name, value in (("_dish_of", dish_of), ("_food_of", food_of)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_dish_pattern", _pattern(dish_of))
        object.__setattr__(self, "_food_pattern", _pattern(food_of))

    def dishes_in(self, text: str) -> list[str]:
        """Return the ids of the dishes a text names, in its order, each once."""
        return list(dict.fromkeys(self._dish_of[word] for word in _found(self._dish_pattern, text)))

    def foods_in(self, text: str) -> frozenset[str]:
        """Return the ingredients a text names beside its dishes; a group stands for all its members."""
        bare = self._dish_pattern.sub(" ", text.casefold())
        return frozenset[str]().union(*(self._food_of[word] for word in _found(self._food_pattern, bare)))

    def courses(self, course: str) -> list[Dish]:
        """Return the dishes of a course in the order of the file."""
        return [dish for dish in self.dishes.values() if dish.course == course]


@cache
def catalogue() -> Catalogue:
    """Return the shipped catalogue."""
    ingredients = {item.name: item for item in map(_ingredient, _rows("ingredients.txt"))}
    dishes = {dish.id: dish for dish in map(_dish, _rows("dishes.txt"))}
    return Catalogue(ingredients, dishes)


def _rows(name: str) -> Iterator[list[str]]:
    text = files("strata.evaluation").joinpath(f"data/{name}").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return ([cell.strip() for cell in line.split("|")] for line in lines)


def _ingredient(row: list[str]) -> Ingredient:
    name, chinese, english, *members = row
    words = {"zh": _split(chinese, ","), "en": _split(english, ",")}
    return Ingredient(name=name, words=words, members=frozenset(members[0].split() if members else (name,)))


def _dish(row: list[str]) -> Dish:
    chinese, english, course, method, minutes, tastes, ingredients = row
    return Dish(
        names={"zh": _split(chinese, "/"), "en": _split(english, "/")},
        course=course,
        method=method,
        minutes=int(minutes),
        tastes=frozenset(tastes.split()),
        ingredients=tuple(ingredients.split()),
    )


def _split(cell: str, mark: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split(mark))


def _all(names: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    return (word.casefold() for language in LANGUAGES for word in names[language])


def _found(pattern: re.Pattern[str], text: str) -> list[str]:
    return [match.group() for match in pattern.finditer(text.casefold())]


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(
        "|".join(rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word) for word in longest_first)
    )
