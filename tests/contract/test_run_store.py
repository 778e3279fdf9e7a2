"""The run ledger keeps its promises on every database."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

import pytest
from sqlalchemy import Connection, Table, delete, select

from strata import config
from strata.clock import SystemClock
from strata.errors import LeaseLostError, NotFoundError, RunStateError
from strata.model.memories import AccessPolicy, Candidate, Category, Scope, Source
from strata.model.messages import Message
from strata.model.runs import (
    Judgement,
    Kept,
    Lease,
    Plan,
    PlannedWrite,
    Receipt,
    Retirement,
    Run,
    RunState,
    WriteAction,
)
from strata.model.sessions import SessionKey
from strata.storage.engine import Database, open_database
from strata.storage.events import SqlEventLog
from strata.storage.retention import SqlRetention
from strata.storage.runs import SqlRunStore
from strata.storage.schema import migrate
from strata.storage.tables import provider_copies, quarantine, retirements, run_receipts
from tests.fakes.ledger import add_run, transcript

NOW = datetime(2026, 3, 10, 8, 0, tzinfo=UTC)
WEEK = timedelta(days=7)
LIKES, DISLIKES = "我喜欢吃辣", "我不喜欢吃辣"
Begin = Callable[..., tuple[Run, Lease]]
tenants = (f"tenant-{number}" for number in count())


@pytest.fixture(scope="module")
def database(database_url: str) -> Iterator[Database]:
    opened = open_database(config.Database(url=database_url, pool_size=8), SystemClock())
    migrate(opened)
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database) -> SqlRunStore:
    return SqlRunStore(database)


@pytest.fixture
def key() -> SessionKey:
    return SessionKey(tenant=next(tenants), session_id="dinner")


@pytest.fixture
def begin(database: Database, store: SqlRunStore, key: SessionKey) -> Begin:
    """Put a run into the ledger and claim it."""

    def begin(run_id: str, *span: int, now: datetime = NOW) -> tuple[Run, Lease]:
        add_run(database, key, run_id, span or (1, 1), now=now)
        return claimed(store, key, run_id, now=now)

    return begin


def claimed(store: SqlRunStore, key: SessionKey, run_id: str, *, now: datetime = NOW) -> tuple[Run, Lease]:
    taken = store.claim(key.tenant, run_id, seconds=90, now=now)
    assert taken is not None
    return taken


def fresh(store: SqlRunStore, begun: tuple[Run, Lease], messages: list[Message], *, now: datetime = NOW) -> list[int]:
    run, lease = begun
    return [item.seq for item in store.claim_digests(lease, run, messages, since=now - WEEK, now=now)]


def finish(store: SqlRunStore, lease: Lease, key: SessionKey, *, now: datetime = NOW) -> Run:
    return store.finish(lease, key.tenant, counts={}, timings_ms={}, cost={}, now=now)


def plan(*keys: str) -> Plan:
    return Plan(writes=tuple(write(name) for name in keys), judge="model", model="judge-1", prompt_version="zh@1")


def write(name: str) -> PlannedWrite:
    return PlannedWrite(
        key=name,
        action=WriteAction.SUPERSEDE,
        collection="user:chen",
        memory_type="user_preference",
        content="用户不吃香菜 🌿",
        category=Category.PREFERENCE,
        importance=8,
        ttl_seconds=0,
        standing=True,
        safety=False,
        said_at=NOW,
        sources=(Source(session_id="dinner", seq=1),),
        replaces=("old",),
        policy=AccessPolicy(read_agents=("coach",)),
        metadata={"rule": "zh.taboo", "nested": {"深": [1, 2]}},
    )


def receipt(name: str, provider: str = "MYSQL", **changes: Any) -> Receipt:
    plain = Receipt(key=name, memory_id=f"m-{name}", action=WriteAction.INSERT, version=1, provider=provider)
    return replace(plain, **changes)


# --- the lease


def test_a_run_is_claimed_by_one_worker_at_a_time(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    run, lease = begin("r1")
    assert (run.state, run.attempts, run.fence, run.started_at) == (RunState.RUNNING, 1, 1, NOW)
    assert lease.expires_at == run.lease_until == NOW + timedelta(seconds=90)
    assert store.claim(key.tenant, "r1", seconds=90, now=NOW + timedelta(seconds=89)) is None


def test_a_lease_that_ran_out_is_taken_over(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    _, slow = begin("r1")
    later = NOW + timedelta(seconds=90)
    run, quick = claimed(store, key, "r1", now=later)
    assert (run.attempts, quick.fence, run.started_at) == (2, 2, NOW)
    for attempt in writes_under(store, slow, key, run):
        with pytest.raises(LeaseLostError):
            attempt()
    store.save_plan(quick, key.tenant, plan("a"))
    assert store.get(key.tenant, "r1") == replace(run, plan=plan("a"), state=RunState.PLANNED)


def writes_under(store: SqlRunStore, lease: Lease, key: SessionKey, run: Run) -> list[Callable[[], object]]:
    tenant = key.tenant
    gone = Retirement(
        retirement_id="x", tenant=tenant, provider="MEMOS", collection="c", memory_id="m", replaced_by="n", run_id="r1"
    )
    return [
        lambda: store.extend(lease, tenant, seconds=1, now=NOW),
        lambda: store.claim_digests(lease, run, transcript(LIKES, said_at=NOW), since=NOW, now=NOW),
        lambda: store.save_judgement(lease, tenant, Judgement(candidates=(), judge="rules")),
        lambda: store.save_plan(lease, tenant, plan("late")),
        lambda: store.add_receipts(lease, tenant, [receipt("late")], now=NOW),
        lambda: store.add_retirements(lease, [gone], now=NOW),
        lambda: finish(store, lease, key),
        lambda: store.release(lease, tenant, error_code="x", error_detail="", now=NOW),
        lambda: store.fail(lease, tenant, RunState.FAILED, error_code="x", error_detail="", now=NOW),
    ]


def test_an_extended_lease_is_kept(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    _, lease = begin("r1")
    longer = store.extend(lease, key.tenant, seconds=90, now=NOW + timedelta(seconds=60))
    assert longer.expires_at == NOW + timedelta(seconds=150)
    assert store.claim(key.tenant, "r1", seconds=90, now=NOW + timedelta(seconds=120)) is None


def test_a_released_run_can_be_claimed_at_once(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    _, lease = begin("r1")
    store.release(lease, key.tenant, error_code="inference_unavailable", error_detail="429", now=NOW)
    waiting = store.get(key.tenant, "r1")
    assert waiting is not None
    assert (waiting.state, waiting.error_code, waiting.error_detail) == (
        RunState.QUEUED,
        "inference_unavailable",
        "429",
    )
    run, _ = claimed(store, key, "r1")
    assert run.attempts == 2


def test_one_of_many_workers_gets_the_run(database: Database, store: SqlRunStore, key: SessionKey) -> None:
    add_run(database, key, "r1", (1, 1), now=NOW)
    outcomes: list[object] = []
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        outcomes.append(store.claim(key.tenant, "r1", seconds=90, now=NOW))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 8
    assert len([outcome for outcome in outcomes if outcome is not None]) == 1


def test_an_unknown_run_cannot_be_claimed(store: SqlRunStore, key: SessionKey) -> None:
    assert store.claim(key.tenant, "nowhere", seconds=90, now=NOW) is None
    assert store.get(key.tenant, "nowhere") is None


def test_another_tenant_sees_nothing(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    begin("r1")
    assert store.get("somebody", "r1") is None
    assert store.page("somebody", limit=10) == []
    with pytest.raises(NotFoundError):
        store.requeue("somebody", "r1", now=NOW)


# --- what is new


def test_messages_are_claimed_once(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    first = begin("r1", 1, 2)
    messages = transcript(LIKES, "今晚吃什么", said_at=NOW)
    assert fresh(store, first, messages) == [1, 2]
    finish(store, first[1], key)
    assert fresh(store, begin("r2", 1, 2), messages) == []


def test_a_redelivery_goes_on_with_the_same_messages(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    messages = transcript(LIKES, DISLIKES, said_at=NOW)
    assert fresh(store, begin("r1", 1, 2), messages) == [1, 2]
    later = NOW + timedelta(hours=1)
    assert fresh(store, claimed(store, key, "r1", now=later), messages, now=later) == [1, 2]


def test_a_transcript_sent_again_is_not_new(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    first = begin("r1", 1, 2)
    fresh(store, first, transcript(LIKES, "好的", said_at=NOW))
    finish(store, first[1], key)
    again = transcript(LIKES, "好的", "明天吃什么", first=3, said_at=NOW)
    assert fresh(store, begin("r2", 3, 5), again) == [5]


def test_a_preference_that_flips_back_is_new(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    for seq, said in enumerate((LIKES, DISLIKES, LIKES), start=1):
        run = begin(f"r{seq}", seq, seq)
        assert fresh(store, run, transcript(said, first=seq, said_at=NOW)) == [seq]
        finish(store, run[1], key)


def test_a_flip_back_within_one_run_is_new(store: SqlRunStore, begin: Begin) -> None:
    assert fresh(store, begin("r1", 1, 3), transcript(LIKES, DISLIKES, LIKES, said_at=NOW)) == [1, 2, 3]


def test_the_same_sentence_weeks_later_is_new(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    first = begin("r1", 1, 1)
    fresh(store, first, transcript(LIKES, said_at=NOW))
    finish(store, first[1], key)
    later = NOW + timedelta(days=21)
    assert fresh(store, begin("r2", 2, 2, now=later), transcript(LIKES, first=2, said_at=later), now=later) == [2]


def test_a_transcript_sent_again_every_day_stays_known(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    for day in range(12):
        now = NOW + timedelta(days=day)
        run = begin(f"r{day}", day + 1, day + 1, now=now)
        expected = [1] if day == 0 else []
        assert fresh(store, run, transcript(LIKES, first=day + 1, said_at=now), now=now) == expected
        finish(store, run[1], key, now=now)


def test_a_released_run_frees_its_messages(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    run, lease = begin("r1", 1, 1)
    messages = transcript(LIKES, said_at=NOW)
    fresh(store, (run, lease), messages)
    store.release(lease, key.tenant, error_code="x", error_detail="", now=NOW)
    assert fresh(store, begin("r2", 1, 1), messages) == [1]


def test_a_stored_plan_keeps_its_messages(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    run, lease = begin("r1", 1, 1)
    messages = transcript(LIKES, said_at=NOW)
    fresh(store, (run, lease), messages)
    store.save_judgement(lease, key.tenant, Judgement(candidates=(), judge="model"))
    store.save_plan(lease, key.tenant, plan("a"))
    store.release(lease, key.tenant, error_code="provider_timeout", error_detail="", now=NOW)
    assert fresh(store, begin("r2", 1, 1), messages) == []
    again, _ = claimed(store, key, "r1")
    assert (again.state, again.plan) == (RunState.PLANNED, plan("a"))


def test_two_runs_of_one_session_never_share_a_message(store: SqlRunStore, begin: Begin) -> None:
    messages = transcript(LIKES, "好的", LIKES, "好的", DISLIKES, said_at=NOW)
    begun = [begin("r1", 1, 5), begin("r2", 1, 5)]
    outcomes: list[list[int]] = []
    threads = [threading.Thread(target=lambda run=run: outcomes.append(fresh(store, run, messages))) for run in begun]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [[], [1, 2, 3, 4, 5]]


# --- what is kept


def test_judgement_and_plan_come_back_as_they_were(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    _, lease = begin("r1")
    candidate = Candidate(
        content="用户对花生过敏",
        category=Category.SAFETY,
        importance=10,
        scope=Scope.USER,
        standing=True,
        safety=True,
        source_seqs=(1, 3),
        said_at=NOW,
        evidence="花生过敏",
        tags={"谁": "用户"},
    )
    judgement = Judgement(candidates=(candidate,), judge="rules", error="inference_unavailable", dropped={"refusal": 1})
    store.save_judgement(lease, key.tenant, judgement)
    store.save_plan(lease, key.tenant, plan("a", "b"))
    run = store.get(key.tenant, "r1")
    assert run is not None
    assert (run.judgement, run.plan) == (judgement, plan("a", "b"))


def test_a_receipt_that_is_given_twice_counts_once(
    database: Database, store: SqlRunStore, key: SessionKey, begin: Begin
) -> None:
    _, lease = begin("r1")
    store.save_plan(lease, key.tenant, plan("a", "b"))
    external = receipt("b", "MEMOS", external_ids=("x1", "x2"))
    store.add_receipts(lease, key.tenant, [receipt("a"), external], now=NOW)
    store.add_receipts(lease, key.tenant, [receipt("a", version=9)], now=NOW)
    run = store.get(key.tenant, "r1")
    assert run is not None
    assert run.receipts == (receipt("a"), external)
    mine = select(provider_copies).where(provider_copies.c.tenant == key.tenant)
    copies = database.read(lambda connection: connection.execute(mine).all())
    assert {(row.external_id, row.collection, row.user_id) for row in copies} == {
        ("x1", "user:chen", "chen"),
        ("x2", "user:chen", "chen"),
    }


def test_finishing_settles_and_measures(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    _, lease = begin("r1")
    done = store.finish(
        lease, key.tenant, counts={"inserted": 2}, timings_ms={"judge": 12.5}, cost={"prompt_tokens": 900}, now=NOW
    )
    assert (done.state, done.counts, done.timings_ms, done.cost) == (
        RunState.SUCCEEDED,
        {"inserted": 2},
        {"judge": 12.5},
        {"prompt_tokens": 900},
    )
    assert (done.finished_at, done.lease_until) == (NOW, None)
    assert store.claim(key.tenant, "r1", seconds=90, now=NOW + timedelta(days=1)) is None


def test_finishing_twice_under_one_lease_is_finishing_once(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    _, lease = begin("r1")
    assert finish(store, lease, key) == finish(store, lease, key)


# --- by hand


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.PARKED])
def test_a_stopped_run_is_brought_back_with_its_plan(
    store: SqlRunStore, key: SessionKey, begin: Begin, state: RunState
) -> None:
    _, lease = begin("r1")
    store.save_plan(lease, key.tenant, plan("a"))
    store.fail(lease, key.tenant, state, error_code="provider_rejected", error_detail="no cube", now=NOW)
    assert store.claim(key.tenant, "r1", seconds=90, now=NOW) is None
    back = store.requeue(key.tenant, "r1", now=NOW, actor="ada")
    assert (back.state, back.attempts, back.plan) == (RunState.PLANNED, 0, plan("a"))
    assert told(store, key) == [("run.replayed", "ada", "r1")]
    claimed(store, key, "r1")


def test_the_stopped_runs_of_a_session_are_brought_back_together(
    store: SqlRunStore, key: SessionKey, begin: Begin
) -> None:
    for number, state in enumerate((RunState.FAILED, RunState.PARKED, RunState.FAILED), 1):
        _, lease = begin(f"r{number}", number, number)
        store.fail(lease, key.tenant, state, error_code="internal", error_detail="", now=NOW)
    finish(store, begin("r4", 4, 4)[1], key)
    begin("r5", 5, 5)
    assert store.bring_back(key.tenant, "lunch", now=NOW) == []
    assert store.bring_back(next(tenants), key.session_id, now=NOW) == []
    back = store.bring_back(key.tenant, key.session_id, now=NOW)
    assert [(run.run_id, run.state) for run in back] == [
        ("r3", RunState.QUEUED), ("r2", RunState.QUEUED), ("r1", RunState.QUEUED),
    ]  # fmt: skip
    assert store.bring_back(key.tenant, key.session_id, now=NOW) == []
    assert told(store, key) == []


def told(store: SqlRunStore, key: SessionKey) -> list[tuple[str, str, object]]:
    """The audit trail: what was done by whom to which run."""
    events = SqlEventLog(store._database).after(key.tenant, 0, limit=10)
    return [(event.kind, event.actor, event.detail["run_id"]) for event in events]


def test_a_run_that_somebody_holds_is_not_sent_again(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    _, lease = begin("r1")
    with pytest.raises(RunStateError):
        store.requeue(key.tenant, "r1", now=NOW)
    finish(store, lease, key)
    with pytest.raises(RunStateError):
        store.requeue(key.tenant, "r1", now=NOW)


def test_a_reopened_run_keeps_its_messages(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    messages = transcript(LIKES, said_at=NOW)
    begun = begin("r1", 1, 1)
    fresh(store, begun, messages)
    store.save_judgement(begun[1], key.tenant, Judgement(candidates=(), judge="rules"))
    store.save_plan(begun[1], key.tenant, plan("a"))
    store.finish(begun[1], key.tenant, counts={"inserted": 1}, timings_ms={}, cost={}, now=NOW)
    opened = store.reopen(key.tenant, "r1", actor="ada", now=NOW)
    assert (opened.state, opened.plan, opened.judgement, opened.finished_at) == (RunState.QUEUED, None, None, None)
    assert opened.counts == {"inserted": 1}
    assert told(store, key) == [("run.rejudged", "ada", "r1")]
    assert fresh(store, claimed(store, key, "r1"), messages) == [1]


def test_only_a_finished_run_is_reopened_or_undone(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    _, lease = begin("r1")
    with pytest.raises(RunStateError):
        store.reopen(key.tenant, "r1", actor="ada", now=NOW)
    with pytest.raises(RunStateError):
        store.mark_undone(key.tenant, "r1", actor="ada", now=NOW)
    assert told(store, key) == []
    finish(store, lease, key)
    assert store.mark_undone(key.tenant, "r1", actor="ada", now=NOW).state is RunState.UNDONE
    assert store.mark_undone(key.tenant, "r1", actor="ada", now=NOW).state is RunState.UNDONE
    assert told(store, key) == [("run.undone", "ada", "r1")]


def test_pages_are_newest_first_and_meet(database: Database, store: SqlRunStore, key: SessionKey) -> None:
    for number in range(5):
        add_run(database, key, f"r{number}", (number, number), now=NOW + timedelta(minutes=number // 2))
    first = store.page(key.tenant, limit=2)
    second = store.page(key.tenant, limit=9, before=first[-1].run_id)
    assert [run.run_id for run in first + second] == ["r4", "r3", "r2", "r1", "r0"]
    assert store.page(key.tenant, limit=9, state=RunState.FAILED) == []
    assert len(store.page(key.tenant, limit=9, state=RunState.QUEUED, session_id="dinner")) == 5
    assert store.page(key.tenant, limit=9, session_id="lunch") == []


def test_runs_that_nobody_holds_are_stuck(
    database: Database, store: SqlRunStore, key: SessionKey, begin: Begin
) -> None:
    early = NOW - timedelta(days=400)
    add_run(database, key, "never-started", (1, 1), now=early)
    begin("abandoned", 2, 2, now=early)
    begin("held", 3, 3, now=NOW)
    _, done = begin("done", 4, 4, now=early)
    finish(store, done, key, now=early)
    found = [run for run in store.stuck(before=early + timedelta(seconds=91), limit=100) if run.tenant == key.tenant]
    assert {run.run_id for run in found} == {"never-started", "abandoned"}
    store.requeue(key.tenant, "abandoned", now=NOW)
    again = store.stuck(before=early + timedelta(seconds=91), limit=100)
    assert [run.run_id for run in again if run.tenant == key.tenant] == ["never-started"]


# --- what is left for later


@pytest.fixture
def nothing_left(database: Database) -> None:
    """Other tests' errands out of the way."""
    for table in (retirements, run_receipts):
        database.write(partial(_emptied, table))


def _emptied(table: Table, connection: Connection) -> None:
    connection.execute(delete(table))


@pytest.mark.usefixtures("nothing_left")
def test_a_removal_is_tried_until_it_is_done(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    _, lease = begin("r1")
    gone = Retirement(
        retirement_id="a:old",
        tenant=key.tenant,
        provider="MEMOS",
        collection="user:chen",
        memory_id="old",
        replaced_by="m-a",
        run_id="r1",
    )
    store.add_retirements(lease, [gone], now=NOW)
    store.add_retirements(None, [gone], now=NOW)
    assert store.due_retirements(now=NOW, limit=10) == [gone]
    store.retired(gone, error="provider_timeout", now=NOW)
    assert store.due_retirements(now=NOW + timedelta(seconds=59), limit=10) == []
    (failed,) = store.due_retirements(now=NOW + timedelta(seconds=60), limit=10)
    assert (failed.attempts, failed.last_error) == (1, "provider_timeout")
    store.retired(failed, error="", now=NOW)
    assert store.due_retirements(now=NOW + timedelta(days=9), limit=10) == []


@pytest.mark.usefixtures("nothing_left")
def test_an_add_is_looked_for_until_it_is_seen(
    database: Database, store: SqlRunStore, key: SessionKey, begin: Begin
) -> None:
    _, lease = begin("r1")
    store.save_plan(lease, key.tenant, plan("a"))
    store.add_receipts(
        lease, key.tenant, [receipt("a", "MEMOS", memory_id="a", verify_at=NOW + timedelta(seconds=30))], now=NOW
    )
    assert store.due_read_backs(now=NOW, limit=10) == []
    (check,) = store.due_read_backs(now=NOW + timedelta(seconds=30), limit=10)
    assert (check.tenant, check.run_id, check.attempts, check.receipt.memory_id) == (key.tenant, "r1", 0, "a")
    store.read_back(check, external_ids=(), error="absent", now=NOW)
    (again,) = store.due_read_backs(now=NOW + timedelta(seconds=60), limit=10)
    assert again.attempts == 1
    store.read_back(again, external_ids=("x7",), error="", now=NOW)
    assert store.due_read_backs(now=NOW + timedelta(days=9), limit=10) == []
    run = store.get(key.tenant, "r1")
    assert run is not None
    assert run.receipts[0].external_ids == ("x7",)
    mine = select(provider_copies.c.external_id).where(provider_copies.c.tenant == key.tenant)
    assert database.read(lambda connection: connection.scalars(mine).all()) == ["x7"]


@pytest.mark.usefixtures("nothing_left")
def test_a_copy_goes_when_its_memory_has_run_out_and_is_forgotten_when_it_is_gone(
    database: Database, store: SqlRunStore, key: SessionKey, begin: Begin
) -> None:
    writes = [write("for ever"), replace(write("a day"), ttl_seconds=86_400), replace(write("again"), ttl_seconds=60)]
    _, lease = begin("r1")
    store.save_plan(lease, key.tenant, replace(plan(), writes=tuple(writes)))
    kept = [
        receipt(name, "MEMOS", memory_id=name, external_ids=(f"x {name}", f"y {name}"))
        for name in ("for ever", "a day")
    ]
    store.add_receipts(lease, key.tenant, [*kept, receipt("again", "MEMOS", memory_id="known before")], now=NOW)
    retention = SqlRetention(database)
    ends = NOW + timedelta(days=1)
    assert retention.retire_copies(now=ends - timedelta(microseconds=1), limit=10) == 0
    assert [retention.retire_copies(now=ends, limit=10) for _ in range(2)] == [2, 0]
    (due,) = store.due_retirements(now=ends, limit=10)
    assert (due.tenant, due.provider, due.collection, due.memory_id) == (key.tenant, "MEMOS", "user:chen", "a day")
    assert copies_in(database, key) == {"x for ever", "y for ever", "x a day", "y a day", "known before"}
    store.retired(due, error="", now=ends)
    assert copies_in(database, key) == {"x for ever", "y for ever", "known before"}
    assert store.due_retirements(now=ends + timedelta(days=9), limit=10) == []


def copies_in(database: Database, key: SessionKey) -> set[str]:
    mine = select(provider_copies.c.external_id).where(provider_copies.c.tenant == key.tenant)
    return set(database.read(lambda connection: connection.scalars(mine).all()))


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize(("lost", "kept"), [(True, Kept.LOST), (False, Kept.YES)])
def test_what_is_looked_for_no_more_says_why(
    store: SqlRunStore, key: SessionKey, begin: Begin, *, lost: bool, kept: Kept
) -> None:
    _, lease = begin("r1")
    store.save_plan(lease, key.tenant, plan("a"))
    store.add_receipts(lease, key.tenant, [receipt("a", "MEMOS", verify_at=NOW)], now=NOW)
    (check,) = store.due_read_backs(now=NOW, limit=10)
    assert check.receipt.kept is Kept.AWAITED
    store.stop_looking(check, lost=lost)
    assert store.due_read_backs(now=NOW + timedelta(days=9), limit=10) == []
    run = store.get(key.tenant, "r1")
    assert run is not None
    assert run.receipts[0].kept is kept


def test_a_noted_removal_is_remembered(store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    _, lease = begin("r1")
    gone = Retirement(
        retirement_id="a:old",
        tenant=key.tenant,
        provider="MEMOS",
        collection="user:chen",
        memory_id="old",
        replaced_by="m-a",
        run_id="r1",
    )
    store.add_retirements(lease, [gone], now=NOW)
    store.retired(gone, error="", now=NOW)
    others = [(key.tenant, "MEMOS", "new"), (key.tenant, "MEM0", "old"), (next(tenants), "MEMOS", "old")]
    asked = [(key.tenant, "MEMOS", "old"), *others]
    assert [store.is_retired(*one) for one in asked] == [True, False, False, False]


def test_a_text_is_set_aside_once(database: Database, store: SqlRunStore, key: SessionKey, begin: Begin) -> None:
    run, _ = begin("r1")
    for _ in range(2):
        store.quarantine(run, replace(write("w1"), content="from now on always…", reason="instructs"), now=NOW)
    mine = select(quarantine).where(quarantine.c.tenant == key.tenant)
    (row,) = database.read(lambda connection: connection.execute(mine).all())
    assert (row.user_id, row.unit["sources"], row.unit["importance"]) == (run.user_id, [["dinner", 1]], 8)
    assert (row.content, row.reason, row.run_id, row.decision) == ("from now on always…", "instructs", "r1", "")
