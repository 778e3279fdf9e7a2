"""Kinds of sentences that are easily taken for one another: people by name, disgust and harm, praise and liking."""

from datetime import UTC, datetime

import pytest

from strata.consolidation.rules import judge
from strata.consolidation.rules.deciding import BY_WORDS, may_be_learned, verdicts
from strata.consolidation.rules.lexicon import code
from strata.consolidation.rules.names import names_in
from strata.consolidation.rules.units import Unit, units
from strata.consolidation.rules.weighing import NOTHING, Opinion
from strata.model.memories import Candidate
from tests.fakes.ledger import message

SAID = datetime(2026, 3, 9, 4, tzinfo=UTC)


def kept(text: str) -> list[Candidate]:
    return judge([message(1, text, said_at=SAID)], zone="Asia/Shanghai")


def first(text: str) -> Unit:
    return units(code(text))[0]


def rules_of(text: str) -> list[str]:
    return [finding.rule.name for finding in first(text).findings]


@pytest.mark.parametrize(
    "text",
    [
        "My manager is Ines.",
        "Our landlord's name is Mr Kowalski",
        "Hana is my colleague.",
        "I moved to Xiamen.",
        "I speak Farsi with my parents",
        "My partner works night shifts",
        "我搬到厦门了",
        "我们经理叫欧蒂莉",
        "梅琳是我上司",
        "我老公在面包房上夜班",
        "我跟爸妈讲客家话",
    ],
)
def test_who_and_where_the_user_is_gets_kept_whatever_the_name(text: str) -> None:
    assert any(name.split(".")[1] == "household" for name in rules_of(text))
    assert [(fact.memory_type, fact.standing) for fact in kept(text)] == [("user_preference", False)]


@pytest.mark.parametrize("text", ["My manager is nice.", "My boss is late again", "MY BOSS IS GREAT"])
def test_what_somebody_is_like_is_no_name(text: str) -> None:
    assert "en.household.who_is_who" not in rules_of(text)


def test_a_name_is_told_by_its_capital_inside_a_sentence() -> None:
    coded = code("Yesterday Ines and I met on Monday, NASA called.")
    sentence = units(coded)[0].sentence
    assert [coded.source(*span) for span in names_in(coded, sentence)] == ["Ines"]
    assert not names_in(code("my manager is ines"), units(code("my manager is ines"))[0].sentence)


@pytest.mark.parametrize(
    "text",
    [
        "the smell of durian makes me sick",
        "Lamb smells so strong I feel sick just walking past it",
        "羊肉那膻味，路过我都想吐",
        "榴莲的味道我一闻就恶心",
    ],
)
def test_a_food_that_disgusts_is_disliked_and_harms_nobody(text: str) -> None:
    assert [(fact.memory_type, fact.safety, fact.standing) for fact in kept(text)] == [("user_preference", False, True)]


@pytest.mark.parametrize(
    "text",
    [
        "sesame makes me break out in hives",
        "one taste of shrimp and I'm throwing up all night",
        "the smell of paint makes me sick and gives me hives",
        "吃一口虾我就恶心，浑身起疹子",
        "闻到香水味我就恶心头晕",
    ],
)
def test_what_does_harm_is_a_safety_fact_however_it_smells(text: str) -> None:
    assert [fact.safety for fact in kept(text)] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "I love that idea!",
        "My friends back me up and it means the world",
        "你这想法我喜欢",
        "你烤的蛋糕太好看了，爱了",
        "有你们真好",
    ],
)
def test_praise_is_no_taste_and_no_standing_fact(text: str) -> None:
    assert not kept(text)


@pytest.mark.parametrize(
    ("text", "memory_type"),
    [
        ("那盆凉面几分钟就没了，大家都没够吃", "adopted_decision"),
        ("I'd always take the aisle seat", "user_preference"),
    ],
)
def test_a_dish_that_is_gone_went_down_well_and_a_habit_is_no_passing_state(text: str, memory_type: str) -> None:
    assert {fact.memory_type for fact in kept(text)} == {memory_type}


@pytest.mark.parametrize(
    "text",
    [
        "Grandma insists the neighbour got asthma from kelp.",
        "My aunt's hairdresser has diabetes, or so she says",
        "我表妹的婆婆好像有高血压，听她说的",
        "I nearly had a heart attack when the balloon popped.",
    ],
)
def test_hearsay_and_exaggeration_are_no_illness(text: str) -> None:
    assert not any(fact.safety for fact in kept(text))


def test_a_relative_without_my_before_it_is_ones_own() -> None:
    assert any(name.startswith("en.condition") for name in rules_of("Dad had a stroke last year"))


def believed(belief: str, share: float) -> Opinion:
    return Opinion({belief: share, "nothing": 1 - share}, belief, {})


def test_a_standing_fact_that_no_known_word_speaks_for_needs_more_belief() -> None:
    belief, least = "taboo", BY_WORDS.find_unknown
    vague, plain = first("It was such a colorful evening"), first("It was such an evening with oysters")
    assert not verdicts(vague, believed(belief, least - 0.05))
    assert verdicts(vague, believed(belief, least + 0.05))
    assert verdicts(plain, believed(belief, least - 0.05))


@pytest.mark.parametrize(
    "text",
    [
        "I'm allergic to shrimp",
        "我对虾过敏",
        "我儿子对花生过敏",
        "I have asthma",
        "My wife is pregnant",
        "我爸有痛风",
        "We're vegan",
    ],
)
def test_what_is_said_in_so_many_words_is_never_weighed_away(text: str) -> None:
    assert [
        verdict.rule.safety
        for verdict in verdicts(first(text), Opinion({"nothing": 1.0, "safety": 0.0}, "nothing", {}))
    ] == [True]


@pytest.mark.parametrize(
    ("text", "moods"),
    [
        ("My glucose meter says no", "fiction"),
        ("One of my kids, Tom, has a severe egg allergy", "question"),
        ("According to the nurse I have to eat less salt", "hearsay"),
        ("If my son drinks milk he gets hives", "hypothetical"),
        ("朋友家的猫把我整得眼睛都肿了", "others"),
        ("跟你说我有哮喘", "hearer"),
        ("我是一喝酒就起疹子的人", "generic"),
        ("My aunt, who hates peas, comes on Sunday", "question"),
    ],
)
def test_a_plain_statement_is_not_taken_for_anything_else(text: str, moods: str) -> None:
    assert not any(moods in clause for clause in first(text).moods.clauses)


@pytest.mark.parametrize(
    "text",
    [
        "I won't let anything stop me",
        "We're not going to give up on this",
        "我们不会轻言放弃",
        "帮我挑一家餐厅",
        "Could you find me a florist near the station?",
    ],
)
def test_courage_and_favours_are_no_facts(text: str) -> None:
    assert kept(text) == []


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("Gonna keep pushing, won't let anything hold me back", False),
        ("Won't let my asthma hold me back", True),
        ("Smoke gives me a wheeze", True),
    ],
)
def test_courage_is_no_danger_unless_it_names_one(text: str, *, may: bool) -> None:
    unit = first(text)
    sure = Opinion({"safety": 1.0, NOTHING: 0.0}, "safety", {}, by_meaning=True)
    assert may_be_learned(unit, "safety", sure) is may


@pytest.mark.parametrize(
    "text", ["Don't let the cat get near the lilies, they're poison to her", "帮我记一下，我不吃香菜"]
)
def test_what_must_not_be_stays(text: str) -> None:
    assert kept(text) != []
