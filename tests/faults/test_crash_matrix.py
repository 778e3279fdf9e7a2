"""A worker is killed (SIGKILL) at every point that a calm run passes; the redelivery ends where the calm run does.

Points are the ends of steps, each write and receipt inside commit, each transaction just before it is committed, and
each answer of a provider. They are taken from the calm run itself, so that none can be forgotten.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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
from tests.faults.doomed import COMMIT, MODEL, LoggedChat, Place, deliver_in_a_process

pytestmark = pytest.mark.slow

KILLED = -9
STEPS = ("claim", "fresh", "judge", "normalise", "prune", "conflicts", "plan", "added", "written", "receipt", "commit")
"""What every run goes through; ``record`` is the last step, and behind it there is nothing to lose."""
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


def begin(place: Place, tenants: Sequence[str]) -> Mapping[str, str]:
    """In each tenant, a user who lived elsewhere before says four things and leaves; return the runs."""
    rig = place.rig()
    assert isinstance(rig.chat, LoggedChat)
    rig.chat.ANSWER = '{"memories": [{"content": "用户住在武汉", "category": "preference_taboo", "messages": [1]}]}'
    runs = {}
    for tenant in tenants:
        rig.tenant = tenant
        rig.settle("我住在武汉", session="before")
    (place.folder / "asked").unlink()
    rig.clock.advance(60)
    for tenant in tenants:
        rig.tenant = tenant
        rig.say(*SAID)
        runs[tenant] = rig.sessions.end(rig.key(), run_id=f"run-of-{tenant}", now=rig.clock.now()).run_id
    return runs


def outcome(rig: Rig, tenant: str) -> Mapping[str, object]:
    """Everything that is there, but for ids and times."""
    rig.tenant = tenant
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
        "receipts": sorted((receipt.action.value, receipt.provider, receipt.kept.value) for receipt in run.receipts),
        "due": [item for item in rig.runs.due_retirements(now=rig.clock.now(), limit=1_000) if item.tenant == tenant],
    }


def reconcile(rig: Rig) -> None:
    limits = Limits(stuck_seconds=900, most_attempts=5, batch=5_000)
    Reconcile(rig.runs, ListedQueue(), rig.provider_named, never, rig.clock, limits)(seconds=45)


def never(_check: ReadBack, _run: Run) -> None:
    pytest.fail("an add was made again that was not lost")


def abroad(rig: Rig, run: Run, collection: str) -> list[Memory]:
    return rig.provider.listed(scope_of(run), collection) if rig.provider else []


def points_of(place: Place) -> list[str]:
    """Every point that an undisturbed run passes, numbered by name: ``added#1``, ``COMMIT#4``."""
    seen: Counter[str] = Counter()
    points = []
    for name in (place.folder / "points").read_text().splitlines():
        seen[name] += 1
        points.append(f"{name}#{seen[name]}")
    return points


def lose_the_answer(points: Sequence[str]) -> set[str]:
    """The points between the model's answer and the end of the transaction that keeps it."""
    behind = points[points.index(f"{MODEL}#1") :]
    kept = next(place for place, point in enumerate(behind) if point.startswith(COMMIT))
    return set(behind[: kept + 1])


def test_a_worker_killed_anywhere_leaves_nothing_undone_and_nothing_twice(place: Place) -> None:
    assert deliver_in_a_process(place, begin(place, ["calm"]), attempt=1, later_seconds=61, doom="") == 0
    assert place.asked() == 1
    points = points_of(place)
    assert {f"{step}#1" for step in STEPS} < set(points)
    runs = begin(place, points)
    for point in points:
        died = deliver_in_a_process(place, {point: runs[point]}, attempt=1, later_seconds=61, doom=point)
        assert died == KILLED, point
    assert deliver_in_a_process(place, runs, attempt=2, later_seconds=400, doom="") == 0
    rig = place.rig(later_seconds=2 * 3_600)
    reconcile(rig)
    calm = outcome(rig, "calm")
    assert {point: outcome(rig, point) for point in points} == dict.fromkeys(points, calm)
    assert place.asked() == len(runs) + len(lose_the_answer(points))
