"""The message log keeps its promises on every database."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pymysql
import pytest
from sqlalchemy import Connection, delete, event, func, select, text

from strata import config
from strata.clock import SystemClock
from strata.errors import MessageConflictError, NotFoundError, StatementTooLargeError
from strata.model.messages import Appended, Kind, Message, NewMessage, Role
from strata.model.runs import RunState
from strata.model.sessions import SessionKey, SessionState, Summary
from strata.ports import Counted
from strata.storage import session_rows
from strata.storage.engine import Database, open_database
from strata.storage.events import SqlEventLog
from strata.storage.messages import SqlMessageLog
from strata.storage.schema import migrate
from strata.storage.sessions import SqlSessionStore
from strata.storage.tables import messages, runs, sessions

NOW = datetime(2026, 3, 10, 8, 0, 0, 123456, tzinfo=UTC)
Append = Callable[..., Appended]
names = (f"s-{number}" for number in count())


@pytest.fixture(scope="module")
def database(database_url: str) -> Iterator[Database]:
    opened = open_database(config.Database(url=database_url, pool_size=20, pool_wait_seconds=30), SystemClock())
    migrate(opened)
    yield opened
    opened.close()


@pytest.fixture
def log(database: Database) -> SqlMessageLog:
    return SqlMessageLog(database)


@pytest.fixture
def store(database: Database) -> SqlSessionStore:
    return SqlSessionStore(database)


@pytest.fixture
def key() -> SessionKey:
    return SessionKey(tenant="home", session_id=next(names))


@pytest.fixture
def append(log: SqlMessageLog, key: SessionKey) -> Append:
    """Append as the owner of one session."""

    def append(*contents: Any, **fields: Any) -> Appended:
        return log.append(key, "ann", "cook", counted(*contents, **fields), now=NOW)

    return append


def counted(*contents: Any, **fields: Any) -> list[Counted]:
    made = [NewMessage(**{"role": Role.USER, "content": content, **fields}) for content in contents]
    return [Counted(message=message, tokens=7, digest="d" * 32) for message in made]


def contents(read: list[Message]) -> list[Any]:
    return [message.content for message in read]


# --- order and numbers


def test_messages_are_numbered_from_one_without_gaps(append: Append, log: SqlMessageLog, key: SessionKey) -> None:
    first, second = append("m1"), append("m2", "m3")
    assert [message.seq for message in first.messages + second.messages] == [1, 2, 3]
    assert (first.last_seq, second.last_seq, second.replayed) == (1, 3, 0)
    assert [message.seq for message in log.tail(key, 10)] == [1, 2, 3]


def test_order_is_that_of_appending_when_the_clock_stands_still(
    append: Append, log: SqlMessageLog, key: SessionKey
) -> None:
    for number in range(50):
        append(f"今天几号？{number}")
        append(f"3 月 9 号。{number}", role=Role.ASSISTANT)
    expected = [text for number in range(50) for text in (f"今天几号？{number}", f"3 月 9 号。{number}")]
    assert all(contents(log.tail(key, 200)) == expected for _ in range(10))


def test_the_tail_is_the_newest_oldest_first(append: Append, log: SqlMessageLog, key: SessionKey) -> None:
    append(*(f"m{number}" for number in range(1, 7)))
    assert contents(log.tail(key, 3)) == ["m4", "m5", "m6"]
    assert contents(log.tail(key, 3, before_seq=4)) == ["m1", "m2", "m3"]
    assert contents(log.between(key, 2, 4)) == ["m3", "m4"]
    assert contents(log.between(key, 2, 6, limit=1)) == ["m3"]


def test_a_snapshot_is_the_session_and_its_tail(append: Append, log: SqlMessageLog, key: SessionKey) -> None:
    assert log.snapshot(key, 3) is None
    answered = append(*(f"m{number}" for number in range(1, 7)))
    assert log.snapshot(key, 3) == (answered.session, log.tail(key, 3))


def test_a_log_that_remembers_an_older_state_is_not_misled(
    append: Append, log: SqlMessageLog, store: SqlSessionStore, key: SessionKey, database: Database
) -> None:
    append("m1")
    other = SqlMessageLog(database)
    assert other.append(key, "ann", "cook", counted("m2"), now=NOW).last_seq == 2
    store.set_participants(key, ["shopper"], now=NOW)
    answered = append("m3")
    assert answered.session is not None
    assert (answered.last_seq, answered.session.participants) == (3, ("shopper",))
    summary = Summary(text="s", tokens=1, upto_seq=2, created_at=NOW)
    store.save_summary(key, summary, expected_upto_seq=0)
    store.end(key, run_id=f"{key.session_id}-1", now=NOW)
    answered = append("m4")
    assert answered.session is not None
    assert (answered.session.summary, answered.session.state) == (summary, SessionState.OPEN)
    assert answered.session == store.get(key)


def test_a_session_that_was_erased_is_opened_anew(
    append: Append, log: SqlMessageLog, key: SessionKey, database: Database
) -> None:
    append("m1", "m2")
    database.write(
        lambda connection: connection.execute(delete(sessions).where(sessions.c.session_id == key.session_id))
    )
    answered = log.append(key, "bob", "coach", counted("new"), now=NOW)
    assert (answered.last_seq, contents(log.tail(key, 5))) == (1, ["new"])


def test_what_was_remembered_from_before_an_outage_is_not_relied_on(
    append: Append, log: SqlMessageLog, key: SessionKey, database: Database
) -> None:
    """The server that took over may lack the last message of the one before."""
    if database.dialect == "sqlite":
        pytest.skip("SQLite has no server")
    append("m1", "m2")
    newest = messages.c.seq == 2
    here = messages.c.session_no.in_(select(sessions.c.session_no).where(sessions.c.session_id == key.session_id))
    database.write(lambda connection: connection.execute(delete(messages).where(here, newest)))
    kill_connections(database, own=True)
    assert append("m3").last_seq == 2
    assert [message.seq for message in log.tail(key, 9)] == [1, 2]


def test_an_unknown_session_is_empty(log: SqlMessageLog, store: SqlSessionStore, key: SessionKey) -> None:
    assert (log.tail(key, 10), log.between(key, 0, 10), store.get(key)) == ([], [], None)


# --- nothing is lost of what was said


def test_what_claims_to_be_said_later_than_it_came_was_said_when_it_came(
    append: Append, log: SqlMessageLog, key: SessionKey
) -> None:
    ahead = NOW + timedelta(days=3_650)
    answered = append("我搬到厦门了", message_id="fast-clock", said_at=ahead)
    assert append("我搬到厦门了", message_id="fast-clock", said_at=ahead).replayed == 1
    append("我又搬到武汉了", said_at=ahead)
    read = log.tail(key, 10)
    assert [one.said_at for one in (*answered.messages, *read)] == [NOW] * 3


def test_a_message_is_read_back_as_it_was_answered(append: Append, log: SqlMessageLog, key: SessionKey) -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"杭州"}'}}
    append("杭州明天下雨吗", name="ann", metadata={"来源": ["手机", 1.5, None]}, said_at=NOW - timedelta(hours=1))
    append(None, role=Role.ASSISTANT, tool_calls=(call,))
    append("小雨 12-17°C", role=Role.TOOL, kind=Kind.TOOL, tool_call_id="t1")
    parts = ({"type": "text", "text": "看"}, {"type": "image_url", "image_url": {"url": "https://example.org/a"}})
    answered = append(parts, "", kind=Kind.EVENT)
    read = log.tail(key, 10)
    assert tuple(read[3:]) == answered.messages
    assert (read[0].name, read[0].metadata, read[0].said_at) == (
        "ann",
        {"来源": ["手机", 1.5, None]},
        NOW - timedelta(hours=1),
    )
    assert (read[1].content, read[1].tool_calls) == (None, (call,))
    assert (read[2].tool_call_id, read[2].kind, read[2].created_at) == ("t1", Kind.TOOL, NOW)
    assert (read[3].content, read[4].content) == (parts, "")


@pytest.mark.parametrize(
    "said",
    [
        "报销已提交 🧾👍🏽 谢谢！→ done ✅",
        "👨‍👩‍👧 一家三口",
        "می‌خواهم",
        "❤️ vs ❤",
        "用户\u200b喜欢喝\u2060绿茶\ufeff",
        "It's 100% \"quoted\" \\ back\r\n\tslash %s ${x} ;-- ' \x1a\x7f",
        " trailing ",
        "𠮷野家 e\u0301 é",
    ],
)
def test_every_character_survives(append: Append, log: SqlMessageLog, key: SessionKey, said: str) -> None:
    """In the statement that opens a session, in that of a remembered one, and in that of several messages."""
    append(said)
    append(said)
    append(said, said, metadata={said: [said]})
    assert contents(log.tail(key, 4)) == [said] * 4
    assert log.tail(key, 1)[0].metadata == {said: [said]}


def test_chinese_takes_three_bytes_a_character(append: Append, database: Database) -> None:
    said = "今天下午和客户确认了合同里的付款条款并约好下周再谈" * 40
    answered = append(said)
    body = database.read(
        lambda connection: connection.execute(
            text("SELECT body FROM messages WHERE message_id = :id"), {"id": answered.messages[0].message_id.encode()}
            if database.dialect == "mysql" else {"id": answered.messages[0].message_id}
        ).scalar_one()
    )  # fmt: skip
    assert said in body
    assert len(body.encode()) < 3 * len(said) + 20


def test_ids_are_compared_byte_for_byte(log: SqlMessageLog) -> None:
    tenant = next(names)
    ids = ["a", "A", "a ", "á", "a%", "a_", "ａ", "a\u200b"]
    for number, name in enumerate(ids):
        log.append(SessionKey(tenant=tenant, session_id=name), "ann", "cook", counted(f"m{number}"), now=NOW)
    for number, name in enumerate(ids):
        assert contents(log.tail(SessionKey(tenant=tenant, session_id=name), 9)) == [f"m{number}"]


# --- repeats


def test_a_retry_returns_the_first_answer(append: Append, log: SqlMessageLog, key: SessionKey) -> None:
    first = append("请把周四的会改到下午三点", message_id="cm-7f1")
    again = append("请把周四的会改到下午三点", message_id="cm-7f1")
    assert (again.messages, again.replayed, again.last_seq) == (first.messages, 1, 1)
    assert len(log.tail(key, 10)) == 1


def test_other_content_under_the_same_id_is_a_conflict_and_changes_nothing(
    append: Append, log: SqlMessageLog, key: SessionKey
) -> None:
    append("请把周四的会改到下午三点", message_id="cm-7f1")
    with pytest.raises(MessageConflictError):
        log.append(
            key,
            "ann",
            "cook",
            [*counted("新的"), *counted("请把周四的会取消", message_id="cm-7f1")],
            now=NOW,
        )
    with pytest.raises(MessageConflictError):
        append("请把周四的会改到下午三点", message_id="cm-7f1", role=Role.ASSISTANT)
    assert contents(log.tail(key, 10)) == ["请把周四的会改到下午三点"]
    assert append("下一条").messages[0].seq == 2


def test_a_batch_that_was_stored_in_part_is_completed(append: Append, log: SqlMessageLog, key: SessionKey) -> None:
    append("a", message_id="1")
    batch = [*counted("a", message_id="1"), *counted("b", message_id="2"), *counted("c")]
    answered = log.append(key, "ann", "cook", batch, now=NOW)
    assert [message.seq for message in answered.messages] == [1, 2, 3]
    assert answered.replayed == 1
    assert contents(log.tail(key, 10)) == ["a", "b", "c"]


def test_a_message_that_is_twice_in_one_request_is_stored_once(append: Append, log: SqlMessageLog) -> None:
    answered = append("a", "a", message_id="1")
    assert [message.seq for message in answered.messages] == [1, 1]
    assert answered.replayed == 1
    with pytest.raises(MessageConflictError):
        append("b", "c", message_id="2")


def test_message_ids_belong_to_their_session(log: SqlMessageLog) -> None:
    for _ in range(2):
        key = SessionKey(tenant="home", session_id=next(names))
        answered = log.append(key, "ann", "cook", counted("a", message_id="1"), now=NOW)
        assert answered.replayed == 0


def test_a_large_batch_is_stored_in_several_statements_once(
    append: Append, log: SqlMessageLog, key: SessionKey
) -> None:
    large = [f"{number}" + "很" * 200_000 for number in range(5)]
    batch = [
        Counted(message=NewMessage(role=Role.USER, content=one, message_id=one[0]), tokens=1, digest="")
        for one in large
    ]
    assert log.append(key, "ann", "cook", batch, now=NOW).last_seq == 5
    again = log.append(key, "ann", "cook", batch, now=NOW)
    assert (again.replayed, again.last_seq) == (5, 5)
    assert contents(log.tail(key, 10)) == large


def test_a_message_beyond_the_packet_limit_is_refused_and_the_session_goes_on(
    append: Append, log: SqlMessageLog, key: SessionKey, database: Database
) -> None:
    if database.dialect == "sqlite":
        pytest.skip("SQLite has no packets")
    append("before")
    with pytest.raises(StatementTooLargeError):
        append("x" * 17_000_000)
    assert append("after").last_seq == 2


# --- who may


def test_a_session_is_closed_to_other_users_and_agents(append: Append, log: SqlMessageLog, key: SessionKey) -> None:
    append("mine")
    for user, agent in [("bob", "cook"), ("ann", "shopper"), ("ann", "cook "), ("Ann", "cook")]:
        with pytest.raises(NotFoundError):
            log.append(key, user, agent, counted("not yours"), now=NOW)
    assert contents(log.tail(key, 10)) == ["mine"]


def test_declared_participants_may_append(
    append: Append, log: SqlMessageLog, store: SqlSessionStore, key: SessionKey
) -> None:
    append("mine")
    for _ in range(2):
        assert store.set_participants(key, ["shopper", "买手"], now=NOW).participants == ("shopper", "买手")
    events = SqlEventLog(store._database).page(key.tenant, limit=100, kind="participants.put")
    (event,) = [event for event in events if event.detail["session_id"] == key.session_id]
    assert (event.actor, event.detail["participants"]) == ("cook", ["shopper", "买手"])
    answered = log.append(key, "ann", "买手", counted("ours"), now=NOW)
    assert (answered.last_seq, answered.messages[0].agent_id) == (2, "买手")
    store.set_participants(key, [], now=NOW)
    with pytest.raises(NotFoundError):
        log.append(key, "ann", "买手", counted("no more"), now=NOW)


def test_tenants_do_not_meet(append: Append, log: SqlMessageLog, store: SqlSessionStore, key: SessionKey) -> None:
    append("mine")
    stranger = SessionKey(tenant="elsewhere", session_id=key.session_id)
    assert (log.tail(stranger, 10), store.get(stranger), store.of_user("elsewhere", "ann")) == ([], None, [])
    assert log.append(stranger, "eve", "spy", counted("own"), now=NOW).last_seq == 1
    assert contents(log.tail(key, 10)) == ["mine"]


# --- many at once


def test_openers_of_one_session_share_it(log: SqlMessageLog, key: SessionKey) -> None:
    start = threading.Barrier(8)

    def open_it(number: int) -> int:
        start.wait()
        return log.append(key, "ann", "cook", counted(f"m{number}"), now=NOW).messages[0].seq

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(open_it, range(8))) == list(range(1, 9))


def test_parallel_appends_all_succeed_without_gaps(log: SqlMessageLog, key: SessionKey) -> None:
    def write(number: int) -> list[int]:
        answered = log.append(key, "ann", "cook", counted(f"u{number}", f"a{number}"), now=NOW)
        return [message.seq for message in answered.messages]

    with ThreadPoolExecutor(20) as pool:
        taken = list(pool.map(write, range(60)))
    assert sorted(seq for pair in taken for seq in pair) == list(range(1, 121))
    assert all(second == first + 1 for first, second in taken)
    assert [message.seq for message in log.tail(key, 200)] == list(range(1, 121))


def test_two_senders_of_one_message_store_it_once(log: SqlMessageLog, key: SessionKey) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda _: log.append(key, "ann", "cook", counted("a", message_id="1"), now=NOW), range(16))
        )
    assert all(answer.messages == answers[0].messages for answer in answers)
    assert sum(answer.replayed for answer in answers) == 15
    assert len(log.tail(key, 10)) == 1


# --- sessions


def test_a_session_is_opened_by_its_first_append(append: Append, store: SqlSessionStore, key: SessionKey) -> None:
    answered = append("m1", "m2")
    session = store.get(key)
    assert session == answered.session
    assert session is not None
    assert (session.user_id, session.agent_id, session.state, session.last_seq) == ("ann", "cook", SessionState.OPEN, 2)
    assert store.of_user("home", "ann")[-1] == session


def test_ending_creates_one_run_over_what_is_new(append: Append, store: SqlSessionStore, key: SessionKey) -> None:
    append("m1", "m2")
    run = store.end(key, run_id=f"{key.session_id}-1", now=NOW)
    assert (run.state, run.from_seq, run.upto_seq, run.user_id) == (RunState.QUEUED, 1, 2, "ann")
    assert store.end(key, run_id="unused", now=NOW) == run
    ended = store.get(key)
    assert ended is not None
    assert (ended.state, ended.ended_at) == (SessionState.ENDED, NOW)


def test_an_append_resumes_and_the_next_end_takes_only_what_is_new(
    append: Append, store: SqlSessionStore, key: SessionKey
) -> None:
    append("m1", "m2")
    store.end(key, run_id=f"{key.session_id}-1", now=NOW)
    append("m3")
    resumed = store.get(key)
    assert resumed is not None
    assert (resumed.state, resumed.ended_at) == (SessionState.OPEN, None)
    run = store.end(key, run_id=f"{key.session_id}-2", now=NOW)
    assert (run.from_seq, run.upto_seq) == (3, 3)


def test_a_replay_does_not_resume(append: Append, store: SqlSessionStore, key: SessionKey) -> None:
    append("m1", message_id="1")
    store.end(key, run_id=f"{key.session_id}-1", now=NOW)
    append("m1", message_id="1")
    session = store.get(key)
    assert session is not None
    assert session.state is SessionState.ENDED


def test_a_resumed_session_ends_with_the_run_it_has(append: Append, store: SqlSessionStore, key: SessionKey) -> None:
    append("m1")
    run = store.end(key, run_id=f"{key.session_id}-1", now=NOW)
    assert store.resume(key, now=NOW).state is SessionState.OPEN
    assert store.end(key, run_id="unused", now=NOW).run_id == run.run_id
    session = store.get(key)
    assert session is not None
    assert session.state is SessionState.ENDED


def test_ending_at_once_creates_one_run(
    append: Append, store: SqlSessionStore, key: SessionKey, database: Database
) -> None:
    append("m1")
    with ThreadPoolExecutor(8) as pool:
        made = set(
            pool.map(lambda number: store.end(key, run_id=f"{key.session_id}-{number}", now=NOW).run_id, range(8))
        )
    assert len(made) == 1
    rows = database.read(
        lambda connection: connection.execute(
            select(func.count()).select_from(runs).where(runs.c.session_id == key.session_id)
        ).scalar_one()
    )
    assert rows == 1


def test_what_is_not_there_cannot_be_changed(store: SqlSessionStore, key: SessionKey) -> None:
    with pytest.raises(NotFoundError):
        store.end(key, run_id="r", now=NOW)
    with pytest.raises(NotFoundError):
        store.resume(key, now=NOW)
    with pytest.raises(NotFoundError):
        store.set_participants(key, ["a"], now=NOW)


def test_a_summary_is_stored_only_over_the_one_it_continues(
    append: Append, store: SqlSessionStore, key: SessionKey
) -> None:
    append(*(f"m{number}" for number in range(40)))
    first = Summary(text="一 🧾", tokens=3, upto_seq=20, created_at=NOW, model="m")
    assert store.save_summary(key, first, expected_upto_seq=0)
    assert not store.save_summary(key, Summary(text="late", tokens=1, upto_seq=10, created_at=NOW), expected_upto_seq=0)
    session = store.get(key)
    assert session is not None
    assert session.summary == first


# --- the server's moods


def kill_connections(database: Database, *, own: bool = False) -> None:
    """Let the server close all connections but the one that asks for it; ``own``: that one too, unnoticed so far."""
    with database.engine.connect() as connection:
        rows = connection.execute(text("SELECT id FROM information_schema.processlist WHERE db = DATABASE()")).all()
        self = connection.execute(text("SELECT CONNECTION_ID()")).scalar_one()
        for (number,) in rows:
            if number != self:
                connection.execute(text(f"KILL {number}"))
        if own:
            with suppress(pymysql.Error):
                connection.connection.cursor().execute(f"KILL {self}")


def test_connections_that_the_server_closed_are_replaced(
    append: Append, log: SqlMessageLog, key: SessionKey, database: Database
) -> None:
    if database.dialect == "sqlite":
        pytest.skip("SQLite has no server")
    append("m1")
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda _: log.tail(key, 1), range(100)))
    kill_connections(database)
    assert append("m2").last_seq == 2
    kill_connections(database)
    assert contents(log.tail(key, 9)) == ["m1", "m2"]


def test_a_connection_lost_in_mid_transaction_repeats_the_whole(
    log: SqlMessageLog, key: SessionKey, database: Database
) -> None:
    if database.dialect == "sqlite":
        pytest.skip("SQLite has no server")
    log.append(key, "ann", "cook", counted("m1"), now=NOW)
    database.engine.dispose()
    with database.engine.connect() as holder:
        holder.exec_driver_sql("BEGIN")
        holder.execute(select(sessions).where(sessions.c.session_id == key.session_id).with_for_update()).all()
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(log.append, key, "ann", "cook", counted("m2", "m3"), now=NOW)
            while not (blocked := blocked_connections(database)):
                assert not waiting.done()
                time.sleep(0.01)
            for number in blocked:
                holder.exec_driver_sql(f"KILL {number}")
            holder.exec_driver_sql("COMMIT")
            assert waiting.result(10).last_seq == 3
    assert contents(log.tail(key, 9)) == ["m1", "m2", "m3"]


def blocked_connections(database: Database) -> list[int]:
    waiting = "SELECT id FROM information_schema.processlist WHERE info LIKE 'INSERT INTO messages%'"
    others = f"{waiting} AND db = DATABASE() AND id <> CONNECTION_ID()"
    return list(database.read(lambda connection: connection.execute(text(others)).scalars().all()))


def test_a_deadlock_is_survived(log: SqlMessageLog, key: SessionKey, database: Database) -> None:
    """Two transactions that lock two sessions crosswise: the server ends one, and it is done again."""
    if database.dialect == "sqlite":
        pytest.skip("SQLite has one writer at a time")
    other = SessionKey(tenant=key.tenant, session_id=f"{key.session_id}-other")
    for one in (key, other):
        log.append(one, "ann", "cook", counted("m1"), now=NOW)
    both_hold_one, begun = threading.Barrier(2), Counter[str]()

    def crosswise(first: SessionKey, second: SessionKey) -> None:
        def work(connection: Connection) -> None:
            begun[first.session_id] += 1
            assert session_rows.locked(connection, first)
            if begun[first.session_id] == 1:
                both_hold_one.wait(10)
            assert session_rows.locked(connection, second)

        database.write(work)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(crosswise, key, other), pool.submit(crosswise, other, key)]:
            done.result(20)
    assert sorted(begun.values()) == [1, 2]


def test_a_lock_that_is_held_too_long_is_waited_for_again(
    log: SqlMessageLog, key: SessionKey, database: Database
) -> None:
    if database.dialect == "sqlite":
        pytest.skip("SQLite waits by itself")
    log.append(key, "ann", "cook", counted("m1"), now=NOW)
    database.engine.dispose()
    waited = threading.Event()

    @event.listens_for(database.engine, "connect")
    def be_impatient(connection: Any, _record: object) -> None:
        connection.query("SET SESSION innodb_lock_wait_timeout = 1")

    try:
        with database.engine.connect() as holder, ThreadPoolExecutor(1) as pool:
            holder.exec_driver_sql("BEGIN")
            holder.execute(select(sessions).where(sessions.c.session_id == key.session_id).with_for_update()).all()
            waiting = pool.submit(log.append, key, "ann", "cook", counted("m2"), now=NOW)
            waited.wait(1.5)  # longer than the server lets it wait
            holder.exec_driver_sql("COMMIT")
            assert waiting.result(20).last_seq == 2
    finally:
        event.remove(database.engine, "connect", be_impatient)
        database.engine.dispose()
    assert contents(log.tail(key, 9)) == ["m1", "m2"]


def test_a_read_does_not_see_an_old_snapshot(append: Append, log: SqlMessageLog, key: SessionKey) -> None:
    append("m1")
    assert len(log.tail(key, 10)) == 1
    append("m2")
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: len(log.tail(key, 10)), range(40))) == {2}


def test_round_trips(log: SqlMessageLog, key: SessionKey, database: Database) -> None:
    if database.dialect == "sqlite":
        pytest.skip("SQLite has no server")

    def trips(work: Callable[[], object]) -> int:
        before = questions(database)
        work()
        return questions(database) - before - 1

    other = SqlMessageLog(database)
    log.append(key, "ann", "cook", counted("m1"), now=NOW)
    assert trips(lambda: log.append(key, "ann", "cook", counted("m2", "m3"), now=NOW)) == 1
    assert trips(lambda: other.append(key, "ann", "cook", counted("m4"), now=NOW)) == 4
    assert trips(lambda: log.append(key, "ann", "cook", counted("m5"), now=NOW)) == 3  # taken, asked, stored
    assert trips(lambda: other.append(key, "ann", "cook", counted("m6", "m7"), now=NOW)) == 3
    assert trips(lambda: log.tail(key, 60)) == 1
    assert trips(lambda: log.snapshot(key, 60)) == 1


def questions(database: Database) -> int:
    with database.engine.connect() as connection:
        return int(connection.exec_driver_sql("SHOW GLOBAL STATUS LIKE 'Questions'").all()[0][1])


def test_rows_are_as_many_as_messages(database: Database) -> None:
    def gaps(connection: Any) -> list[Any]:
        per_session = (
            select(messages.c.session_no, func.count(), func.max(messages.c.seq))
            .group_by(messages.c.session_no)
            .having(func.count() != func.max(messages.c.seq))
        )
        return list(connection.execute(per_session))

    assert database.read(gaps) == []
