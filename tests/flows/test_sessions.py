"""Sessions: appended, read, shared, ended. The database is the truth and the cache never shows."""

import hashlib
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from strata import config
from strata.clock import SystemClock
from strata.errors import (
    CacheUnavailableError,
    ForbiddenError,
    MessageConflictError,
    NotFoundError,
    PayloadTooLargeError,
    ValidationError,
)
from strata.model.messages import Kind, NewMessage, Role
from strata.model.runs import Run, RunNotice, RunState
from strata.model.sessions import SessionKey, SessionState
from strata.storage.cache_clients import connector
from strata.storage.engine import Database, open_database
from strata.storage.schema import migrate
from strata.tokens.counter import TokenCounter
from tests.fakes.sessions import Desk, FlakyCache, access

names = (f"flow-{number}" for number in count())


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("sessions") / "strata.db"
    opened = open_database(config.Database(url=f"sqlite:///{path}"), SystemClock())
    migrate(opened)
    yield opened
    opened.close()


@pytest.fixture
def cache() -> FlakyCache:
    return FlakyCache()


@pytest.fixture
def desk(database: Database, cache: FlakyCache) -> Desk:
    return Desk(database, cache, SystemClock())


@pytest.fixture
def key() -> SessionKey:
    return SessionKey(tenant="home", session_id=next(names))


# --- append and read


def test_the_window_is_the_same_warm_and_cold(desk: Desk, key: SessionKey) -> None:
    for number in range(50):
        desk.say(key, f"今天几号？{number}")
        desk.say(key, f"3 月 {number} 号。", role=Role.ASSISTANT)
    warm = desk.read(key, rounds=40).window
    desk.cache.drop(key)
    cold = desk.read(key, rounds=40).window
    assert warm == cold
    assert [message.seq for message in warm.messages] == list(range(1, 101))


def test_a_window_has_as_many_messages_as_its_rounds_allow(desk: Desk, key: SessionKey) -> None:
    desk.say(key, *(f"m{number}" for number in range(1, 51)))
    assert [message.seq for message in desk.read(key, rounds=2).window.messages] == list(range(45, 51))


def test_a_longer_window_than_the_cache_holds_is_read_from_the_database(
    database: Database, cache: FlakyCache, key: SessionKey
) -> None:
    desk = Desk(database, cache, SystemClock(), list_length=10)
    desk.say(key, *(f"m{number}" for number in range(1, 31)))
    assert len(desk.read(key, rounds=10).window.messages) == 30


def test_tokens_and_digest_are_computed_once(desk: Desk, key: SessionKey) -> None:
    (stored,) = desk.say(key, "不吃香菜").messages
    assert stored.digest == hashlib.md5("user:不吃香菜".encode(), usedforsecurity=False).hexdigest()
    assert stored.tokens == TokenCounter().count_message(NewMessage(role=Role.USER, content="不吃香菜"))
    assert desk.read(key).window.tokens == stored.tokens


def test_an_unknown_session_has_an_empty_window(desk: Desk, key: SessionKey) -> None:
    short = desk.read(key)
    assert (short.window.messages, short.window.tokens, dict(short.working), short.degraded) == ((), 0, {}, ())


def test_a_stub_after_expiry_is_completed_from_the_database(desk: Desk, key: SessionKey) -> None:
    desk.say(key, *(f"m{number}" for number in range(1, 7)))
    client = connector(config.Cache())()
    client.delete(*client.keys("*:messages"))
    desk.say(key, "m7")
    assert desk.contents(key) == [f"m{number}" for number in range(1, 8)]
    assert all(client.ttl(name) > 0 for name in client.keys("*"))


def test_a_control_string_goes_in_and_out_as_text(desk: Desk, key: SessionKey) -> None:
    said = "请解释 <|endoftext|> 在训练数据里的作用"
    desk.say(key, said)
    assert desk.contents(key) == [said]
    assert desk.end(key, "cook").upto_seq == 1


def test_a_call_without_text_stays_with_its_result(desk: Desk, key: SessionKey) -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"杭州"}'}}
    desk.say(key, "杭州明天下雨吗")
    desk.say(key, None, role=Role.ASSISTANT, tool_calls=(call,))
    desk.say(key, "小雨 12-17°C", role=Role.TOOL, tool_call_id="t1")
    assert [message.content for message in desk.read(key).window.messages] == ["杭州明天下雨吗", None, "小雨 12-17°C"]
    assert desk.read(key).window.messages[1].tool_calls == (call,)


def test_a_newest_message_beyond_the_window_is_cut(desk: Desk, key: SessionKey) -> None:
    desk.say(key, "一", "二", "三", "四", "五")
    desk.say(key, "请逐条核对下面的合同条款，" * 600)
    window = desk.read(key, max_tokens=200).window
    assert window.truncated_seq == 6
    assert 0 < window.tokens <= 200


def test_without_a_vocabulary_the_window_still_fits_real_tokens(
    database: Database, cache: FlakyCache, key: SessionKey
) -> None:
    desk = Desk(database, cache, SystemClock(), counter=TokenCounter(lambda: None))
    desk.say(key, *(f"{number}今天下午和客户确认了合同里的付款条款并约好下周再谈" for number in range(60)))
    window = desk.read(key, max_tokens=1_000).window
    assert window.messages
    assert sum(TokenCounter().count_message(message) for message in window.messages) <= 1_000


# --- retries


def test_a_retry_is_answered_like_the_first_time(desk: Desk, key: SessionKey) -> None:
    first = desk.say(key, "请把周四的会改到下午三点", message_id="cm-7f1")
    desk.say(key, "后来的")
    again = desk.say(key, "请把周四的会改到下午三点", message_id="cm-7f1")
    assert (again.messages, again.replayed, again.last_seq) == (first.messages, 1, 2)
    with pytest.raises(MessageConflictError):
        desk.say(key, "请把周四的会取消", message_id="cm-7f1")
    assert desk.contents(key) == ["请把周四的会改到下午三点", "后来的"]


def test_an_old_message_sent_again_after_expiry_is_not_taken_for_the_newest(desk: Desk, key: SessionKey) -> None:
    desk.say(key, "m1", message_id="1")
    desk.say(key, "m2", "m3")
    connector(config.Cache())().flushall()
    assert desk.say(key, "m1", message_id="1").replayed == 1
    assert desk.contents(key) == ["m1", "m2", "m3"]
    connector(config.Cache())().flushall()
    batch = [NewMessage(role=Role.USER, content=text, message_id=text[1]) for text in ("m1", "m4")]
    assert desk.append(key, "ann", "cook", batch).replayed == 1
    assert desk.contents(key) == ["m1", "m2", "m3", "m4"]


# --- what cannot be stored


@pytest.mark.parametrize(
    "fields",
    [
        {"content": "上传完成 \ud83d"},
        {"content": "a\x00b"},
        {"content": ({"type": "text", "text": "\ud83d"},)},
        {"content": None},
        {"content": "a", "metadata": {"\x00": 1}},
        {"content": "a", "metadata": {"n": float("nan")}},
        {"content": "a", "metadata": {"n": object()}},
        {"content": "a", "tool_calls": ({"id": "\ude00"},)},
        {"content": "a", "message_id": "m" * 129},
        {"content": "a", "message_id": "a\nb"},
        {"content": "a", "message_id": ""},
        {"content": "a", "name": "\x7f"},
    ],
)
def test_what_no_store_keeps_is_refused_and_the_session_goes_on(
    desk: Desk, key: SessionKey, fields: dict[str, Any]
) -> None:
    fine = NewMessage(role=Role.USER, content="fine")
    with pytest.raises(ValidationError):
        desk.append(key, "ann", "cook", [fine, NewMessage(role=Role.USER, **fields)])
    assert desk.store.get(key) is None
    assert desk.say(key, "好").last_seq == 1


def test_ids_and_numbers_are_checked(desk: Desk, key: SessionKey) -> None:
    for session_id, user in [("s" * 129, "ann"), ("a\x00", "ann"), ("", "ann"), ("s", ""), ("s", "a\tb")]:
        with pytest.raises(ValidationError):
            desk.say(SessionKey(tenant="home", session_id=session_id), "a", user=user)
    for number in (0, 101):
        with pytest.raises(ValidationError):
            desk.say(key, *["a"] * number)
    assert desk.say(key, *["a"] * 100).last_seq == 100


# --- sub-agents


def test_a_sub_agents_session_keeps_chat_only_and_says_so(desk: Desk) -> None:
    key = SessionKey(tenant="home", session_id=f"agent:{next(names)}")
    mixed = [
        NewMessage(role=Role.USER, content="查库存"),
        NewMessage(role=Role.TOOL, content="42 件", kind=Kind.TOOL),
        NewMessage(role=Role.SYSTEM, content="started", kind=Kind.EVENT),
        NewMessage(role=Role.ASSISTANT, content="还有 42 件"),
    ]
    answered = desk.append(key, "ann", "cook", mixed)
    assert [message.seq for message in answered.messages] == [1, 2]
    assert [(one.index, one.reason.split()[0]) for one in answered.skipped] == [(1, "kind=tool"), (2, "kind=event")]
    assert desk.contents(key) == ["查库存", "还有 42 件"]
    nothing = desk.append(key, "ann", "cook", mixed[1:3])
    assert (nothing.messages, nothing.last_seq, len(nothing.skipped)) == ((), 2, 2)
    with pytest.raises(NotFoundError):
        desk.append(key, "bob", "cook", mixed[1:3])


# --- who may


def test_strangers_find_nothing(desk: Desk, key: SessionKey) -> None:
    desk.say(key, "mine")
    desk.working.put(key, "cook", {"a": 1})
    for user, agent in [("bob", "cook"), ("ann", "shopper")]:
        with pytest.raises(NotFoundError):
            desk.say(key, "x", user=user, agent=agent)
        with pytest.raises(NotFoundError):
            desk.read(key, user=user, agent=agent)
        with pytest.raises(NotFoundError):
            desk.page(key, agent, limit=5, user_id=user)
        with pytest.raises(NotFoundError):
            desk.get(key, agent, user_id=user)
        with pytest.raises(NotFoundError):
            desk.end(key, agent, user_id=user)
        with pytest.raises(NotFoundError):
            desk.working.get(key, agent, user_id=user)
        with pytest.raises(NotFoundError):
            desk.working.put(key, agent, {}, user_id=user)
    assert desk.contents(key) == ["mine"]


def test_participants_take_part_until_they_are_withdrawn(desk: Desk, key: SessionKey) -> None:
    desk.say(key, "mine")
    changed = desk.participants(key, "cook", ["shopper", "coach", "shopper", "cook"])
    assert changed.participants == ("shopper", "coach")
    desk.say(key, "ours", agent="shopper")
    assert desk.contents(key, agent="coach") == ["mine", "ours"]
    with pytest.raises(ForbiddenError):
        desk.participants(key, "shopper", [])
    with pytest.raises(NotFoundError):
        desk.participants(key, "stranger", [])
    desk.participants(key, "cook", [])
    with pytest.raises(NotFoundError):
        desk.read(key, agent="coach")
    with pytest.raises(NotFoundError):
        desk.say(key, "no more", agent="coach")


def test_participants_are_checked(desk: Desk, key: SessionKey) -> None:
    desk.say(key, "mine")
    with pytest.raises(ValidationError):
        desk.participants(key, "cook", ["a\nb"])
    with pytest.raises(ValidationError):
        desk.participants(key, "cook", [f"a{number}" for number in range(101)])


# --- pages


def test_messages_are_paged_backwards(desk: Desk, key: SessionKey) -> None:
    desk.say(key, *(f"m{number}" for number in range(1, 8)))
    newest = desk.page(key, "cook", limit=3)
    older = desk.page(key, "cook", limit=3, before_seq=newest[0].seq)
    oldest = desk.page(key, "cook", limit=3, before_seq=older[0].seq)
    assert [[message.seq for message in page] for page in (oldest, older, newest)] == [[1], [2, 3, 4], [5, 6, 7]]
    assert desk.get(key, "cook").last_seq == 7


# --- ends


def test_an_end_queues_references_once(desk: Desk, key: SessionKey) -> None:
    desk.say(key, *["付" * 500] * 100)
    run = desk.end(key, "cook")
    assert desk.end(key, "cook") == run
    notice = RunNotice(tenant="home", session_id=key.session_id, run_id=run.run_id, upto_seq=100)
    assert desk.queue.sent == {f"{run.run_id}:100": notice}
    assert len(str(notice)) < 1_000


def test_an_end_that_the_queue_does_not_hear_of_stays_queued(desk: Desk, key: SessionKey) -> None:
    desk.say(key, "m1")
    desk.queue.reachable = False
    run = desk.end(key, "cook")
    assert run.state is RunState.QUEUED
    desk.queue.reachable = True
    assert desk.end(key, "cook").run_id == run.run_id
    assert len(desk.queue.sent) == 1


def test_a_session_is_resumed_and_ended_again(desk: Desk, key: SessionKey) -> None:
    desk.say(key, "m1")
    first = desk.end(key, "cook")
    assert desk.get(key, "cook").state is SessionState.ENDED
    assert desk.resume(key, "cook").state is SessionState.OPEN
    desk.say(key, "m2")
    second = desk.end(key, "cook")
    assert (first.upto_seq, second.from_seq, second.upto_seq) == (1, 2, 2)
    with pytest.raises(NotFoundError):
        desk.end(SessionKey(tenant="home", session_id="never"), "cook")


def test_ending_again_gives_a_run_that_stopped_another_chance(desk: Desk, key: SessionKey) -> None:
    desk.say(key, "m1")
    failed = desk.end(key, "cook")
    stop(desk, failed)
    again = desk.end(key, "cook")
    assert (again.run_id, again.state, again.attempts) == (failed.run_id, RunState.QUEUED, 0)
    assert [notice.run_id for notice in desk.queue.sent.values()] == [failed.run_id] * 2
    assert desk.end(key, "cook").run_id == failed.run_id
    assert len(desk.queue.sent) == 2


def test_what_stopped_comes_behind_what_is_new(desk: Desk, key: SessionKey) -> None:
    desk.say(key, "m1")
    failed = desk.end(key, "cook")
    stop(desk, failed)
    desk.say(key, "m2")
    newer = desk.end(key, "cook")
    assert (newer.from_seq, newer.upto_seq) == (2, 2)
    sent = [notice.run_id for notice in desk.queue.sent.values()]
    assert sent == [failed.run_id, newer.run_id, failed.run_id]


def stop(desk: Desk, run: Run) -> None:
    """Let a worker take a run and fail with it."""
    now = desk.clock.now()
    taken = desk.runs.claim("home", run.run_id, seconds=90, now=now)
    assert taken is not None
    desk.runs.fail(taken[1], "home", RunState.PARKED, error_code="internal", error_detail="", now=now)


# --- the scratch


def test_the_scratch_comes_with_the_window(desk: Desk, key: SessionKey) -> None:
    with pytest.raises(NotFoundError):
        desk.working.put(key, "cook", {"early": True})
    desk.say(key, "m1")
    assert dict(desk.working.get(key, "cook")) == {}
    desk.working.put(key, "cook", {"step": 2, "问题": "牛肉怎么炖？"}, ttl_seconds=60)
    assert desk.read(key).working == desk.working.get(key, "cook") == {"step": 2, "问题": "牛肉怎么炖？"}
    desk.working.delete(key, "cook")
    assert dict(desk.read(key).working) == {}


def test_the_scratch_is_limited_in_bytes(desk: Desk, key: SessionKey) -> None:
    desk.say(key, "m1")
    desk.working.put(key, "cook", {"t": "很" * 21_000})
    with pytest.raises(PayloadTooLargeError):
        desk.working.put(key, "cook", {"t": "很" * 22_000})
    with pytest.raises(ValidationError):
        desk.working.put(key, "cook", {"t": "\ud83d"})


# --- a cache that fails


def test_without_a_cache_everything_but_the_scratch_works(desk: Desk, cache: FlakyCache, key: SessionKey) -> None:
    desk.say(key, "m1")
    cache.link.cut = True
    assert desk.say(key, "m2").cached is False
    short = desk.read(key)
    assert [message.content for message in short.window.messages] == ["m1", "m2"]
    assert [(one.part, one.code) for one in short.degraded] == [("working", "cache_unavailable")]
    with pytest.raises(CacheUnavailableError):
        desk.working.get(key, "cook")
    assert desk.participants(key, "cook", ["coach"]).participants == ("coach",)
    assert desk.end(key, "cook").upto_seq == 2
    cache.link.cut = False
    assert desk.contents(key) == ["m1", "m2"]


def test_a_push_that_was_lost_without_a_word_is_noticed_when_the_list_is_checked(
    database: Database, key: SessionKey
) -> None:
    cautious = FlakyCache(config.Cache(verify_seconds=0))
    desk = Desk(database, cautious, SystemClock())
    desk.say(key, "m1")
    cautious.forgetful = True
    desk.say(key, "m2")
    assert desk.contents(key) == ["m1", "m2"]


def test_a_later_push_reveals_a_lost_one(desk: Desk, cache: FlakyCache, key: SessionKey) -> None:
    desk.say(key, "m1")
    cache.forgetful = True
    desk.say(key, "m2")
    cache.forgetful = False
    desk.say(key, "m3")
    assert desk.contents(key) == ["m1", "m2", "m3"]


def test_access_names_the_tenant(desk: Desk, key: SessionKey) -> None:
    desk.say(key, "mine")
    elsewhere = SessionKey(tenant="elsewhere", session_id=key.session_id)
    assert desk.window(access(elsewhere, "cook"), key.session_id, "ann", rounds=5, max_tokens=100).window.messages == ()
