"""What the three agents decide: from what they have read, and from the catalogue. Deterministic; chance breaks ties."""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from strata.evaluation.catalogue import MAIN, SIDE, Catalogue, Dish
from strata.evaluation.household_people import WANTED
from strata.evaluation.household_reading import Reading

SOY = "soy_sauce"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shopping:
    """A list: a dish, a dish beside it, and what to buy for both."""

    side: Dish
    items: tuple[str, ...]
    side_items: tuple[str, ...]


def main_dish(reading: Reading, foods: Catalogue, chance: random.Random) -> Dish:
    """Pick a beef dish that nothing known speaks against and most of what is known speaks for."""
    beef = [dish for dish in foods.courses(MAIN) if "beef" in dish.ingredients]
    return _best(_allowed(beef, reading) or beef, reading, chance)


def shopping(dish: Dish, reading: Reading, foods: Catalogue, chance: random.Random) -> Shopping:
    """Pick a side dish, and list what may be bought."""
    sides = foods.courses(SIDE)
    side = _best(_allowed(sides, reading) or sides, reading, chance)
    return Shopping(side=side, items=_allowed_items(dish, reading), side_items=_allowed_items(side, reading))


def questions(reading: Reading, words: Any, *, tastes_too: bool) -> list[str]:  # noqa: ANN401 a table of sentences
    """Return what has to be asked before food is chosen: what nobody has told."""
    asked = [] if reading.forbidden else [words["any_taboo"]]
    knows_taste = reading.wanted or reading.unwanted or reading.accepted
    return [*asked, *([] if knows_taste or not tastes_too else [words["any_taste"]])]


def named(items: Collection[str], foods: Catalogue, language: str) -> list[str]:
    """Return ingredients in the words of a language, in a fixed order."""
    return [foods.ingredients[item].words[language][0] for item in sorted(items)]


def _allowed(dishes: Sequence[Dish], reading: Reading) -> list[Dish]:
    safe = [dish for dish in dishes if not dish.has_any(reading.forbidden) and dish.id not in reading.rejected]
    return [dish for dish in safe if not dish.tastes & reading.unwanted] or safe


def _best(dishes: Sequence[Dish], reading: Reading, chance: random.Random) -> Dish:
    wanted = {WANTED[taste] for taste in reading.wanted if taste in WANTED}
    scores = {dish.id: 2 * len(wanted & dish.tastes) + (dish.id in reading.accepted) for dish in dishes}
    best = max(scores.values())
    return chance.choice([dish for dish in dishes if scores[dish.id] == best])


def _allowed_items(dish: Dish, reading: Reading) -> tuple[str, ...]:
    return tuple(item for item in dish.ingredients if item not in reading.forbidden)
