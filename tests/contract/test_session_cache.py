"""The session cache is true or empty: in this process and on a real Redis."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strata import config
from strata.clock import FakeClock, SystemClock
from strata.errors import CacheUnavailableError, ConfigurationError
from strata.model.messages import Kind, Message, Role
from strata.model.sessions import Session, SessionKey, SessionState, Summary
from strata.storage.cache import RedisSessionCache, open_cache
from strata.storage.cache_clients import connector
from tests.servers.caches import RedisCluster, RedisServer, TlsNode

NOW = datetime(2026, 3, 10, 8, 0, tzinfo=UTC)
names = (f"s-{number}" for number in count())


@pytest.fixture
def settings_of_cache(cache_url: str) -> config.Cache:
    return config.Cache(url=cache_url, list_length=20)


@pytest.fixture
def cache(settings_of_cache: config.Cache) -> Iterator[RedisSessionCache]:
    opened = open_cache(settings_of_cache, SystemClock())
    yield opened
    opened.close()


@pytest.fixture
def raw(settings_of_cache: config.Cache) -> Iterator[Any]:
    """A client of its own, to look behind the cache's back. The cache is empty then."""
    client = connector(settings_of_cache)()
    client.flushall()
    yield client
    client.close()


@pytest.fixture
def session() -> Session:
    return opened(next(names))


def opened(session_id: str, *, at: datetime = NOW) -> Session:
    return Session(
        key=SessionKey(tenant="home", session_id=session_id),
        user_id="ann",
        agent_id="cook",
        participants=("shopper", "买手"),
        state=SessionState.OPEN,
        last_seq=0,
        created_at=at,
        updated_at=at,
        zone="Asia/Shanghai",
    )


def messages(*seqs: int, text: str = "第{}条 🧾") -> list[Message]:
    return [
        Message(
            seq=seq,
            role=Role.USER,
            content=text.format(seq),
            kind=Kind.CHAT,
            message_id=f"m{seq}",
            agent_id="cook",
            tokens=seq,
            digest="d" * 32,
            created_at=NOW + timedelta(seconds=seq, microseconds=seq % 2),
            said_at=NOW,
        )
        for seq in seqs
    ]


def at(session: Session, last_seq: int, **changes: Any) -> Session:
    return replace(session, last_seq=last_seq, **changes)


def push(cache: RedisSessionCache, session: Session, *seqs: int) -> None:
    cache.push(at(session, seqs[-1]), messages(*seqs))


def refill(cache: RedisSessionCache, session: Session, *seqs: int) -> None:
    cache.refill(at(session, seqs[-1]), messages(*seqs))


def seqs(cache: RedisSessionCache, session: Session, limit: int) -> list[int] | None:
    """Return the cached seqs; None = ask the database."""
    found = cache.load(session.key, limit)
    return None if found.session is None else [message.seq for message in found.messages]


def keys_of(raw: Any, part: str = "*") -> list[bytes]:
    return sorted(raw.keys(f"strata:*:{part}"))


# --- the list


def test_nothing_is_known_at_first(cache: RedisSessionCache, session: Session) -> None:
    found = cache.load(session.key, 10)
    assert (found.session, found.messages, dict(found.working)) == (None, (), {})


def test_what_was_pushed_is_loaded_whole(cache: RedisSessionCache, session: Session) -> None:
    push(cache, session, 1, 2)
    push(cache, session, 3)
    found = cache.load(session.key, 60)
    assert found.session == at(session, 3)
    assert list(found.messages) == messages(1, 2, 3)
    assert found.fresh


def test_calls_parts_and_metadata_survive(cache: RedisSessionCache, session: Session) -> None:
    (plain,) = messages(1)
    rich = replace(
        plain,
        content=({"type": "text", "text": "看"},),
        name="ann",
        tool_calls=({"id": "t1", "function": {"arguments": '{"city":"杭州"}'}},),
        tool_call_id="t0",
        metadata={"来源": ["手机", None]},
        kind=Kind.TOOL,
        role=Role.ASSISTANT,
    )
    silent = replace(plain, seq=2, content=None)
    cache.push(at(session, 2), [rich, silent])
    assert list(cache.load(session.key, 2).messages) == [rich, silent]


def test_newest_first_in_the_list_and_chinese_in_three_bytes(
    cache: RedisSessionCache, session: Session, raw: Any
) -> None:
    cache.push(at(session, 2), messages(1, 2, text="{}" + "今天下午和客户确认了合同里的付款条款" * 40))
    newest, oldest = raw.lrange(keys_of(raw, "messages")[0], 0, -1)
    assert newest.startswith(b"[2,")
    assert oldest.startswith(b"[1,")
    assert "今天下午".encode() in newest
    assert len(newest) < 3 * 40 * 20 + 300


def test_the_last_ones_are_the_same_warm_and_refilled(cache: RedisSessionCache, session: Session) -> None:
    push(cache, session, 1, 2, 3, 4, 5, 6)
    assert seqs(cache, session, 3) == [4, 5, 6]
    other = opened(next(names))
    refill(cache, other, 4, 5, 6)
    assert seqs(cache, other, 3) == [4, 5, 6]
    push(cache, other, 7)
    assert seqs(cache, other, 3) == [5, 6, 7]


def test_the_list_is_cut(cache: RedisSessionCache, session: Session, raw: Any) -> None:
    push(cache, session, *range(1, 51))
    assert raw.llen(keys_of(raw, "messages")[0]) == 20
    assert seqs(cache, session, 20) == list(range(31, 51))
    assert seqs(cache, session, 21) is None


def test_a_stub_after_expiry_is_not_taken_for_the_session(cache: RedisSessionCache, session: Session, raw: Any) -> None:
    push(cache, session, 1, 2, 3, 4, 5, 6)
    raw.delete(*keys_of(raw, "messages"))
    push(cache, session, 7)
    assert seqs(cache, session, 7) is None
    raw.delete(*keys_of(raw))
    push(cache, session, 8)
    assert seqs(cache, session, 7) is None
    assert seqs(cache, session, 1) == [8]


def test_every_key_shares_a_tag_and_has_a_time_to_live(cache: RedisSessionCache, session: Session, raw: Any) -> None:
    push(cache, session, 1)
    refill(cache, at(session, 2, summary=Summary(text="s", tokens=1, upto_seq=1, created_at=NOW)), 1, 2)
    cache.put_working(session.key, {"a": 1}, 60)
    cache.remember_digests(session.key, ["d"], 60)
    cache.lock(session.key, "t", 60)
    keys = keys_of(raw)
    assert len(keys) == 6
    assert len({key.partition(b"{")[2].partition(b"}")[0] for key in keys}) == 1
    assert all(0 < raw.ttl(key) <= 86_400 for key in keys)


@pytest.mark.parametrize(
    "ids",
    [
        ("a", "b:c", "a:b", "c"),
        ("t", "{x}", "t", "x"),
        ("ab", "c", "a", "bc"),
        ("1", "1:x", "11", ":x"),
        ("t", "*", "t", "a"),
    ],
)
def test_ids_neither_collide_nor_break_the_tag(cache: RedisSessionCache, ids: tuple[str, str, str, str]) -> None:
    one, other = (
        replace(opened("x"), key=SessionKey(tenant=tenant, session_id=name)) for tenant, name in (ids[:2], ids[2:])
    )
    cache.drop(one.key)
    push(cache, opened("unrelated"), 1)
    other = replace(other, created_at=NOW + timedelta(days=1))
    push(cache, other, 1)
    assert seqs(cache, one, 1) is None
    assert seqs(cache, other, 1) == [1]


# --- repeats, gaps, races


def test_a_push_that_is_sent_twice_is_there_once(cache: RedisSessionCache, session: Session) -> None:
    push(cache, session, 1, 2)
    push(cache, session, 1, 2)
    push(cache, session, 2, 3)
    assert seqs(cache, session, 3) == [1, 2, 3]


def test_a_gap_empties_the_list(cache: RedisSessionCache, session: Session) -> None:
    push(cache, session, 1, 2)
    push(cache, session, 4)
    assert seqs(cache, session, 4) is None
    assert seqs(cache, session, 2) is None
    push(cache, session, 3)
    assert seqs(cache, session, 4) is None
    refill(cache, session, 1, 2, 3, 4)
    assert seqs(cache, session, 4) == [1, 2, 3, 4]


def test_a_slow_refill_does_not_overwrite_a_newer_push(cache: RedisSessionCache, session: Session) -> None:
    push(cache, session, 11)
    refill(cache, session, *range(1, 11))
    assert seqs(cache, session, 10) is None
    refill(cache, session, *range(1, 12))
    assert seqs(cache, session, 11) == list(range(1, 12))
    refill(cache, session, *range(1, 11))
    assert seqs(cache, session, 11) == list(range(1, 12))


def test_a_shorter_refill_does_not_replace_a_longer_list(cache: RedisSessionCache, session: Session) -> None:
    push(cache, session, 1, 2, 3)
    refill(cache, session, 3)
    assert seqs(cache, session, 3) == [1, 2, 3]


def test_a_later_session_of_the_same_name_is_another(cache: RedisSessionCache, session: Session) -> None:
    push(cache, session, 1, 2, 3)
    again = opened(session.key.session_id, at=NOW + timedelta(seconds=1))
    push(cache, again, 1)
    assert seqs(cache, again, 3) == [1]
    push(cache, session, 4)
    refill(cache, session, 1, 2, 3, 4)
    assert seqs(cache, again, 3) == [1]


def test_after_a_drop_nothing_under_way_comes_back(cache: RedisSessionCache, session: Session, raw: Any) -> None:
    push(cache, session, 1, 2)
    cache.put_working(session.key, {"secret": 1}, 60)
    cache.drop(session.key)
    push(cache, session, 3)
    refill(cache, session, 1, 2, 3)
    found = cache.load(session.key, 1)
    assert (found.session, dict(found.working)) == (None, {})
    assert 0 < raw.ttl(keys_of(raw, "header")[0]) <= 10


def test_many_pushers_leave_the_list_true_or_short(cache: RedisSessionCache, session: Session) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda seq: push(cache, session, seq), range(1, 101)))
    for limit in range(1, 21):
        found = seqs(cache, session, limit)
        assert found is None or found == list(range(101 - limit, 101))


@pytest.mark.parametrize("part", ["messages", "header", "summary"])
def test_a_key_of_the_wrong_type_is_cleared_and_refilled(
    cache: RedisSessionCache, session: Session, raw: Any, part: str
) -> None:
    summary = Summary(text="s", tokens=1, upto_seq=1, created_at=NOW)
    cache.refill(at(session, 2, summary=summary), messages(1, 2))
    (name,) = keys_of(raw, part)
    for spoilt in range(2):
        raw.delete(name)
        raw.sadd(name, "not ours")
        if spoilt:
            push(cache, session, 3)
        else:
            seqs(cache, session, 2)
    cache.refill(at(session, 3, summary=summary), messages(1, 2, 3))
    assert seqs(cache, session, 3) == [1, 2, 3]


# --- freshness


def test_a_list_that_was_not_checked_for_a_while_says_so(settings_of_cache: config.Cache, session: Session) -> None:
    cautious = open_cache(settings_of_cache.model_copy(update={"verify_seconds": 0.0}), SystemClock())
    push(cautious, session, 1)
    assert not cautious.load(session.key, 1).fresh
    trusting = open_cache(settings_of_cache, SystemClock())
    trusting.refill(at(session, 1), [])
    found = trusting.load(session.key, 1)
    assert (found.fresh, list(found.messages)) == (True, messages(1))


def test_a_push_that_arrives_late_vouches_for_nothing(settings_of_cache: config.Cache, session: Session) -> None:
    slow = open_cache(settings_of_cache, FakeClock(datetime.now(UTC) - timedelta(seconds=5)))
    push(slow, session, 1)
    found = slow.load(session.key, 1)
    assert (found.session is not None, found.fresh) == (True, False)


def test_renewing_the_header_keeps_the_list_only_while_it_is_the_newest(
    cache: RedisSessionCache, session: Session
) -> None:
    push(cache, session, 1, 2)
    cache.refill(at(session, 2, participants=()), [])
    found = cache.load(session.key, 2)
    assert found.session is not None
    assert (found.session.participants, list(found.messages)) == ((), messages(1, 2))
    cache.refill(at(session, 3), [])
    assert seqs(cache, session, 2) is None


# --- summaries, scratch, locks, digests


def test_a_summary_lives_as_long_as_it_may(cache: RedisSessionCache, session: Session, raw: Any) -> None:
    first = Summary(text="一 🧾", tokens=3, upto_seq=20, created_at=NOW, model="m")
    cache.refill(at(session, 40, summary=first), messages(*range(31, 41)))
    found = cache.load(session.key, 10)
    assert found.session is not None
    assert (found.session.summary, found.fresh) == (first, True)
    (name,) = keys_of(raw, "summary")
    assert 3_590 < raw.ttl(name) <= 3_600
    raw.delete(name)
    assert not cache.load(session.key, 10).fresh


def test_an_older_summary_does_not_replace_a_newer(cache: RedisSessionCache, session: Session) -> None:
    old, new = (Summary(text=f"to {upto}", tokens=3, upto_seq=upto, created_at=NOW) for upto in (20, 40))
    push(cache, session, 1)
    cache.put_summary(session.key, new)
    cache.put_summary(session.key, old)
    cache.refill(at(session, 1, summary=old), [])
    found = cache.load(session.key, 1).session
    assert found is not None
    assert found.summary == new


def test_the_scratch_is_there_until_it_ends(cache: RedisSessionCache, session: Session, raw: Any) -> None:
    assert cache.get_working(session.key) is None
    cache.put_working(session.key, {"question": "牛肉怎么炖？", "step": 2}, 60)
    assert cache.get_working(session.key) == {"question": "牛肉怎么炖？", "step": 2}
    assert cache.load(session.key, 5).working == {"question": "牛肉怎么炖？", "step": 2}
    assert 0 < raw.ttl(keys_of(raw, "working")[0]) <= 60
    cache.delete_working(session.key)
    assert cache.get_working(session.key) is None


def test_a_lock_belongs_to_its_token(cache: RedisSessionCache, session: Session) -> None:
    assert cache.lock(session.key, "one", 60)
    assert cache.lock(session.key, "one", 60)
    assert not cache.lock(session.key, "two", 60)
    cache.unlock(session.key, "two")
    assert not cache.lock(session.key, "two", 60)
    cache.unlock(session.key, "one")
    assert cache.lock(session.key, "two", 60)


def test_digests_are_known_until_their_time(settings_of_cache: config.Cache, session: Session) -> None:
    clock = FakeClock(datetime.now(UTC))
    cache = open_cache(settings_of_cache, clock)
    assert cache.known_digests(session.key, ["a"]) == set()
    cache.remember_digests(session.key, ["a", "b"], 60)
    clock.advance(50)
    cache.remember_digests(session.key, ["c"], 60)
    assert cache.known_digests(session.key, ["a", "b", "c", "d"]) == {"a", "b", "c"}
    clock.advance(20)
    assert cache.known_digests(session.key, ["a", "b", "c", "d"]) == {"c"}
    assert cache.known_digests(session.key, []) == set()


# --- any interleaving

step = st.one_of(
    st.tuples(st.just("append"), st.integers(1, 3), st.booleans()),
    st.tuples(st.just("late push"), st.integers(0, 30), st.just(0)),
    st.tuples(st.just("slow refill"), st.integers(1, 30), st.integers(1, 12)),
    st.tuples(st.just("expire"), st.sampled_from(["messages", "header"]), st.just(0)),
    st.tuples(st.just("read"), st.integers(1, 25), st.just(0)),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(step, max_size=30))
def test_whatever_happens_in_whatever_order_a_fresh_list_is_what_the_database_has(
    cache: RedisSessionCache, raw: Any, steps: list[tuple[str, Any, Any]]
) -> None:
    session = opened(next(names))
    raw.flushall()
    last = 0
    delayed: list[tuple[int, ...]] = []
    lost = False
    for kind, first, second in steps:
        if kind == "append":
            batch = tuple(range(last + 1, last + 1 + first))
            last += first
            lost = not second
            if second:
                push(cache, session, *batch)
            else:
                delayed.append(batch)
        elif kind == "late push" and delayed:
            push(cache, session, *delayed.pop(first % len(delayed)))
        elif kind == "slow refill" and last:
            upto = 1 + first % last
            refill(cache, session, *range(max(1, upto - second), upto + 1))
        elif kind == "expire":
            raw.delete(*keys_of(raw, first), "nothing")
        elif kind == "read" and last:
            assert_true_for_its_time(cache, session, first, last)
    push(cache, session, last + 1)
    last += 1
    found = seqs(cache, session, 10)
    assert found is None or found == list(range(max(1, last - 9), last + 1))
    assert lost in {True, False}


def assert_true_for_its_time(cache: RedisSessionCache, session: Session, limit: int, last: int) -> None:
    """What is loaded is a run of the session without gaps, as long as asked, up to a seq that it names."""
    found = cache.load(session.key, limit)
    if found.session is None:
        return
    newest = found.session.last_seq
    assert newest <= last
    assert [message.seq for message in found.messages] == list(range(max(1, newest - limit + 1), newest + 1))


# --- the server's moods


def test_an_address_of_another_kind_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        open_cache(config.Cache(url="memcached://localhost"), SystemClock())


def test_functions_of_one_process_share_the_cache_of_an_address(session: Session) -> None:
    one, other = (open_cache(config.Cache(url="memory://shared"), SystemClock()) for _ in range(2))
    push(one, session, 1)
    assert seqs(other, session, 1) == [1]
    assert seqs(open_cache(config.Cache(url="memory://own"), SystemClock()), session, 1) is None


def test_a_refusing_server_opens_no_breaker_but_distrusts_its_list(redis_server: RedisServer, session: Session) -> None:
    cache = open_cache(config.Cache(url=redis_server.url), SystemClock())
    push(cache, session, 1, 2)
    with redis_server.client() as client:
        client.config_set("maxmemory", "1")
        try:
            for seq in range(3, 10):
                with pytest.raises(CacheUnavailableError):
                    push(cache, session, seq)
            assert seqs(cache, session, 2) is None
            other = open_cache(config.Cache(url=redis_server.url), SystemClock())
            assert seqs(other, session, 2) is None
        finally:
            client.config_set("maxmemory", "0")
    refill(cache, session, *range(1, 10))
    assert seqs(cache, session, 9) == list(range(1, 10))


def test_a_read_only_replica_is_left_for_the_new_primary(breakable_redis: RedisServer, session: Session) -> None:
    cache = open_cache(config.Cache(url=breakable_redis.url), SystemClock())
    push(cache, session, 1)
    with breakable_redis.client() as client:
        client.replicaof("127.0.0.1", "1")
        with pytest.raises(CacheUnavailableError):
            push(cache, session, 2)
        client.replicaof("NO", "ONE")
        push(cache, session, 3)
    refill(cache, session, 1, 2, 3)
    assert seqs(cache, session, 3) == [1, 2, 3]


def test_scripts_are_sent_again_to_a_server_that_lost_them(redis_server: RedisServer, session: Session) -> None:
    cache = open_cache(config.Cache(url=redis_server.url), SystemClock())
    push(cache, session, 1)
    with redis_server.client() as client:
        client.script_flush()
    push(cache, session, 2)
    assert seqs(cache, session, 2) == [1, 2]


def test_a_server_that_was_restarted_is_reached_again(breakable_redis: RedisServer, session: Session) -> None:
    cache = open_cache(config.Cache(url=breakable_redis.url), SystemClock())
    push(cache, session, 1)
    breakable_redis.restart()
    assert seqs(cache, session, 1) is None
    push(cache, session, 2)
    assert seqs(cache, session, 1) == [2]


@pytest.fixture(params=["redis_tls", "redis_cluster"])
def clustered(request: pytest.FixtureRequest) -> config.Cache:
    server: TlsNode | RedisCluster = request.getfixturevalue(request.param)
    return config.Cache(url=server.url, ca_file=str(getattr(server, "ca", "")))


def test_everything_works_in_cluster_mode_for_any_id(clustered: config.Cache) -> None:
    cache = open_cache(clustered, SystemClock())
    for number in range(50):
        session = opened(f"{next(names)} {{{number}}} 会话")
        push(cache, session, 1, 2)
        summary = Summary(text="s", tokens=1, upto_seq=2, created_at=NOW)
        refill(cache, at(session, 2, summary=summary), 1, 2)
        cache.put_summary(session.key, summary)
        cache.put_working(session.key, {"n": number}, 60)
        cache.remember_digests(session.key, ["d"], 60)
        assert cache.known_digests(session.key, ["d", "e"]) == {"d"}
        assert cache.lock(session.key, "t", 60)
        cache.unlock(session.key, "t")
        found = cache.load(session.key, 2)
        assert (list(found.messages), found.working) == (messages(1, 2), {"n": number})
        cache.drop(session.key)
        assert seqs(cache, session, 1) is None
    cache.close()


def test_a_server_with_an_unknown_certificate_is_not_talked_to(redis_tls: TlsNode, session: Session) -> None:
    cache = open_cache(config.Cache(url=redis_tls.url), SystemClock())
    with pytest.raises(CacheUnavailableError):
        cache.load(session.key, 1)


def test_a_moved_slot_is_followed(redis_cluster: RedisCluster, session: Session) -> None:
    cache = open_cache(config.Cache(url=redis_cluster.url), SystemClock())
    push(cache, session, 1)
    nodes: Any = cache._link._client().nodes_manager
    nodes.slots_cache = {slot: nodes.slots_cache[16_383 - slot] for slot in nodes.slots_cache}
    push(cache, session, 2)
    assert seqs(cache, session, 2) == [1, 2]
    with suppress(CacheUnavailableError):
        cache.close()
