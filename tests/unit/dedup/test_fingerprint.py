"""The text a memory is compared by."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from strata.dedup.fingerprint import canonical, fingerprint, normalise

SAME = [
    pytest.param("会议室在A座3层302", "会议室在Ａ座３层３０２", id="width"),
    pytest.param("用户喜欢喝绿茶", "用户\u200b喜欢喝绿茶", id="zero-width space"),
    pytest.param("用户喜欢喝绿茶", "\ufeff用户喜欢喝\u2060绿茶", id="byte-order mark and word joiner"),
    pytest.param("User likes oolong tea", "user likes  oolong tea.", id="case, blanks, full stop"),
    pytest.param("User likes oolong tea", "“User likes oolong tea”", id="quotes"),
    pytest.param("User likes oolong tea", " User likes oolong tea!\n", id="exclamation mark and line end"),
    pytest.param("用户对花生过敏", "用戶對花生過敏", id="traditional"),
    pytest.param("用户每天九点睡觉", "用户每天9点睡觉", id="Chinese numeral before a counter"),
    pytest.param("生日是五月十二号", "生日是5月12日", id="date in words"),
    pytest.param("Birthday is May 12", "Birthday is 12 May", id="month and day"),
    pytest.param("Takes two pills", "takes 2 pills", id="number word"),
    pytest.param("User can't swim", "User cannot swim", id="contraction"),
    pytest.param("用户不吃香菜", "不吃香菜", id="Chinese subject prefix"),
    pytest.param("The user likes tea", "likes tea", id="English subject prefix"),
    pytest.param("和用户确认不要香菜", "不要香菜", id="confirmed with the user"),
    pytest.param("Budget is 1,000 euros", "budget is 1000 euros", id="thousands"),
    pytest.param("工资是一万五", "工资是15000", id="colloquial myriad"),
    pytest.param("❤️ tea", "❤ tea", id="variation selector"),
]

DIFFERENT = [
    pytest.param("不吃香菜", "不吃芹菜", id="another herb"),
    pytest.param("能吃花生", "能吃花生？", id="a question"),
    pytest.param("不，吃香菜", "不吃香菜", id="where the clause ends"),
    pytest.param("项目A", "项目B", id="letter"),
    pytest.param("3.5 kg", "35 kg", id="decimal point"),
    pytest.param("三文鱼", "四文鱼", id="a numeral that is no number"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spelling_hides_no_sameness(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_differs_stays_different(one: str, other: str) -> None:
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize("text", ["用户", "the user", "我", ""])
def test_a_text_that_is_only_a_prefix_keeps_it(text: str) -> None:
    assert normalise(text) == text


def test_a_fingerprint_is_a_digest_that_stays() -> None:
    assert fingerprint("User likes tea") == "50f5f279425da6b804f2885cc042bf9ee88aabfd6c1f13b27cd37e38f9084bb8"


@given(st.text(max_size=60))
@example("ﬁ\u200dx")
@example("1,000,000.5 kg、２月３０号")
@example("I'm a user's user")
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)
    assert normalise(normalise(text)) == normalise(text)


WORDS = st.lists(
    st.sampled_from("用户 不 喜欢 香菜 九点 每天 三 个 user the likes can't two second May 12 A , ？ 3.5 kg".split()),
    max_size=8,
).map("".join)


@given(WORDS)
def test_normalising_made_up_sentences_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)
