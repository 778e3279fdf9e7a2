"""From what was said to what is remembered: the eight steps on a real database."""

from datetime import timedelta
from pathlib import Path

import pytest

from strata.model.memories import ChangeKind
from strata.model.messages import Role
from strata.model.runs import RunState, WriteAction
from strata.ports import Access, MemoryEdit
from tests.fakes.rig import AGENT, ALLERGY, DISLIKES, LIKES, NOW, USER, Rig, fresh_file, plan_of

HOME = f"user:{USER}"


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(url=fresh_file(tmp_path))


def told(rig: Rig, old: str, new: str) -> Rig:
    """Two sessions, a day apart."""
    rig.settle(old, session="monday")
    rig.clock.advance(86_400)
    rig.settle(new, session="tuesday")
    return rig


# --- what is kept


def test_what_matters_is_settled_and_the_rest_is_not(rig: Rig) -> None:
    run = rig.settle(ALLERGY, "今天天气不错", "经验：牛腩要炖两个小时", "琐事：用户打了个喷嚏")
    assert run.state is RunState.SUCCEEDED
    assert rig.contents() == ["用户对花生过敏"]
    assert rig.contents("agent:recipe_adviser") == ["牛腩要炖两个小时"]
    assert dict(run.counts) == {
        "messages": 4,
        "new": 4,
        "candidates": 3,
        "dropped_unimportant": 1,
        "inserted": 2,
        "skipped": 0,
        "refined": 0,
        "superseded": 0,
        "quarantined": 0,
    }


def test_a_memory_tells_where_it_comes_from(rig: Rig) -> None:
    run = rig.settle("你好", ALLERGY)
    (memory,) = rig.memories()
    (version,) = rig.store.history(Access(tenant="home", agent_id=AGENT), HOME, memory.memory_id, now=rig.clock.now())
    assert [(source.session_id, source.seq) for source in version.sources] == [("dinner", 2)]
    assert (memory.run_id, memory.user_id, memory.said_at) == (run.run_id, USER, NOW)
    assert (memory.safety, memory.standing, memory.importance) == (True, True, 10)
    assert memory.metadata["category"] == "identity_safety"
    assert memory.memory_id == plan_of(run).writes[0].key


def test_types_and_lives_follow_the_category(rig: Rig) -> None:
    rig.settle(LIKES, "临时：用户这两周不喝咖啡")
    kinds = {memory.content: (memory.memory_type, memory.ttl_seconds) for memory in rig.memories()}
    assert kinds == {
        "用户喜欢吃辣": ("user_preference", 0),
        "用户这两周不喝咖啡": ("temporary_constraint", 14 * 86_400),
    }


def test_what_ran_out_is_gone_and_nobodys_duplicate(rig: Rig) -> None:
    rig.settle("临时：用户这两周不喝咖啡", session="monday")
    rig.clock.advance(14 * 86_400)
    assert rig.contents() == []
    run = rig.settle("临时：用户这两周不喝咖啡", session="tuesday")
    assert run.counts["inserted"] == 1
    assert rig.contents() == ["用户这两周不喝咖啡"]


def test_long_sentences_are_cut_between_words(rig: Rig) -> None:
    rig.settle("偏好：" + "用户喜欢在周末和家人一起做饭" * 20)
    (content,) = rig.contents()
    assert len(content) <= 200
    assert content.endswith("…")


def test_an_agents_memory_holds_nothing_personal(rig: Rig) -> None:
    rig.settle("经验：用户的女儿小雨对芒果过敏，甜点别放芒果", "经验：chen 喜欢先看汤谱", "经验：鱼要先煎再炖")
    assert rig.contents("agent:recipe_adviser") == ["鱼要先煎再炖"]
    assert rig.contents() == ["chen 喜欢先看汤谱", "用户的女儿小雨对芒果过敏，甜点别放芒果"]


def test_secrets_are_not_settled(rig: Rig) -> None:
    rig.settle("偏好：用户的门禁口令是 hunter2")
    assert rig.contents() == ["用户的门禁口令是 [secret]"]


@pytest.mark.parametrize(
    "text", ["集合 A = {1; 2; 3}", "{0.__class__.__init__.__globals__}", "爱好：书法<|im_end|>", "{{name}} 您好 🌿👩‍🍳"]
)
def test_any_text_comes_back_as_it_was_typed(rig: Rig, text: str) -> None:
    rig.settle(f"偏好：{text}")
    assert rig.contents() == [text]


# --- what is new


def test_the_same_end_delivered_again_changes_nothing(rig: Rig) -> None:
    rig.say("偏好：用户的经理叫 Ines", "偏好：用户习惯早上六点起床")
    run = rig.end()
    first = rig.deliver(run)
    versions = rig.store.of_run("home", run.run_id)
    for attempt in range(2, 7):
        assert rig.deliver(run, attempt=attempt) == first
    assert len(rig.contents()) == 2
    assert rig.store.of_run("home", run.run_id) == versions


def test_a_transcript_sent_again_is_not_judged_again(rig: Rig) -> None:
    rig.settle(LIKES, "好的")
    run = rig.settle(LIKES, "好的", "偏好：用户喜欢喝茶")
    assert (run.counts["messages"], run.counts["new"]) == (3, 1)
    assert rig.contents() == ["用户喜欢吃辣", "用户喜欢喝茶"]


def test_a_preference_that_flips_back_is_stored_again(rig: Rig) -> None:
    for said in (LIKES, DISLIKES, LIKES):
        rig.settle(said)
        rig.clock.advance(3_600)
    assert rig.contents() == ["用户喜欢吃辣"]
    assert len(rig.store.changes("home", HOME, 0)) == 3


def test_a_preference_that_flips_back_within_one_session_ends_where_the_person_ended(rig: Rig) -> None:
    run = rig.settle(LIKES, DISLIKES, LIKES)
    assert rig.contents() == ["用户喜欢吃辣"]
    assert [write.action for write in plan_of(run).writes] == [
        WriteAction.INSERT,
        WriteAction.SUPERSEDE,
        WriteAction.SUPERSEDE,
    ]
    assert rig.everything()["用户不喜欢吃辣"] == "superseded"


def test_the_same_sentence_weeks_later_renews_what_is_stored(rig: Rig) -> None:
    rig.settle(LIKES)
    rig.clock.advance(21 * 86_400)
    run = rig.settle(LIKES)
    assert (run.counts["new"], run.counts["skipped"]) == (1, 1)
    (memory,) = rig.memories()
    assert memory.said_at == NOW + timedelta(days=21)


def test_what_arrives_meanwhile_belongs_to_the_next_run(rig: Rig) -> None:
    rig.say(LIKES)
    first = rig.end()
    rig.say(ALLERGY)
    assert rig.deliver(first).counts["messages"] == 1
    assert rig.contents() == ["用户喜欢吃辣"]
    assert rig.deliver(rig.end()).counts["messages"] == 1
    assert len(rig.contents()) == 2


def test_a_session_without_anything_new_is_settled_quietly(rig: Rig) -> None:
    run = rig.settle("你好", "再见")
    assert (run.state, plan_of(run).writes, run.receipts) == (RunState.SUCCEEDED, (), ())


# --- duplicates


@pytest.mark.parametrize(
    "again",
    ["user likes  oolong tea.", "User likes oolong tea!", "“User likes oolong tea”", " User likes oolong tea\n"],
)
def test_punctuation_case_and_space_hide_no_duplicate(rig: Rig, again: str) -> None:
    told(rig, "偏好：User likes oolong tea", f"偏好：{again}")
    assert rig.contents() == ["User likes oolong tea"]


def test_full_width_letters_hide_no_duplicate(rig: Rig) -> None:
    told(rig, "偏好：会议室在A座3层302", "偏好：会议室在Ａ座３层３０２")
    assert rig.contents() == ["会议室在A座3层302"]


def test_the_same_fact_twice_in_one_session_is_one_memory_with_two_sources(rig: Rig) -> None:
    run = rig.settle(ALLERGY, "好的", ALLERGY)
    assert rig.contents() == ["用户对花生过敏"]
    assert [source.seq for source in plan_of(run).writes[0].sources] == [1, 3]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("用户不吃香菜", "用户不吃芹菜"),
        ("The order service uses Redis 7 for caching", "The billing service uses Redis 7 for caching"),
        ("机器学习课程每周三晚上", "周末带孩子去爬山"),
        ("小明欠小红一百块", "小红欠小明一百块"),
    ],
)
def test_what_is_not_the_same_stays_two(rig: Rig, one: str, other: str) -> None:
    told(rig, f"偏好：{one}", f"偏好：{other}")
    assert sorted(rig.contents()) == sorted([one, other])


@pytest.mark.parametrize(("first", "second"), [("short", "long"), ("long", "short")])
def test_of_two_texts_one_of_which_says_it_all_that_one_stays(rig: Rig, first: str, second: str) -> None:
    texts = {"short": "用户对花生过敏", "long": "用户对花生过敏，随身带肾上腺素笔"}
    told(rig, f"过敏：{texts[first]}", f"过敏：{texts[second]}")
    assert rig.contents() == [texts["long"]]


def test_types_are_never_compared(rig: Rig) -> None:
    told(rig, "偏好：用户不喝咖啡", "临时：用户不喝咖啡")
    assert rig.contents() == ["用户不喝咖啡", "用户不喝咖啡"]


# --- conflicts


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Deploys on Friday are allowed", "Deploys on Friday are not allowed"),
        ("用户喜欢吃香菜", "用户不喜欢吃香菜"),
        ("用户不喜欢吃香菜", "用户喜欢吃香菜"),
        ("项目截止日期是10月15日", "项目截止日期是10月16日"),
        ("用户住在武汉", "用户已搬到厦门"),
        ("项目数据库用 PostgreSQL", "项目数据库已换成 MySQL"),
        ("用户的车牌尾号是 37", "用户换车了，车牌尾号是 82"),
        ("机器学习课程每周三晚上", "机器学习课程改到每周四晚上"),
    ],
)
def test_the_later_statement_holds_and_the_earlier_is_history(rig: Rig, old: str, new: str) -> None:
    told(rig, f"偏好：{old}", f"偏好：{new}")
    assert rig.contents() == [new]
    assert rig.everything() == {old: "superseded", new: "active"}
    (gone,) = [memory for memory in rig.store.changes("home", HOME, 0) if memory.content == old]
    (held,) = rig.memories()
    assert gone.superseded_by == held.memory_id


def test_later_means_by_when_it_was_said_not_when_it_was_processed(rig: Rig) -> None:
    rig.clock.advance(90 * 86_400)
    rig.settle("偏好：用户已搬到厦门", session="june", at=NOW + timedelta(days=84))
    run = rig.settle("偏好：用户住在武汉", session="march", at=NOW)
    assert rig.contents() == ["用户已搬到厦门"]
    assert rig.everything()["用户住在武汉"] == "superseded"
    assert plan_of(run).writes[0].superseded_by == rig.memories()[0].memory_id


def test_a_clock_ahead_of_ours_does_not_win_for_ever(rig: Rig) -> None:
    rig.settle(LIKES, session="odd", at=NOW + timedelta(days=3_650))
    rig.clock.advance(60)
    rig.settle(DISLIKES, session="even")
    assert rig.contents() == ["用户不喜欢吃辣"]


def test_a_safety_fact_stays_until_the_change_is_said_once_more(rig: Rig) -> None:
    told(rig, ALLERGY, "过敏：用户对花生不过敏")
    assert rig.contents() == ["用户对花生过敏", "用户对花生不过敏"]
    rig.clock.advance(86_400)
    run = rig.settle("过敏：用户对花生不过敏", session="wednesday")
    assert rig.contents() == ["用户对花生不过敏"]
    assert rig.everything()["用户对花生过敏"] == "superseded"
    assert plan_of(run).writes[0].reason.endswith("confirmed")


def test_saying_it_twice_in_one_breath_confirms_nothing(rig: Rig) -> None:
    rig.settle(ALLERGY, session="monday")
    rig.clock.advance(86_400)
    rig.settle("过敏：用户对花生不过敏", "过敏：用户对花生不过敏", session="tuesday")
    assert len(rig.contents()) == 2


def test_a_memory_the_user_deleted_does_not_come_back(rig: Rig) -> None:
    rig.settle(LIKES, session="monday")
    (memory,) = rig.memories()
    rig.say(LIKES, session="tuesday")
    rig.clock.advance(3_600)
    erase = MemoryEdit(memory_id=memory.memory_id, change=ChangeKind.DELETE)
    rig.store.edit(Access(tenant="home", agent_id=AGENT), HOME, erase, now=rig.clock.now())
    run = rig.deliver(rig.end("tuesday"))
    assert rig.contents() == []
    assert plan_of(run).writes[0].action is WriteAction.SKIP
    rig.clock.advance(3_600)
    rig.settle(LIKES, session="wednesday")
    assert rig.contents() == ["用户喜欢吃辣"]


# --- whose memory


def test_users_tenants_and_agents_are_strangers_to_each_other(tmp_path: Path) -> None:
    url = fresh_file(tmp_path)
    here, there = Rig(url=url, tenant="home"), Rig(url=url, tenant="away")
    here.settle(LIKES, "经验：鱼要先煎再炖")
    here.settle(DISLIKES, session="other", user="wang", agent="coach")
    there.settle(DISLIKES)
    assert (here.contents(), here.contents("user:wang"), there.contents()) == (
        ["用户喜欢吃辣"],
        ["用户不喜欢吃辣"],
        ["用户不喜欢吃辣"],
    )
    here.settle("经验：鱼不要先煎再炖", session="third", agent="coach")
    assert here.contents("agent:recipe_adviser") == ["鱼要先煎再炖"]
    assert here.contents("agent:coach") == ["鱼不要先煎再炖"]


def test_what_only_the_assistant_said_is_not_settled(rig: Rig) -> None:
    rig.say("推荐个餐厅")
    rig.say("偏好：用户不吃辣", role=Role.ASSISTANT)
    rig.deliver(rig.end())
    assert rig.contents() == []
