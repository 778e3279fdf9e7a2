"""Households made from a seed: who lives there, what must not be on the table, what they like, and how they say so."""

import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from strata.evaluation.catalogue import MAIN, Catalogue, Dish, catalogue

ALLERGENS = (
    "peanut",
    "sesame",
    "shrimp",
    "crab",
    "egg",
    "milk",
    "celery",
    "tomato",
    "cashew",
    "mushroom",
    "SHELLFISH",
    "pineapple",
)
TABOOS = ("coriander", "celery", "onion", "bell_pepper", "tofu", "offal", "lamb", "pork", "wine", "carrot", "ginger",
          "potato", "bitter_melon", "eggplant", "mushroom", "garlic")  # fmt: skip
WANTED = {"spicy": "spicy", "sour": "sour", "sweet": "sweet", "light": "light", "soft": "soft"}
"""Taste → the tag a dish should have; ``not_spicy`` is the one that forbids."""
TASTES = (*WANTED, "not_spicy")
LEAST_CHOICE = 4
"""Beef dishes a household must be able to eat; otherwise it is made anew."""
PLAIN_SHARE = 0.5


class Kind(StrEnum):
    """What a fact is about."""

    ALLERGY = "allergy"
    TABOO = "taboo"
    TASTE = "taste"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something true of a household, and the words in which it was told."""

    kind: Kind
    key: str
    """An ingredient, a taste, or a dish."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Household:
    """One household."""

    id: str
    language: str
    facts: tuple[Fact, ...]
    talks: tuple[tuple[tuple[str, str], ...], ...]
    """Earlier conversations: messages as (role, content); all facts are told in them, between other things."""

    def keys(self, *kinds: Kind) -> list[str]:
        """Return what the facts of these kinds are about."""
        return [fact.key for fact in self.facts if fact.kind in kinds]

    def forbidden(self, foods: Catalogue) -> frozenset[str]:
        """Return every ingredient somebody must not or will not eat."""
        named = self.keys(Kind.ALLERGY, Kind.TABOO)
        return frozenset[str]().union(*(foods.ingredients[name].members for name in named))

    def suits(self, dish: Dish) -> bool:
        """Tell whether a dish has every taste they want and none they cannot take."""
        tastes = self.keys(Kind.TASTE)
        return all(WANTED[taste] in dish.tastes if taste in WANTED else "spicy" not in dish.tastes for taste in tastes)

    def is_safe(self, dish: Dish, foods: Catalogue) -> bool:
        """Tell whether everybody can eat it."""
        return not dish.has_any(self.forbidden(foods))

    def choice(self, foods: Catalogue) -> list[Dish]:
        """Return the beef dishes that everybody can eat and likes."""
        rejected = self.keys(Kind.REJECTED)
        beef = (dish for dish in foods.courses(MAIN) if "beef" in dish.ingredients and dish.id not in rejected)
        return [dish for dish in beef if self.is_safe(dish, foods) and self.suits(dish)]


@cache
def wording(language: str) -> Mapping[str, Any]:
    """Return the sentences of a language."""
    return _table(f"household_{language}.toml")


def households(seed: int, number: int) -> list[Household]:
    """Return ``number`` households, Chinese and English in turn; the same for the same seed."""
    return [_household(seed, index, "en" if index % 2 else "zh") for index in range(number)]


def _household(seed: int, index: int, language: str) -> Household:
    chance = random.Random(f"{seed}/{index}")  # noqa: S311 a reproducible household, no secret
    while True:
        found = _drawn(chance, f"household_{index:02}", language)
        if len(found.choice(catalogue())) >= LEAST_CHOICE:
            return found


def _drawn(chance: random.Random, name: str, language: str) -> Household:
    allergies = chance.sample(ALLERGENS, chance.choice((1, 1, 2)))
    taboos = chance.sample([food for food in TABOOS if food not in allergies], chance.choice((1, 2, 2)))
    tastes = chance.sample(TASTES, chance.choice((1, 1, 2)))
    bare = Household(
        id=name, language=language, facts=tuple(_told(chance, language, allergies, taboos, tastes)), talks=()
    )
    facts = (*bare.facts, *_past(chance, bare))
    return Household(id=name, language=language, facts=facts, talks=_talks(chance, language, facts))


def _told(
    chance: random.Random, language: str, allergies: Sequence[str], taboos: Sequence[str], tastes: Sequence[str]
) -> Iterator[Fact]:
    words = wording(language)
    people = iter(chance.sample(words["people"], len(allergies) + len(taboos) + len(tastes)))
    for kind, names in ((Kind.ALLERGY, allergies), (Kind.TABOO, taboos)):
        for name in names:
            sentence = _sentence(chance, words[kind.value])
            food = chance.choice(catalogue().ingredients[name].words[language][:2])
            yield Fact(kind=kind, key=name, text=_filled(sentence, next(people), food=food))
    for taste in tastes:
        yield Fact(kind=Kind.TASTE, key=taste, text=_filled(chance.choice(words["taste"][taste]), next(people)))


def _sentence(chance: random.Random, ways: Mapping[str, Sequence[str]]) -> str:
    """A plain sentence or a roundabout one, now and then about the speaker."""
    if chance.random() < 1 / 6:
        return chance.choice(ways["self"])
    return chance.choice(ways["plain" if chance.random() < PLAIN_SHARE else "roundabout"])


def _past(chance: random.Random, bare: Household) -> Iterator[Fact]:
    """Dishes that went down well or badly; what is liked is also safe."""
    words = wording(bare.language)
    choice = bare.choice(catalogue())
    liked = chance.sample(choice, min(1, len(choice)))  # without a choice the household is drawn anew
    beef = [dish for dish in catalogue().courses(MAIN) if "beef" in dish.ingredients and dish not in liked]
    for kind, dishes in ((Kind.ACCEPTED, liked), (Kind.REJECTED, chance.sample(beef, chance.choice((1, 2))))):
        for dish in dishes:
            sentence = chance.choice(words[kind.value]["said"])
            told = _filled(sentence, chance.choice(words["people"]), dish=dish.names[bare.language][0])
            yield Fact(kind=kind, key=dish.id, text=told)


def _filled(sentence: str, person: Sequence[str], **slots: str) -> str:
    who, pronoun = person
    slots |= {"who": who, "he": pronoun, "his": pronoun}
    upper = {name.capitalize(): text[:1].upper() + text[1:] for name, text in slots.items()}
    return sentence.format(**slots, **upper)


def _talks(chance: random.Random, language: str, facts: Sequence[Fact]) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Spread the facts over a few conversations that are mostly about other things."""
    words = wording(language)["chatter"]
    told = chance.sample(facts, len(facts))
    small_talk = iter(chance.sample(words["exchanges"], len(words["exchanges"])))
    talks = []
    for first in range(0, len(told), 2):
        talk = [*_exchange(next(small_talk))]
        for fact in told[first : first + 2]:
            lead = f"{chance.choice(words['before'])}{'' if language == 'zh' else ' '}" if chance.random() < 0.4 else ""  # noqa: PLR2004
            talk += [("user", lead + fact.text), ("assistant", chance.choice(words["noted"]))]
            talk += _exchange(next(small_talk, words["exchanges"][0])) if chance.random() < 0.5 else ()  # noqa: PLR2004
        talks.append(tuple(talk))
    return tuple(talks)


def _exchange(pair: Sequence[str]) -> list[tuple[str, str]]:
    return [("user", pair[0]), ("assistant", pair[1])]


def _table(name: str) -> Mapping[str, Any]:
    text = files("strata.evaluation").joinpath(f"data/{name}").read_text(encoding="utf-8")
    table: Mapping[str, Any] = tomllib.loads(text)
    return table
