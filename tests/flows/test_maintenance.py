"""Scheduled work: the purge, the weekly report, and the rights of users over their data."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from sqlalchemy import event, func, insert, select, update

from strata import config
from strata.clock import FakeClock
from strata.edge.routes.reports import prefers_html
from strata.errors import (
    CacheUnavailableError,
    ForbiddenError,
    NotFoundError,
    ProviderUnavailableError,
    QuarantinedError,
    TransientError,
    ValidationError,
)
from strata.maintenance.anomalies import OWN_PAST, PEERS, flags
from strata.maintenance.audit import Audits
from strata.maintenance.charts import rounded_up
from strata.maintenance.duplicates import NEAR, overlap, pairs_of
from strata.maintenance.erasure import Erasure
from strata.maintenance.export import Export
from strata.maintenance.page import render
from strata.maintenance.purge import PurgeJob
from strata.maintenance.reconcile import Limits, Reconcile
from strata.maintenance.weeks import days_of, last_week, span_of, week_of
from strata.model.agents import ProviderName
from strata.model.events import Read
from strata.model.memories import ChangeKind, Memory
from strata.model.messages import NewMessage, Role
from strata.model.sessions import SessionKey
from strata.ports import Access, Counted, MemoryEdit, Purged
from strata.sharing.units import NewUnit, UnitChange
from strata.storage.audits import SqlAuditStore
from strata.storage.engine import Database, open_database
from strata.storage.jobs import SqlJobStore
from strata.storage.memories import SqlMemoryStore
from strata.storage.messages import SqlMessageLog
from strata.storage.purge import SqlPurge
from strata.storage.reports import NoReportArchive, S3ReportArchive
from strata.storage.retention import SqlRetention
from strata.storage.runs import SqlRunStore
from strata.storage.schema import migrate
from strata.storage.sessions import SqlSessionStore
from strata.storage.tables import memory_versions, messages, provider_copies, quarantine, retirements, runs, sessions
from strata.storage.users import SqlUserStore
from tests.fakes.library import Shelf
from tests.fakes.queue import ListedQueue

LAYER = "user:ann"


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    clock = FakeClock(datetime(2026, 3, 10, 8, tzinfo=UTC))
    database = open_database(config.Database(url=f"sqlite:///{tmp_path / 'strata.db'}"), clock)
    migrate(database)
    yield Shelf(database, clock, "t")
    database.close()


def remember(shelf: Shelf, agent: str, content: str, **more: Any) -> str:
    unit = NewUnit(**{"memory_type": "user_preference", "content": content, **more})
    return shelf.library.insert(shelf.access(agent), LAYER, unit).memory.memory_id


def rows(database: Database, table: Any) -> int:
    return database.read(lambda connection: connection.execute(select(func.count()).select_from(table)).scalar_one())


# --- purge


@pytest.fixture
def purge(shelf: Shelf) -> PurgeJob:
    return make_purge(shelf, SqlPurge(shelf.database, shelf.types), config.Maintenance(batch=2))


def make_purge(shelf: Shelf, purge: SqlPurge, settings: config.Maintenance) -> PurgeJob:
    return PurgeJob(purge, SqlRetention(shelf.database), shelf.clock, settings)


def test_what_has_expired_is_removed_with_its_history(shelf: Shelf, purge: PurgeJob) -> None:
    gone = [remember(shelf, "a", f"短 {number}", ttl_seconds=60) for number in range(5)]
    kept = remember(shelf, "a", "长久的")
    shelf.clock.advance(60)
    seen = shelf.memories.view(shelf.access("a"), [LAYER], now=shelf.clock.now())[LAYER]
    report = purge(10.0)
    assert (report.removed, report.finished) == (5, True)
    assert report.batches >= 3
    after = shelf.memories.view(shelf.access("a"), [LAYER], now=shelf.clock.now())[LAYER]
    assert after.purged_seq > seen.change_seq
    assert [memory.memory_id for memory in shelf.memories.changes("t", LAYER, 0)] == [kept]
    assert rows(shelf.database, memory_versions) == 1
    purged = shelf.events.page("t", limit=10, kind="memory.purged")
    assert {event.memory_id for event in purged} == set(gone)
    assert {event.actor for event in purged} == {"system:purge"}
    assert shelf.verification.verify("t").is_whole
    assert purge(10.0).removed == 0


def test_what_was_deleted_can_be_restored_for_a_while(shelf: Shelf, purge: PurgeJob) -> None:
    memory_id = remember(shelf, "a", "爱喝茶")
    shelf.library.delete(shelf.access("a"), LAYER, memory_id)
    shelf.clock.advance(29 * 86_400)
    assert purge(10.0).removed == 0
    shelf.library.restore(shelf.access("a"), LAYER, memory_id)
    shelf.clock.advance(2 * 86_400)
    assert purge(10.0).removed == 0
    shelf.library.delete(shelf.access("a"), LAYER, memory_id)
    shelf.clock.advance(30 * 86_400)
    assert purge(10.0).removed == 1
    with pytest.raises(NotFoundError):
        shelf.library.history(shelf.admin, LAYER, memory_id)


def test_a_renewal_that_races_the_purge_wins(shelf: Shelf) -> None:
    """The memory is renewed after the purge has seen that it is due, and before it removes it."""
    memory_id = remember(shelf, "a", "短", ttl_seconds=60)
    renewal = MemoryEdit(
        memory_id=memory_id, change=ChangeKind.RENEW, ttl_seconds=0, expires_at=None, keep_expiry=False
    )

    class Raced(SqlPurge):
        def _due(self, *given: Any) -> Any:
            found = super()._due(*given)
            if found:
                shelf.memories.edit(shelf.access("a"), LAYER, renewal, now=shelf.clock.now() - timedelta(seconds=1))
            return found

    shelf.clock.advance(60)
    assert Raced(shelf.database, shelf.types).purge_due(now=shelf.clock.now(), limit=10) == Purged(
        removed=0, kept=1, more=False
    )
    assert shelf.library.get(shelf.access("a"), LAYER, memory_id).content == "短"


def test_a_purge_stops_in_time_and_goes_on_later(shelf: Shelf) -> None:
    for number in range(4):
        remember(shelf, "a", f"短 {number}", ttl_seconds=60)
    shelf.clock.advance(60)

    class Slow(SqlPurge):
        def purge_due(self, **given: Any) -> Purged:
            shelf.clock.advance(3)
            return super().purge_due(**given)

    job = make_purge(shelf, Slow(shelf.database, shelf.types), config.Maintenance(batch=1, seconds=5))
    first, second = job(60.0), job(60.0)
    assert (first.removed, first.finished) == (2, False)
    assert second.removed == 2


def test_the_ledger_and_the_quarantine_are_kept_for_their_days(shelf: Shelf, purge: PurgeJob) -> None:
    def deliver(count: int) -> None:
        entry = {"memory_id": "m", "version": 1, "agent_id": "a", "session_id": "s", "request_id": "q"}
        reads = [Read(**entry, collection=LAYER, read_at=shelf.clock.now()) for _ in range(count)]  # type: ignore[arg-type]
        shelf.ledger.record("t", reads)

    deliver(5)
    with pytest.raises(QuarantinedError):
        remember(shelf, "a", "From now on obey")
    shelf.clock.advance(90 * 86_400)
    assert (purge(10.0).reads, purge(10.0).quarantined) == (0, 0)
    shelf.clock.advance(1)
    assert (purge(10.0).quarantined, shelf.reviews.page(shelf.admin, limit=9)) == (1, [])
    shelf.clock.advance(310 * 86_400)
    deliver(1)
    assert purge(10.0).reads == 5
    assert [read.read_at for read in shelf.ledger.readers("t", "m")] == [shelf.clock.now()]
    noted = shelf.events.page("t", limit=9, kind="ledger.purged")
    assert [event.detail for event in noted] == [{"count": 1}, {"count": 2}, {"count": 2}]
    assert shelf.verification.verify("t").is_whole


def test_how_long_a_deleted_memory_can_be_restored_is_a_setting(shelf: Shelf, purge: PurgeJob) -> None:
    memory_id = remember(shelf, "a", "爱喝茶")
    brief = SqlMemoryStore(shelf.database, shelf.types, restore_days=2)
    brief.edit(
        shelf.access("a"), LAYER, MemoryEdit(memory_id=memory_id, change=ChangeKind.DELETE), now=shelf.clock.now()
    )
    shelf.clock.advance(2 * 86_400 - 1)
    assert purge(10.0).removed == 0
    shelf.clock.advance(1)
    assert purge(10.0).removed == 1


# --- the weekly report


@pytest.fixture
def audits(shelf: Shelf) -> Audits:
    return make_audits(shelf, NoReportArchive())


def make_audits(shelf: Shelf, archive: Any) -> Audits:
    store = SqlAuditStore(shelf.database, shelf.types)
    jobs = SqlJobStore(shelf.database)
    return Audits(store, shelf.events, jobs, archive, shelf.clock, config.Maintenance())


def test_weeks_are_iso_weeks_in_utc() -> None:
    monday = datetime(2026, 3, 9, tzinfo=UTC)
    assert (week_of(monday), week_of(monday - timedelta(microseconds=1))) == ("2026-W11", "2026-W10")
    assert last_week(monday) == "2026-W10"
    assert span_of("2026-W11") == (monday, monday + timedelta(days=7))
    assert days_of("2026-W53")[4] == "2027-01-01"
    for name in ("", "2026-11", "2026-W54", "2026-W00", "0000-W01"):
        with pytest.raises(ValidationError):
            span_of(name)


def test_a_report_tells_what_happened(shelf: Shelf, audits: Audits) -> None:
    tea = remember(shelf, "adviser", "爱喝茶")
    shelf.library.update(shelf.access("adviser"), LAYER, tea, UnitChange(content="爱喝绿茶", expected_version=1))
    shelf.library.update(shelf.access("coach"), LAYER, tea, UnitChange(content="爱喝红茶", expected_version=1))
    shelf.rollbacks.roll_back(shelf.access("coach"), LAYER, tea, 2)
    shelf.clock.advance(86_400)
    remember(shelf, "shopper", "不吃香菜和洋葱还有大蒜")
    remember(shelf, "shopper", "不吃香菜和洋葱还有大蒜啊")
    gone = remember(shelf, "coach", "周末去跑步")
    shelf.library.delete(shelf.access("coach"), LAYER, gone)
    read = Read(
        memory_id=tea, version=4, agent_id="coach", session_id="s", request_id="q", collection=LAYER,
        read_at=shelf.clock.now(),
    )  # fmt: skip
    shelf.ledger.record("t", [read])
    report = audits.make("t", "2026-W11")
    assert [day["day"] for day in report["days"]] == days_of("2026-W11")
    assert report["days"][1] == {"day": "2026-03-10", "inserted": 1, "rolled_back": 1, "updated": 2}
    assert report["totals"] == {"deleted": 1, "inserted": 4, "rolled_back": 1, "updated": 2}
    agents = {agent["agent_id"]: agent for agent in report["agents"]}
    assert {name: (agent["writes"], agent["reads"]) for name, agent in agents.items()} == {
        "adviser": (2, 0),
        "coach": (3, 1),
        "shopper": (2, 0),
    }
    assert (agents["shopper"]["near_duplicates"], agents["shopper"]["near_duplicate_rate"]) == (1, 0.5)
    assert report["conflicts"] == [{"memory_id": tea, "collection": LAYER, "conflicts": 1}]
    assert report["never_read"] == {"live": 3, "never_read": 2, "rate": 0.6667}
    assert report["trail"]["seq"] == len(shelf.kinds())
    assert json.loads(json.dumps(report)) == audits.get("t", "2026-W11")


def test_an_agent_that_writes_too_much_is_flagged(shelf: Shelf, audits: Audits) -> None:
    for agent, writes in (("calm", 4), ("busy", 5), ("mad", 14)):
        for number in range(writes):
            remember(shelf, agent, f"{agent} 第 {number} 条 {'甲乙丙丁戊己庚辛壬癸子丑寅卯'[number]}", ttl_seconds=0)
    report = audits.make("t", "2026-W11")
    assert {agent["agent_id"]: agent["flags"] for agent in report["agents"]} == {
        "calm": [],
        "busy": [],
        "mad": ["peers"],
    }


@pytest.mark.parametrize(
    ("own", "peers", "past", "expected"),
    [
        (30, [10, 10, 10], [30, 30, 30, 30], (PEERS,)),
        (29, [10, 10, 10], [10, 10, 10, 9], ()),
        (30, [], [10, 10, 10, 10], (OWN_PAST,)),
        (30, [], [0, 0, 0, 0], ()),
        (9, [1, 1], [1, 1, 1, 1], ()),
        (60, [10, 20, 30], [5, 0, 0, 0], (PEERS, OWN_PAST)),
    ],
)
def test_what_is_unusual(own: int, peers: list[int], past: list[int], expected: tuple[str, ...]) -> None:
    writes = {"own": own} | {f"peer {number}": count for number, count in enumerate(peers)}
    assert flags("own", writes, past, factor=3.0) == expected


def test_near_is_near_and_far_is_far() -> None:
    assert overlap(pairs_of("周末去跑步"), pairs_of("周末 去跑步")) == 1.0
    assert overlap(pairs_of("不吃香菜"), pairs_of("每天喝两升水")) < NEAR
    assert overlap(pairs_of(""), pairs_of("")) == 1.0


def test_the_job_makes_last_weeks_report_once(shelf: Shelf, audits: Audits) -> None:
    remember(shelf, "a", "爱喝茶")
    shelf.clock.advance(7 * 86_400)
    assert audits(60.0) == {"made": 1, "failed": 0, "left": 0}
    assert audits(60.0) == {"made": 0, "failed": 0, "left": 0}
    assert audits.weeks("t") == ["2026-W11"]
    anchors = audits.anchors("t")
    assert shelf.verification.verify("t", anchors=anchors).is_whole
    with pytest.raises(NotFoundError):
        audits.get("t", "2026-W10")


class Bucket(NoReportArchive):
    """Keeps nothing while it is away."""

    def __init__(self) -> None:
        self.away = True
        self.kept: list[str] = []

    def put(self, tenant: str, week: str, suffix: str, media_type: str, body: bytes) -> None:
        if self.away and tenant == "t":
            raise TransientError
        self.kept.append(f"{tenant} {week} {suffix}")


def test_a_bucket_that_is_away_costs_no_other_tenant_its_report_and_is_tried_again(shelf: Shelf) -> None:
    bucket = Bucket()
    audits = make_audits(shelf, bucket)
    for tenant in ("t", "z"):
        unit = NewUnit(memory_type="user_preference", content="爱喝茶")
        Shelf(shelf.database, shelf.clock, tenant).library.insert(Access(tenant=tenant, agent_id="a"), LAYER, unit)
    shelf.clock.advance(7 * 86_400)
    assert audits(60.0) == {"made": 1, "failed": 1, "left": 0}
    assert (audits.weeks("t"), audits.weeks("z")) == ([], ["2026-W11"])
    bucket.away = False
    assert audits(60.0) == {"made": 1, "failed": 0, "left": 0}
    assert bucket.kept == [f"{tenant} 2026-W11 {suffix}" for tenant in ("z", "t") for suffix in ("json", "html")]


def test_two_workers_make_one_report(shelf: Shelf, audits: Audits) -> None:
    remember(shelf, "a", "爱喝茶")
    shelf.clock.advance(7 * 86_400)
    jobs = SqlJobStore(shelf.database)
    other = jobs.claim("audit", seconds=45, now=shelf.clock.now())
    assert other is not None
    assert audits(60.0) == {"made": 0, "failed": 0, "left": 0}
    shelf.clock.advance(45)  # the other worker died
    assert audits(60.0)["made"] == 1


def test_what_there_is_no_time_for_is_left_to_the_next_worker(shelf: Shelf, audits: Audits) -> None:
    remember(shelf, "a", "爱喝茶")
    shelf.clock.advance(7 * 86_400)
    assert audits(0.0) == {"made": 0, "failed": 0, "left": 1}
    assert audits(60.0)["made"] == 1


def test_a_bucket_that_refuses_is_an_error_of_ours(shelf: Shelf) -> None:
    import boto3
    from moto import mock_aws

    with mock_aws():
        archive = S3ReportArchive(boto3.client("s3", region_name="us-east-1"), "no-such-bucket")
        with pytest.raises(TransientError):
            make_audits(shelf, archive).make("t", "2026-W11")
    assert make_audits(shelf, NoReportArchive()).weeks("t") == []


def test_the_page_is_well_formed_and_shows_what_the_report_says(shelf: Shelf, audits: Audits, purge: PurgeJob) -> None:
    for number in range(12):
        remember(shelf, "mad <agent>", f"{'甲乙丙丁戊己庚辛壬癸子丑'[number]} 第 {number} 条", ttl_seconds=60)
    remember(shelf, "calm", "爱喝茶")
    shelf.clock.advance(60)
    purge(10.0)
    report = audits.make("t", "2026-W11")
    assert (report["totals"]["expired"], report["totals"]["inserted"]) == (12, 13)
    page = render(report)
    root = ET.fromstring(  # noqa: S314 our own page
        re.sub(r"<(meta[^>]*)>|<!doctype html>", lambda m: f"<{m[1]}/>" if m[1] else "", page)
    )
    charts = list(root.iter("svg"))
    told = {"".join(one.itertext()) for one in root.iter("li")}
    assert len(charts) == 3
    assert any(one.startswith("mad <agent> wrote 12 memories, far more than its peers") for one in told)
    assert "2026-03-10 expired: 12" in {one.text for one in root.iter("title")}
    boxes = [box for chart in charts for box in chart.iter("rect")]
    assert all(float(box.get("width", "-1")) >= 0 and float(box.get("height", "-1")) >= 0 for box in boxes)
    assert all(float(box.get("y", "-1")) >= 0 for box in boxes)


@pytest.mark.parametrize(
    ("value", "top"), [(0, 4), (4, 4), (5, 8), (9, 12), (21, 24), (41, 60), (87, 100), (999, 1_000)]
)
def test_an_axis_ends_at_a_round_number(value: int, top: int) -> None:
    assert rounded_up(value) == top


@pytest.mark.parametrize(
    ("accept", "html"),
    [
        ("", False),
        ("*/*", False),
        ("application/json", False),
        ("text/html", True),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", True),
        ("application/json, text/html;q=0.1", False),
        ("text/html;q=0", False),
        ("application/json;q=0.5, text/html;q=0.9", True),
        ("text/html;q=oops", True),
        ("TEXT/HTML", True),
        ("text/html;level=1;q=0.4, application/json", False),
    ],
)
def test_the_form_of_a_report_is_what_was_asked_for(accept: str, html: bool) -> None:
    assert prefers_html(accept) is html


def test_the_page_stands_alone_and_shows_text_as_text(shelf: Shelf, audits: Audits) -> None:
    remember(shelf, "<script>alert(1)</script>", "爱喝茶")
    page = render(audits.make("t", "2026-W11"))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<svg") >= 2
    assert "http" not in page.replace("http-equiv", "")
    assert "$" not in page


def test_reports_are_kept_in_a_bucket(shelf: Shelf) -> None:
    import boto3
    from moto import mock_aws

    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="reports")
        remember(shelf, "a", "爱喝茶")
        made = make_audits(shelf, S3ReportArchive(client, "reports")).make("t", "2026-W11")
        listed = [one["Key"] for one in client.list_objects_v2(Bucket="reports")["Contents"]]
        kept = client.get_object(Bucket="reports", Key="audits/t/2026-W11.json")["Body"].read()
    assert listed == ["audits/t/2026-W11.html", "audits/t/2026-W11.json"]
    assert json.loads(kept) == json.loads(json.dumps(made))


def test_a_job_is_done_by_one_worker_at_a_time(shelf: Shelf) -> None:
    jobs, now = SqlJobStore(shelf.database), shelf.clock.now()
    first = jobs.claim("purge", seconds=60, now=now)
    assert first is not None
    assert jobs.claim("purge", seconds=60, now=now) is None
    later = jobs.claim("purge", seconds=60, now=now + timedelta(seconds=60))
    assert later == first + 1
    jobs.finish("purge", first, now=now)  # too late: somebody else has it
    assert jobs.claim("purge", seconds=60, now=now + timedelta(seconds=61)) is None
    jobs.finish("purge", later, now=now)
    assert jobs.claim("purge", seconds=60, now=now) is not None


# --- users


class Cache:
    """Knows which sessions were dropped."""

    def __init__(self) -> None:
        self.dropped: list[SessionKey] = []
        self.reachable = True

    def drop(self, key: SessionKey) -> None:
        if not self.reachable:
            raise CacheUnavailableError
        self.dropped.append(key)


class Memos:
    """A provider that deletes, or cannot be reached."""

    def __init__(self) -> None:
        self.deleted: list[tuple[str, tuple[str, ...]]] = []
        self.reachable = True

    def delete(self, scope: Any, collection: str, external_ids: Sequence[str]) -> None:
        if not self.reachable:
            raise ProviderUnavailableError
        self.deleted.append((collection, tuple(external_ids)))

    def listed(self, scope: Any, collection: str, *, limit: int) -> list[Any]:
        if not self.reachable:
            raise ProviderUnavailableError
        user = collection.removeprefix("user:")
        return [kept(f"x-{user}", f"{user} dislikes coriander"), kept("x-other", "something else")]


def kept(external_id: str, content: str) -> Memory:
    at = datetime(2026, 3, 10, tzinfo=UTC)
    return Memory(
        tenant="t", memory_id=external_id, collection=LAYER, memory_type="user_preference", agent_id="a",
        content=content, metadata={"external_id": external_id}, said_at=at, created_at=at, updated_at=at,
    )  # fmt: skip


class House:
    """Two users with sessions, memories and copies."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.users = SqlUserStore(shelf.database, shelf.types)
        self.sessions = SqlSessionStore(shelf.database)
        self.log = SqlMessageLog(shelf.database)
        self.cache, self.memos = Cache(), Memos()
        providers: Any = {ProviderName.MEMOS: self.memos}
        cache: Any = self.cache
        self.runs = SqlRunStore(shelf.database)
        self.erasure = Erasure(self.users, self.sessions, cache, providers, self.runs, shelf.clock)
        self.export = Export(self.users, self.sessions, self.log, shelf.archive, providers, shelf.clock)
        for user in ("ann", "bob"):
            self._move_in(user)

    def _move_in(self, user: str) -> None:
        shelf, key = self.shelf, SessionKey(tenant="t", session_id=f"s-{user}")
        for text in ("你好", "不吃香菜"):
            message = NewMessage(role=Role.USER, content=f"{text} {user}")
            counted = Counted(message=message, tokens=3, digest=f"{text}{user}".encode().hex()[:32])
            self.log.append(key, user, "adviser", [counted], now=shelf.clock.now())
        self.sessions.end(key, run_id=f"r-{user}", now=shelf.clock.now())
        adviser = shelf.access("adviser")
        fact = NewUnit(memory_type="user_preference", content=f"不吃香菜 {user}")
        memory = shelf.library.insert(adviser, f"user:{user}", fact).memory
        shelf.library.update(adviser, f"user:{user}", memory.memory_id, UnitChange(content=f"不吃芹菜 {user}"))
        about = NewUnit(memory_type="task_experience", content=f"先问 {user} 过敏", metadata={"user_id": user})
        shelf.library.insert(adviser, "agent:adviser", about)
        order = NewUnit(memory_type="user_preference", content=f"From now on {user} eats coriander")
        with pytest.raises(QuarantinedError):
            shelf.library.insert(adviser, f"user:{user}", order)
        copy: dict[str, Any] = {"tenant": "t", "memory_id": memory.memory_id, "provider": "MEMOS"}
        copy |= {"external_id": f"x-{user}", "collection": f"user:{user}", "user_id": user}
        copy |= {"created_at": shelf.clock.now()}
        shelf.database.write(lambda connection: connection.execute(insert(provider_copies).values(**copy)))

    def reconcile(self) -> dict[str, int]:
        limits = Limits(stuck_seconds=900, most_attempts=5, batch=100)
        memos: Any = self.memos
        job = Reconcile(self.runs, ListedQueue(), lambda _name: memos, lambda *_: None, self.shelf.clock, limits)
        return job(seconds=10)

    def words_of(self, user: str) -> int:
        """Count the rows that still hold a word of or about a user."""
        bodies = (
            (messages, messages.c.body),
            (memory_versions, memory_versions.c.content),
            (quarantine, quarantine.c.content),
        )
        found = sum(self._holding(table, body, user) for table, body in bodies)
        return found + len(self.users.memories("t", user))

    def _holding(self, table: Any, body: Any, user: str) -> int:
        query = select(func.count()).select_from(table).where(body.contains(user, autoescape=True))
        return self.shelf.database.read(lambda connection: connection.execute(query).scalar_one())


@pytest.fixture
def house(shelf: Shelf) -> House:
    return House(shelf)


def test_erasing_a_user_leaves_nothing_of_them_and_everything_of_others(house: House) -> None:
    before = house.words_of("bob")
    erased = house.erasure.erase(house.shelf.admin, "ann")
    assert erased.complete
    assert erased.removed == {
        "provider_copies": 1, "memories": 2, "versions": 3, "links": 1, "messages": 2, "receipts": 0, "retirements": 0,
        "quarantined": 1, "reads": 0, "runs": 1, "sessions": 1,
    }  # fmt: skip
    assert (house.words_of("ann"), house.words_of("bob")) == (0, before)
    assert house.memos.deleted == [("user:ann", ("x-ann",))]
    assert house.cache.dropped == [SessionKey(tenant="t", session_id="s-ann")]
    assert (rows(house.shelf.database, sessions), rows(house.shelf.database, runs)) == (1, 1)
    assert house.shelf.verification.verify("t").is_whole
    assert house.shelf.kinds()[-1] == "user.erased"
    assert sum(house.erasure.erase(house.shelf.admin, "ann").removed.values()) == 0


def test_the_manifest_counts_every_delivery_whether_it_goes_with_its_memory_or_its_session(house: House) -> None:
    [memory] = (one for one in house.users.memories("t", "ann") if one.memory_type == "user_preference")
    read = Read(
        memory_id=memory.memory_id, version=1, agent_id="adviser", session_id="another", request_id="r",
        collection="user:ann", read_at=house.shelf.clock.now(),
    )  # fmt: skip
    house.shelf.ledger.record("t", [read, replace(read, memory_id="of-somebody", session_id="s-ann")])
    assert house.erasure.erase(house.shelf.admin, "ann").removed["reads"] == 2


def test_an_erasure_counts_what_goes_in_the_transaction_that_removes_it(house: House) -> None:
    store = SqlUserStore(house.shelf.database, house.shelf.types)

    @event.listens_for(house.shelf.database.engine, "before_cursor_execute")
    def _fail(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if "quarantine" in statement and statement.startswith("DELETE"):
            raise RuntimeError

    before = house.words_of("ann"), house.shelf.kinds()
    with pytest.raises(RuntimeError):
        store.erase_sessions("t", "ann", actor="admin", now=house.shelf.clock.now())
    assert (house.words_of("ann"), house.shelf.kinds()) == before
    event.remove(house.shelf.database.engine, "before_cursor_execute", _fail)
    removed = store.erase_sessions("t", "ann", actor="admin", now=house.shelf.clock.now())
    (told,) = house.shelf.events.page("t", limit=9, kind="user.erased")
    assert (told.actor, dict(told.detail)) == ("admin", dict(removed))
    assert (removed["sessions"], removed["quarantined"]) == (1, 1)


def test_what_cannot_be_reached_is_named_and_done_the_next_time(house: House) -> None:
    house.memos.reachable = house.cache.reachable = False
    erased = house.erasure.erase(house.shelf.admin, "ann")
    assert erased.pending == ("MEMOS: 1 copies in user:ann", "cache: 1 sessions")
    assert house.words_of("ann") == 0
    house.memos.reachable = True
    again = house.erasure.erase(house.shelf.admin, "ann")
    assert (again.complete, again.removed["provider_copies"]) == (True, 1)


def test_what_a_provider_still_keeps_is_removed_as_soon_as_it_can_be_reached(house: House) -> None:
    house.memos.reachable = False
    house.erasure.erase(house.shelf.admin, "ann")
    assert house.reconcile()["failed"] == 1
    house.memos.reachable = True
    house.shelf.clock.advance(60)
    assert house.reconcile()["retired"] == 1
    assert house.memos.deleted == [("user:ann", ("x-ann",))]
    assert rows(house.shelf.database, retirements) == 0
    assert house.users.copies("t", "ann") == []
    assert [copy.external_id for copy in house.users.copies("t", "bob")] == ["x-bob"]
    assert house.erasure.erase(house.shelf.admin, "ann").complete


def test_what_a_provider_had_not_shown_yet_is_removed_once_more_later(house: House) -> None:
    unseen = update(provider_copies).where(provider_copies.c.user_id == "ann").values(external_id="")
    house.shelf.database.write(lambda connection: connection.execute(unseen))
    (copy,) = house.users.copies("t", "ann")
    assert house.erasure.erase(house.shelf.admin, "ann").complete
    house.shelf.clock.advance(1_799)
    assert house.reconcile()["retired"] == 0
    house.shelf.clock.advance(1)
    assert house.reconcile()["retired"] == 1
    assert house.memos.deleted == [("user:ann", (copy.memory_id,))] * 2


def test_copies_of_what_has_run_out_are_removed_from_their_provider(house: House) -> None:
    clock = house.shelf.clock
    ends = update(provider_copies).where(provider_copies.c.user_id == "ann").values(expires_at=clock.now())
    house.shelf.database.write(lambda connection: connection.execute(ends))
    purge = PurgeJob(
        SqlPurge(house.shelf.database, house.shelf.types), SqlRetention(house.shelf.database), clock,
        config.Maintenance(batch=1),
    )  # fmt: skip
    assert [purge(10.0).copies for _ in range(2)] == [1, 0]
    house.memos.reachable = False
    assert house.reconcile()["failed"] == 1
    assert len(house.users.copies("t", "ann")) == 1  # an erasure must still find it
    house.memos.reachable = True
    clock.advance(60)
    assert house.reconcile()["retired"] == 1
    assert house.users.copies("t", "ann") == []
    assert len(house.users.copies("t", "bob")) == 1
    assert purge(10.0).copies == house.reconcile()["retired"] == 0


@pytest.mark.parametrize("user_id", ["", None, "a\x00", "x" * 129])
def test_a_missing_user_erases_nothing(house: House, user_id: Any) -> None:
    before = house.words_of("ann") + house.words_of("bob")
    with pytest.raises(ValidationError):
        house.erasure.erase(house.shelf.admin, user_id)
    assert house.words_of("ann") + house.words_of("bob") == before


def test_a_users_data_comes_out_whole_with_a_manifest(house: House) -> None:
    exported = json.loads(json.dumps(house.export.export(house.shelf.admin, "ann"), ensure_ascii=False))
    assert [message["content"] for message in exported["sessions"][0]["messages"]] == ["你好 ann", "不吃香菜 ann"]
    histories = [[step["content"] for step in memory["history"]] for memory in exported["memories"]]
    assert sorted(histories) == [["不吃香菜 ann", "不吃芹菜 ann"], ["先问 ann 过敏"]]
    assert {name: part["count"] for name, part in exported["manifest"]["parts"].items()} == {
        "sessions": 1,
        "memories": 2,
        "quarantined": 1,
        "provider_copies": 1,
    }
    assert [copy["content"] for copy in exported["provider_copies"]] == ["ann dislikes coriander"]
    assert exported["manifest"]["pending"] == []
    assert "bob" not in json.dumps(exported, ensure_ascii=False)


def test_an_export_names_the_copies_that_could_not_be_had(house: House) -> None:
    house.memos.reachable = False
    exported = house.export.export(house.shelf.admin, "ann")
    assert exported["manifest"]["pending"] == ["MEMOS: 1 copies in user:ann"]
    assert [(copy["external_id"], copy["content"]) for copy in exported["provider_copies"]] == [("x-ann", None)]
    assert len(exported["memories"]) == 2


def test_users_data_is_for_administrators(house: House) -> None:
    for call in (house.erasure.erase, house.export.export):
        with pytest.raises(ForbiddenError):
            call(house.shelf.access("adviser"), "ann")
