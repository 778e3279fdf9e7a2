"""What the guard merges, keeps apart, and calls a contradiction."""

from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from strata.dedup import Keep, PairKind, decide

MERGE, REFINE, CONFLICT, DISTINCT = PairKind.MERGE, PairKind.REFINE, PairKind.CONFLICT, PairKind.DISTINCT

DECIDED = [
    pytest.param("User likes oolong tea", "“user likes  oolong tea”!", MERGE, id="punctuation and case"),
    pytest.param("用户不吃香菜", "忌香菜", MERGE, id="taboo in other words"),
    pytest.param("对花生过敏", "有花生过敏", MERGE, id="an allergy one has"),
    pytest.param("对花生过敏", "花生过敏", MERGE, id="an allergy in two words"),
    pytest.param("用户会说英语和法语", "用户会说法语和英语", MERGE, id="a list has no order"),
    pytest.param("Tom owes Jerry 100 dollars", "Jerry owes Tom 100 dollars", DISTINCT, id="roles swapped"),
    pytest.param("小明欠小红一百元", "小红欠小明一百元", DISTINCT, id="roles swapped in Chinese"),
    pytest.param("小张是老李的徒弟", "老李是小张的徒弟", DISTINCT, id="who is whose, by a word no table knows"),
    pytest.param("Grandma was in hospital", "Grandma is in hospital", DISTINCT, id="a state that is over"),
    pytest.param("User lent Bob 50 dollars", "Bob lent the user 50 dollars", DISTINCT, id="the user's role swapped"),
    pytest.param("Lent Bob 50 dollars", "Bob lent the user 50 dollars", DISTINCT, id="a subject left out"),
    pytest.param("The dog was bitten by the cat", "The dog bit the cat", DISTINCT, id="passive"),
    pytest.param("User drinks tea before coffee", "User drinks coffee before tea", DISTINCT, id="before and after"),
    pytest.param("从北京到上海的高铁", "从上海到北京的高铁", DISTINCT, id="direction"),
    pytest.param("User works from 9 am to 5 pm", "User works from 5 pm to 9 am", DISTINCT, id="a range turned round"),
    pytest.param("User prefers trains over planes", "User prefers planes over trains", DISTINCT, id="one over another"),
    pytest.param("用户宁可走路也不坐车", "用户宁可坐车也不走路", DISTINCT, id="rather one than another"),
    pytest.param("User is allergic to nuts", "User is no longer allergic to nuts", CONFLICT, id="no longer an allergy"),
    pytest.param("用户对花生过敏", "用户不再对花生过敏", CONFLICT, id="no longer an allergy in Chinese"),
    pytest.param("User hates tea", "User no longer hates tea", CONFLICT, id="no longer a dislike"),
    pytest.param("The gate code is 7-4-1", "The gate code is 7-1-4", CONFLICT, id="a code with its digits swapped"),
    pytest.param("门禁密码是0-2-0", "门禁密码是0-2-2", CONFLICT, id="a code with a digit twice"),
    pytest.param("Breakfast at 8 and dinner at 6", "Breakfast at 6 and dinner at 8", DISTINCT, id="hours swapped"),
    pytest.param("用户对蜂蜜过敏", "用户对蜜蜂过敏", DISTINCT, id="anagram"),
    pytest.param("Project A is due on June 1", "Project B is due on June 1", DISTINCT, id="one letter"),
    pytest.param("project a is late", "project b is late", DISTINCT, id="one small letter"),
    pytest.param(
        "Client A wants paper invoices", "Client B wants paper invoices", DISTINCT, id="a letter before a verb"
    ),
    pytest.param("Visa expires in March", "Visa expires on Wednesday", DISTINCT, id="the third month, the third day"),
    pytest.param("护照2027年3月到期", "护照2028年3月到期", CONFLICT, id="the same month of another year"),
    pytest.param("Lease ends in March 2027", "Lease ends in April 2027", CONFLICT, id="another month, in English"),
    pytest.param("护照2027年3月到期", "护照3月到期", DISTINCT, id="a year left open is no other year"),
    pytest.param("Passport expires in May 2027", "护照2027年5月到期", MERGE, id="one month in two languages"),
    pytest.param(
        "User works at Google", "User left Google and joined Stripe", CONFLICT, id="left for another employer"
    ),
    pytest.param("User works at Google", "User joined a gym", DISTINCT, id="who joins a club keeps the job"),
    pytest.param("User's left knee hurts", "User's right knee hurts", DISTINCT, id="left is a side, too"),
    pytest.param("User's dentist is Dr. Lee", "User's dentist is now Dr. Wu", CONFLICT, id="somebody else now"),
    pytest.param("User's phone is a Pixel", "User switched to an iPhone", CONFLICT, id="another make of phone"),
    pytest.param("Room 12 has a projector", "Room 14 has a projector", DISTINCT, id="a number that names"),
    pytest.param("二楼的厕所坏了", "三楼的厕所坏了", DISTINCT, id="a floor that names"),
    pytest.param("用户不吃猪肝", "用户不吃猪肉", DISTINCT, id="part and whole under a negation"),
    pytest.param("用户问能不能吃花生", "用户能吃花生", DISTINCT, id="asked"),
    pytest.param("用户能吃花生吗", "用户能吃花生", DISTINCT, id="asked with a particle"),
    pytest.param("Can the user eat peanuts", "The user can eat peanuts", DISTINCT, id="asked by word order"),
    pytest.param("用户打算戒烟", "用户戒烟了", DISTINCT, id="planned"),
    pytest.param("User is considering buying a house", "User bought a house", DISTINCT, id="considered"),
    pytest.param("听说用户要离职", "用户离职了", DISTINCT, id="heard"),
    pytest.param("Bob says the user is allergic to nuts", "User is allergic to nuts", DISTINCT, id="somebody said"),
    pytest.param("如果下雨，用户就不跑步", "用户不跑步", DISTINCT, id="under a condition"),
    pytest.param("User used to live in Paris", "User lives in Paris", DISTINCT, id="no longer so"),
    pytest.param("用户住过深圳", "用户住在深圳", DISTINCT, id="no longer so in Chinese"),
    pytest.param("用户只喝绿茶", "用户喝绿茶", DISTINCT, id="only"),
    pytest.param("User sometimes smokes", "User smokes", DISTINCT, id="sometimes"),
    pytest.param("用户对青霉素过敏", "用户对青霉素不过敏", CONFLICT, id="不过敏 is not 不过"),
    pytest.param("喜欢吃香菜", "不喜欢吃香菜", CONFLICT, id="contained in its own negation"),
    pytest.param(
        "Deploys on Friday are allowed", "Deploys on Friday are not allowed", CONFLICT, id="permission taken back"
    ),
    pytest.param("项目截止日期是10月15日", "项目截止日期是10月16日", CONFLICT, id="one day later"),
    pytest.param("机器学习课程每周三晚上", "机器学习课程改到每周四晚上", CONFLICT, id="moved to another day"),
    pytest.param("项目数据库用 PostgreSQL", "项目数据库已换成 MySQL", CONFLICT, id="replaced"),
    pytest.param("用户住在武汉", "用户已搬到厦门", CONFLICT, id="moved house"),
    pytest.param("用户在学校上班", "用户入职了银行", CONFLICT, id="another employer"),
    pytest.param("喝牛奶会拉肚子", "喝牛奶没有问题", CONFLICT, id="no shared word for it"),
    pytest.param("User drinks alcohol", "User doesn't drink or smoke", CONFLICT, id="one of two denied"),
    pytest.param("The order service uses Redis 7", "The billing service uses Redis 7", DISTINCT, id="another subject"),
    pytest.param("周末带孩子去爬山", "机器学习课程每周三晚上", DISTINCT, id="two Chinese texts without a common word"),
    pytest.param("用户不会游泳", "用户在学游泳", DISTINCT, id="who cannot yet learns"),
    pytest.param("用户讨厌加班", "用户经常加班", DISTINCT, id="who hates it may do it"),
    pytest.param("用户不喝酒", "用户卖酒", DISTINCT, id="another act on the same thing"),
    pytest.param("早上吃两片药", "晚上吃一片药", DISTINCT, id="another time and another amount"),
    pytest.param("用户不吃香菜", "用户不吃香菜和葱", REFINE, id="a longer list"),
    pytest.param("", "", MERGE, id="two empty texts are equal"),
    pytest.param("", "用户不吃香菜", DISTINCT, id="an empty text is nothing else"),
]


@pytest.mark.parametrize(("old", "new", "expected"), DECIDED)
def test_decides(old: str, new: str, expected: PairKind) -> None:
    assert decide(old, new).kind is expected


@pytest.mark.parametrize(("old", "new", "expected"), DECIDED)
def test_decides_the_same_the_other_way_round(old: str, new: str, expected: PairKind) -> None:
    assert decide(new, old).kind is expected


SHORT, LONG = "用户对花生过敏", "用户对花生过敏，随身带肾上腺素笔"


@pytest.mark.parametrize(
    ("old", "new", "keep"),
    [
        pytest.param(SHORT, LONG, Keep.NEW, id="the new one repeats the old and adds a clause"),
        pytest.param(LONG, SHORT, Keep.OLD, id="the old one says more"),
        pytest.param("用户不吃香菜", "用户不吃香菜和葱", Keep.NEW, id="the new one has the longer list"),
        pytest.param("周末去爬山", "周末和小李去爬山", Keep.BOTH, id="company narrows: neither holds alone"),
        pytest.param("User has a dog", "User has a three-year-old dog", Keep.BOTH, id="a word more narrows"),
    ],
)
def test_the_richer_text_survives_where_it_entails_the_other(old: str, new: str, keep: Keep) -> None:
    decision = decide(old, new)
    assert decision.kind is REFINE
    assert decision.keep is keep


def test_of_two_equal_taboos_the_one_that_forbids_survives() -> None:
    assert decide("用户不吃海鲜", "用户不能吃海鲜").keep is Keep.NEW
    assert decide("用户不能吃海鲜", "用户不吃海鲜").keep is Keep.OLD


def test_a_decision_says_what_decided_it() -> None:
    decision = decide("闹钟设在早上7点", "闹钟设在早上8点")
    assert (decision.reason, decision.evidence) == ("value", ("7点", "8点"))


PLACES = st.sampled_from(["香菜", "花生", "牛奶", "咖啡", "榴莲", "海鲜", "青菜"])
PEOPLE = st.sampled_from(["用户", "妈妈", "爸爸", "儿子", "小李", ""])
SAYINGS = st.sampled_from(
    ["不吃{}", "喜欢{}", "对{}过敏", "每天吃两次{}", "周三早上9点吃{}", "不能吃{}", "讨厌{}", "住在上海，爱吃{}"]
)
ENGLISH = st.builds(
    "{} {}".format,
    st.sampled_from(["The user", "Mom", "Dad", "The daughter", "Bob"]),
    st.sampled_from(
        [
            "likes tea",
            "doesn't eat nuts",
            "is allergic to peanuts",
            "has 2 cats",
            "lives in Paris",
            "wakes up at 7 am",
            "can't swim",
        ]
    ),
)
CHINESE = st.builds(lambda who, says, what: who + says.format(what), PEOPLE, SAYINGS, PLACES)
TEXTS = CHINESE | ENGLISH


@given(TEXTS)
def test_a_text_merges_with_itself(text: str) -> None:
    assert decide(text, text).kind is MERGE


@given(TEXTS, TEXTS)
def test_the_kind_of_a_pair_does_not_depend_on_its_order(one: str, other: str) -> None:
    assert decide(one, other).kind is decide(other, one).kind


@given(PEOPLE, PEOPLE, SAYINGS, SAYINGS, PLACES, PLACES)
def test_only_what_is_about_one_person_and_one_thing_merges(
    who: str, whom: str, says: str, told: str, what: str, which: str
) -> None:
    decision = decide(who + says.format(what), whom + told.format(which))
    if decision.kind is MERGE:
        assert who.removeprefix("用户") == whom.removeprefix("用户")
        assert what == which


WIDE = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)})
TRADITIONAL = str.maketrans("户对过爱欢讨厌两儿妈爸咖啡莲鲜周点", "戶對過愛歡討厭兩兒媽爸咖啡蓮鮮週點")
DISGUISES = st.sampled_from(
    [
        str.upper,
        str.swapcase,
        lambda text: text.translate(WIDE),
        lambda text: text.translate(TRADITIONAL),
        lambda text: f"“{text}。”",
        lambda text: f"  {text}!!",
        "\u200b".join,
        lambda text: f"\ufeff{text}",
    ]
)


@given(TEXTS, TEXTS, DISGUISES)
def test_spelling_decides_nothing(one: str, other: str, disguise: Callable[[str], str]) -> None:
    assert decide(disguise(one), other).kind is decide(one, other).kind


@given(PEOPLE, PLACES, st.sampled_from(["吃", "喜欢", "能吃", "会做", "想吃"]))
def test_adding_a_negation_never_merges(who: str, what: str, verb: str) -> None:
    assert decide(f"{who}{verb}{what}", f"{who}不{verb}{what}").kind is not MERGE


@given(ENGLISH)
def test_adding_a_negation_in_english_never_merges(text: str) -> None:
    assert decide(text, f"It is not true that {text}").kind is not MERGE


NUMBERED = st.sampled_from(
    [
        "用户每天吃{}片药",
        "闹钟设在早上{}点",
        "会议在{}号会议室",
        "Wi-Fi密码是{}",
        "User has {} cats",
        "Room {} is booked",
        "User weighs {} kg",
        "Project {} is late",
        "The deadline is May {}",
        "User's number is {}",
        "Bus {} goes home",
        "用户{}岁",
    ]
)


@given(NUMBERED, st.integers(1, 11), st.integers(1, 11))
def test_changing_a_number_never_merges(pattern: str, one: int, other: int) -> None:
    assume(one != other)
    assert decide(pattern.format(one), pattern.format(other)).kind is not MERGE


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_can_be_compared(one: str, other: str) -> None:
    assert decide(one, other).kind is decide(other, one).kind
    assert decide(one, one).kind is MERGE
