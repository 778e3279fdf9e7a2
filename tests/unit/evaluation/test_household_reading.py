"""What an agent understands: the sentences of the households, and nothing that is not in them."""

from collections.abc import Sequence

import pytest

from strata.client import ContextResult
from strata.evaluation.catalogue import LANGUAGES, Catalogue, catalogue
from strata.evaluation.household_people import TASTES, Kind, households, wording
from strata.evaluation.household_reading import Line, Reading, lines, read

HEAD = "<long_term_memory>\nRemembered.\n"


@pytest.fixture(scope="module")
def foods() -> Catalogue:
    return catalogue()


def context(prompt: str, window: Sequence[tuple[str, str]] = ()) -> ContextResult:
    messages = [{"role": "system", "content": prompt}, *({"role": role, "content": text} for role, text in window)]
    return ContextResult(
        messages=tuple(messages), prompt=prompt, summary=None, memories={}, usage={}, dropped=(), degraded=(),
        timings_ms={}, working={},
    )  # fmt: skip


def understood(text: str, foods: Catalogue, **line: object) -> Reading:
    return read([Line(text=text, speaker="user", **line)], foods)  # type: ignore[arg-type]


def test_every_way_to_forbid_a_food_is_understood(foods: Catalogue) -> None:
    missed = []
    for language in LANGUAGES:
        words, [who, he] = wording(language), wording(language)["people"][0]
        food = foods.ingredients["celery"].words[language][0]
        for kind in ("allergy", "taboo"):
            for sentence in (way for ways in words[kind].values() for way in ways):
                text = sentence.format(who=who, Who=who, he=he, his=he, food=food, Food=food)
                if understood(text, foods).forbidden != {"celery"}:
                    missed.append(text)
    assert missed == []


def test_every_fact_of_many_households_is_understood(foods: Catalogue) -> None:
    missed = []
    for home in (home for seed in range(5) for home in households(seed, 20)):
        for fact in home.facts:
            known = understood(fact.text, foods)
            right = {
                Kind.ALLERGY: foods.ingredients.get(fact.key)
                and foods.ingredients[fact.key].members <= known.forbidden,
                Kind.TABOO: foods.ingredients.get(fact.key) and foods.ingredients[fact.key].members <= known.forbidden,
                Kind.TASTE: fact.key.removeprefix("not_") in (known.unwanted if "not" in fact.key else known.wanted),
                Kind.ACCEPTED: fact.key in known.accepted,
                Kind.REJECTED: fact.key in known.rejected,
            }[fact.kind]
            missed += [] if right else [(fact.kind.value, fact.text)]
    assert missed == []


def test_every_wish_for_less_soy_sauce_is_understood(foods: Catalogue) -> None:
    for language in LANGUAGES:
        for sentence in wording(language)["turns"]["less_soy"]:
            known = understood(sentence, foods)
            assert known.less_soy
            assert not known.forbidden


def test_small_talk_forbids_nothing(foods: Catalogue) -> None:
    for language in LANGUAGES:
        for said, _ in wording(language)["chatter"]["exchanges"]:
            known = understood(said, foods)
            assert (said, known.forbidden, known.wanted, known.unwanted) == (said, set(), set(), set())


def test_a_taste_is_wanted_or_not_never_both(foods: Catalogue) -> None:
    for language in LANGUAGES:
        who, he = wording(language)["people"][0]
        for taste in TASTES:
            for sentence in wording(language)["taste"][taste]:
                known = understood(sentence.format(who=who, Who=who, he=he, his=he), foods)
                assert not known.wanted & known.unwanted, sentence


def test_what_an_agent_said_is_no_fact(foods: Catalogue) -> None:
    assert read([Line(text="No peanuts for your son!", speaker="assistant")], foods).forbidden == set()


def test_a_stranger_is_not_the_household(foods: Catalogue) -> None:
    assert understood("The neighbour is allergic to peanuts.", foods).forbidden == set()


def test_a_constraint_forbids_whatever_its_words(foods: Catalogue) -> None:
    prompt = HEAD + "Constraints (always respect):\n- (user_preference, today, by a) peanuts: ask\n</long_term_memory>"
    assert read(lines(context(prompt), ""), foods).forbidden == {"peanut"}


def test_lines_tell_speaker_type_and_age() -> None:
    prompt = HEAD + "About the user:\n- (episode, 3 d ago, by x) user: a &lt; b\n- (adopted_decision, today, by x) c\n"
    found = lines(context(prompt, [("user", "what?"), ("assistant", "this")]), "what?")
    assert [(one.speaker, one.memory_type, one.age_days, one.text, one.is_window) for one in found] == [
        ("user", "episode", 3, "a < b", False),
        ("", "adopted_decision", 0, "c", False),
        ("assistant", "", 0, "this", True),
    ]


DECISION = "adopted_decision"


@pytest.mark.parametrize(
    ("found", "dish"),
    [
        ([], None),
        ([Line(text="做番茄炖牛腩", memory_type=DECISION)], "tomato beef stew"),
        ([Line(text="番茄炖牛腩", memory_type=DECISION, age_days=3), Line(text="红烧牛腩", memory_type=DECISION)],
         "red-braised brisket"),
        ([Line(text="番茄炖牛腩", memory_type=DECISION), Line(text="红烧牛腩", memory_type=DECISION)], None),
        ([Line(text="goulash", memory_type=DECISION), Line(text="The beef pho.", speaker="user", is_window=True)],
         "beef pho"),
        ([Line(text="The goulash was awful, nobody liked it.", speaker="user")], None),
        ([Line(text="How about goulash?", speaker="assistant")], "goulash"),
    ],
)  # fmt: skip
def test_the_dish_that_is_meant(foods: Catalogue, found: list[Line], dish: str | None) -> None:
    assert read(found, foods).dish == dish
