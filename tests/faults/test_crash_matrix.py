"""A worker is killed (SIGKILL) at every step and inside commit; the redelivery ends where a calm run does."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from strata.clock import FakeClock
from strata.consolidation.lookup import scope_of
from strata.maintenance.reconcile import Limits, Reconcile
from strata.model.memories import Memory
from strata.model.runs import Run
from strata.ports import ReadBack
from tests.doubles.memos import Memos
from tests.doubles.server import Double
from tests.fakes.queue import ListedQueue
from tests.fakes.rig import AGENT, NOW, USER, Rig, fresh_file
from tests.faults.doomed import LoggedChat, Place, deliver_in_a_process

pytestmark = pytest.mark.slow

KILLED = -9
BOUNDARIES = ["claim", "fresh", "judge", "normalise", "prune", "conflicts", "plan"]
INSIDE = [f"{step}#{place}" for step in ("added", "written", "receipt") for place in (1, 3)]
STEPS = [*BOUNDARIES, *INSIDE, "commit", "record"]
COLLECTIONS = (f"user:{USER}", f"agent:{AGENT}")
SAID = ("我对花生过敏", "我已经搬到厦门了", "我喜欢喝茶", "鱼要先煎再炖")


REAL = [pytest.mark.mariadb, pytest.mark.redis]


@pytest.fixture(params=["file", pytest.param("servers", marks=REAL), pytest.param("servers, memos", marks=REAL)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Nothing but a file; MariaDB and Redis; those, with agents that use MemOS."""
    if request.param == "file":
        yield Place(url=fresh_file(tmp_path), cache_url="", folder=tmp_path)
        return
    mariadb, redis = request.getfixturevalue("mariadb"), request.getfixturevalue("redis_server")
    redis.flush()
    url = mariadb.fresh_database()
    with Double(Memos(FakeClock(NOW))) as double:
        memos_url = double.url if "memos" in request.param else ""
        yield Place(url=url, cache_url=redis.url, folder=tmp_path, memos_url=memos_url)
    mariadb.drop_database(url)


def begin(place: Place, tenant: str) -> str:
    """A user who lived elsewhere before says four things and leaves."""
    rig = place.rig()
    rig.tenant = tenant
    assert isinstance(rig.chat, LoggedChat)
    rig.chat.ANSWER = '{"memories": [{"content": "用户住在武汉", "category": "preference_taboo", "messages": [1]}]}'
    rig.settle("我住在武汉", session="before")
    (place.folder / "asked").unlink()
    rig.clock.advance(60)
    rig.say(*SAID)
    return rig.sessions.end(rig.key(), run_id=f"run-of-{tenant}", now=rig.clock.now()).run_id


def outcome(place: Place, tenant: str) -> Mapping[str, object]:
    """Everything that is there after reconcile had its turn, but for ids and times."""
    rig = place.rig(later_seconds=2 * 3_600)
    rig.tenant = tenant
    reconcile(rig)
    run = rig.runs.get(tenant, f"run-of-{tenant}")
    assert run is not None
    stored = [memory for name in COLLECTIONS for memory in rig.store.changes(tenant, name, 0)]
    names = {memory.memory_id: memory.content for memory in stored}
    return {
        "memories": sorted(
            (memory.content, memory.status.value, memory.version, names.get(memory.superseded_by or "", ""))
            for memory in stored
        ),
        "abroad": sorted(memory.content for name in COLLECTIONS for memory in abroad(rig, run, name)),
        "versions": len(rig.store.of_run(tenant, run.run_id)),
        "run": (run.state, dict(run.counts), run.plan.judge if run.plan else "", len(run.receipts), dict(run.cost)),
        "due": rig.runs.due_retirements(now=rig.clock.now(), limit=10),
    }


def reconcile(rig: Rig) -> None:
    limits = Limits(stuck_seconds=900, most_attempts=5, batch=100)
    Reconcile(rig.runs, ListedQueue(), rig.provider_named, never, rig.clock, limits)(seconds=45)


def never(_check: ReadBack, _run: Run) -> None:
    pytest.fail("an add was made again that was not lost")


def abroad(rig: Rig, run: Run, collection: str) -> list[Memory]:
    return rig.provider.listed(scope_of(run), collection) if rig.provider else []


def test_a_killed_worker_leaves_nothing_undone_and_nothing_twice(place: Place) -> None:
    begin(place, "calm")
    assert deliver_in_a_process(place, "run-of-calm", tenant="calm", attempt=1, later_seconds=61, doom="") == 0
    calm = outcome(place, "calm")
    assert place.asked() == 1
    for step in STEPS:
        run_id = begin(place, step)
        died = deliver_in_a_process(place, run_id, tenant=step, attempt=1, later_seconds=61, doom=step)
        assert died == KILLED, step
        again = deliver_in_a_process(place, run_id, tenant=step, attempt=2, later_seconds=400, doom="")
        assert again == 0, step
        assert outcome(place, step) == calm, step
        assert place.asked() == 1, step
