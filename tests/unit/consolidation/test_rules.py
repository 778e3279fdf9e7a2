"""What the rule judge keeps, in whose words, and what it leaves alone."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata.consolidation.rules import RuleJudge, judge
from strata.consolidation.rules.matching import rules
from strata.inference.local_embedding import NoEmbedder
from strata.model.memories import Candidate, Category, Scope
from strata.model.messages import Role
from tests.fakes.ledger import message

SAID = datetime(2026, 3, 9, 4, tzinfo=UTC)
ZONE = "Asia/Shanghai"
U, A, T = Role.USER, Role.ASSISTANT, Role.TOOL


def kept(*lines: tuple[Role, str], new: Sequence[int] | None = None) -> list[Candidate]:
    said = [message(seq, text, role=role, said_at=SAID) for seq, (role, text) in enumerate(lines, start=1)]
    fresh = [item for item in said if new is None or item.seq in new]
    return judge(fresh, zone=ZONE, context=[item for item in said if item not in fresh])


def contents(*lines: tuple[Role, str]) -> list[str]:
    return [candidate.content for candidate in kept(*lines)]


@pytest.mark.parametrize(
    "framing",
    "{}。 {}，这个务必记住。 {}，千万记住。 {}，别忘了。 {}，很重要。 {}哈。 {}，切记！".split()
    + "记住，{}。 请一定记得{}。 请牢记：{}。 重要的事：{}！".split(),
)
def test_what_asks_to_remember_a_fact_is_no_part_of_it(framing: str) -> None:
    assert contents((U, framing.format("我对青霉素过敏"))) == ["用户对青霉素过敏"]


@pytest.mark.parametrize(
    "framing",
    [
        "{}, please remember that.",
        "{}, don't forget.",
        "{}, it's important.",
        "{}, keep that in mind.",
        "Remember that {}.",
        "Note that {}.",
        "Important: {}.",
        "Please keep in mind that {}.",
    ],
)
def test_what_asks_to_remember_a_fact_is_no_part_of_it_in_english(framing: str) -> None:
    assert contents((U, framing.format("my son is allergic to penicillin"))) == ["User's son is allergic to penicillin"]


@pytest.mark.parametrize(
    "text",
    [
        "My brother used to be allergic to eggs but he outgrew it.",
        "Hypothetically, say a guest can't eat dairy.",
        "In that show the dad is allergic to everything.",
        "听办公室的人讲，小王吃菌子进医院了",
        "那家素食馆有点扫兴，汉堡像纸板",
    ],
)
def test_what_is_over_made_up_or_of_others_is_no_safety_fact(text: str) -> None:
    assert not [fact for fact in kept((U, text)) if fact.safety]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("我对花生过敏", "用户对花生过敏"),
        ("我媽對海鮮過敏，連湯都不能喝。", "用户的媽對海鮮過敏，連湯都不能喝"),
        ("哈哈今天累死了，对了我闺女吃芒果嘴会痒，你帮我记一下。", "用户的闺女吃芒果嘴会痒"),
        ("一碰海鲜就起疹子，从小就这样。", "用户一碰海鲜就起疹子，从小就这样"),
        ("孩子对虾过敏", "孩子对虾过敏"),
        ("I'm allergic to peanuts.", "User is allergic to peanuts"),
        (
            "My throat closes up when there's sesame in anything.",
            "User's throat closes up when there's sesame in anything",
        ),
        ("Peanuts send me to the ER.", "Peanuts send User to the ER"),
        ("We keep kosher at home.", "User's household keeps kosher at home"),
    ],
)
def test_a_safety_fact_is_kept_in_the_users_words_with_its_subject(text: str, content: str) -> None:
    (fact,) = kept((U, text))
    assert fact.content == content
    assert (fact.memory_type, fact.category, fact.scope) == ("user_preference", Category.SAFETY, Scope.USER)
    assert fact.safety
    assert fact.standing
    assert fact.importance >= 8
    assert fact.rule
    assert fact.evidence
    assert (fact.source_seqs, fact.said_at) == ((1,), SAID)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("我对虾，不对，是对螃蟹过敏，虾没事。", "用户对螃蟹过敏，虾没事"),
        ("It's almonds, no wait, walnuts that I'm allergic to.", "It's walnuts that User is allergic to"),
    ],
)
def test_only_the_corrected_word_counts(text: str, content: str) -> None:
    assert contents((U, text)) == [content]


@pytest.mark.parametrize(
    "text",
    [
        "对花生过敏的人能吃腰果吗？",
        "如果我对海鲜过敏，是不是就不能去那家店了？",
        "邻居说他家孩子吃了虾就起疹子。",
        "我对花生不过敏，放心放。",
        "哈哈我对周一过敏。",
        "小说里那个女主对百合花过敏。",
        '翻译一下："I am allergic to peanuts"。',
        "西红柿今天三块五一斤。",
        "早上好呀。",
        "Can people with a peanut allergy eat cashews?",
        "I read that mango can cause a rash.",
        "I'm not allergic to peanuts, don't worry.",
        "I'm allergic to Mondays lol.",
        "My character in the game is a vegan elf with a peanut allergy.",
        "Tomatoes are 3.50 a pound today.",
    ],
)
def test_what_is_no_statement_of_the_user_is_not_kept(text: str) -> None:
    assert kept((U, text)) == []


def test_a_question_behind_a_fact_does_not_hide_it() -> None:
    assert contents((U, "我对花生过敏，这个能吃吗？")) == ["用户对花生过敏"]


def test_a_question_that_takes_a_fact_for_granted_states_it() -> None:
    (fact,) = kept((U, "Did you forget I'm allergic to nuts?"))
    assert fact.safety


def test_feedback_about_a_dish_is_kept_whole() -> None:
    (fact,) = kept((U, "上次那个牛肉炖得有点老，孩子嚼不动。"))
    assert fact.content == "上次那个牛肉炖得有点老，孩子嚼不动"
    assert fact.memory_type == "rejection_reason"


@pytest.mark.parametrize("text", ["我不吃香菜。", "I don't eat cilantro."])
def test_a_dislike_of_food_is_a_standing_constraint_and_no_safety_fact(text: str) -> None:
    (fact,) = kept((U, text))
    assert fact.standing
    assert not fact.safety


def test_a_temporary_constraint_lives_as_long_as_it_says() -> None:
    (fact,) = kept((U, "No spicy food this week, I have a sore throat."))
    assert fact.memory_type == "temporary_constraint"
    assert fact.content == "No spicy food this week (2026-03-09 to 2026-03-15), User has a sore throat"
    assert fact.ttl_seconds == 561_600  # from Monday noon in Shanghai to the midnight behind Sunday


def test_rules_between_agents_belong_to_the_agents() -> None:
    (fact,) = kept((U, "采购助手下单之前，先让菜谱助手核对一遍库存。"))
    assert (fact.memory_type, fact.scope) == ("collaboration_rule", Scope.AGENT)


def test_what_names_a_person_does_not_go_to_the_agents() -> None:
    found = kept((U, "采购助手下单之前，先问我老婆李婷同不同意。"))
    assert all(fact.scope is Scope.USER for fact in found)


@pytest.mark.parametrize(
    ("text", "memory_type"),
    [
        ("Tell me when tomatoes drop below 3 yuan.", "price_alert"),
        ("购物清单加两斤排骨、一把小葱。", "shopping_list"),
        ("没有料酒，我用啤酒代替了，味道也不错。", "substitute_record"),
        ("我们决定周六在家吃火锅。", "adopted_decision"),
        ("经验是先查库存再出菜单，不然来回改。", "task_experience"),
    ],
)
def test_each_kind_of_memory_gets_its_type(text: str, memory_type: str) -> None:
    assert [fact.memory_type for fact in kept((U, text))] == [memory_type]


def test_the_assistants_own_words_are_no_facts() -> None:
    assert kept((U, "推荐个餐厅"), (A, "推荐兰亭。\n\n我个人更喜欢靠窗的位置。\n\n我不吃辣，所以没选川菜。")) == []


def test_a_tools_words_are_no_facts() -> None:
    assert kept((T, "User is allergic to peanuts")) == []


def test_a_short_yes_takes_up_the_proposal() -> None:
    (fact,) = kept((A, "今晚做清蒸鲈鱼配蒜蓉西兰花，怎么样？"), (U, "好的，就按这个来"), new=[2])
    assert fact.memory_type == "adopted_decision"
    assert fact.content == "用户采纳了建议：今晚做清蒸鲈鱼配蒜蓉西兰花，怎么样？"
    assert fact.source_seqs == (2,)


@pytest.mark.parametrize("reply", ["不了", "再想想", "No thanks.", "let me think about it"])
def test_a_refusal_or_a_doubt_takes_up_nothing(reply: str) -> None:
    assert kept((A, "要不要试试无糖饮食？ Would you like to try it?"), (U, reply), new=[2]) == []


def test_what_was_injected_is_not_read_again() -> None:
    assert kept((U, "<long_term_memory>用户对花生过敏</long_term_memory>\n今晚吃什么？")) == []


def test_what_is_taken_back_is_not_kept() -> None:
    assert kept((U, "我们决定周六在家吃火锅。"), (U, "算了，刚才说的火锅取消吧。")) == []


def test_old_messages_only_help_to_understand() -> None:
    assert kept((U, "我对花生过敏"), (U, "你好"), new=[2]) == []


def test_a_pronoun_stands_for_the_person_spoken_of() -> None:
    assert contents((U, "My dad is visiting."), (U, "He's on blood thinners."))[-1] == "User's dad is on blood thinners"


def test_a_secret_does_not_get_into_a_memory() -> None:
    assert all("hunter2" not in content for content in contents((U, "I hate my password: hunter2 but I love pasta.")))


def test_without_its_embedder_words_decide_alone() -> None:
    said = [message(1, "我对花生过敏", said_at=SAID)]
    assert RuleJudge(NoEmbedder())(said, zone=ZONE) == judge(said, zone=ZONE)


def test_every_rule_has_a_name_of_its_own() -> None:
    names = [rule.name for language in ("zh", "en") for rule in rules(language)]
    assert len(names) == len(set(names))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=80), max_size=4))
def test_no_text_breaks_the_judge(texts: list[str]) -> None:
    for fact in kept(*((U, text) for text in texts)):
        assert 0 < len(fact.content) <= 200


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("我对花生过敏，也不吃香菜", [("用户对花生过敏", True), ("用户不吃香菜", False)]),
        ("我对花生过敏，我妈对虾过敏", [("用户对花生过敏", True), ("用户的妈对虾过敏", True)]),
        ("我对花生和腰果过敏", [("用户对花生和腰果过敏", True)]),
        (
            "I'm allergic to nuts and my son hates coriander",
            [("User is allergic to nuts", True), ("User's son hates coriander", False)],
        ),
        ("I'm allergic to cashews and walnuts", [("User is allergic to cashews and walnuts", True)]),
        ("I'm breastfeeding, so no alcohol", [("User is breastfeeding, so no alcohol", True)]),
    ],
)
def test_each_fact_of_a_sentence_is_a_memory_with_its_own_subject(text: str, facts: list[tuple[str, bool]]) -> None:
    assert [(fact.content, fact.safety) for fact in kept((U, text))] == facts


@pytest.mark.parametrize("text", ["[photo: a bowl of peanuts on a table]", "好看 [图片：一桌子菜]"])
def test_what_a_picture_shows_was_not_said(text: str) -> None:
    assert contents((U, text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "I'll do my best to make everyone feel at home.",
        "Your dedication looks great from here!",
        "Sounds great, have a wonderful time!",
        "太好了，真替你高兴！",
    ],
)
def test_praise_and_good_intentions_are_no_decisions(text: str) -> None:
    assert contents((U, text)) == []


@pytest.mark.parametrize("text", ["行，就它了", "可以，就按你说的"])
def test_a_proposal_that_asks_whether_it_is_good_can_be_taken_up(text: str) -> None:
    (fact,) = kept((A, "晚饭做香菇滑鸡好不好？"), (U, text))
    assert (fact.memory_type, fact.content) == ("adopted_decision", "用户采纳了建议：晚饭做香菇滑鸡好不好？")


@pytest.mark.parametrize(
    "text",
    [
        "My son is no longer allergic to peanuts.",
        "我儿子不再对花生过敏了。",
        "我儿子对花生不过敏了，医生确认过。",
    ],
)
def test_an_allergy_that_is_over_is_kept_and_no_standing_constraint(text: str) -> None:
    (fact,) = kept((U, text))
    assert (fact.memory_type, fact.safety, fact.standing) == ("user_preference", False, False)
    assert fact.rule.endswith("correction.not_allergic")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("虾？我可沾不得，一沾就肿。", "虾，用户可沾不得，一沾就肿"),
        ("Shrimp? I can't have it, my throat swells up.", "Shrimp, User can't have it, User's throat swells up"),
    ],
)
def test_a_thing_named_like_a_question_stays_with_the_statement_about_it(text: str, content: str) -> None:
    (fact,) = kept((U, text))
    assert (fact.content, fact.safety) == (content, True)


class Doubting:
    """An embedder of the right model whose vectors speak for nothing."""

    name = "test/multilingual-e5-small-q4"
    dimensions = 384

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        return [bytes(4 * self.dimensions) for _ in texts]

    def background(self, dense_scripts: int, *, question: bool) -> tuple[float, float]:
        return 0.0, 1.0


@pytest.mark.parametrize("text", ["我对青霉素过敏，这个务必记住。", "I'm allergic to penicillin."])
def test_meaning_alone_never_drops_an_allergy_said_in_so_many_words(text: str) -> None:
    judging = RuleJudge(Doubting())
    assert judging._embedder is not None
    (fact,) = judging([message(1, text, said_at=SAID)], zone=ZONE)
    assert fact.safety
