"""A worker is killed (SIGKILL) at every step and inside commit; the redelivery ends where a calm run does."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.fakes.rig import USER, fresh_file
from tests.fakes.shelf import Shelf
from tests.faults.doomed import Place, deliver_in_a_process

pytestmark = pytest.mark.slow

KILLED = -9
BOUNDARIES = ["claim", "fresh", "judge", "normalise", "prune", "conflicts", "plan"]
INSIDE = [f"{step}#{place}" for step in ("added", "written", "receipt") for place in (1, 2, 3, 4)]
STEPS = [*BOUNDARIES, *INSIDE, "commit", "record"]
SAID = ("我对花生过敏", "我已经搬到厦门了", "我喜欢喝茶", "鱼要先煎再炖")


@pytest.fixture(params=["sqlite", pytest.param("mariadb", marks=[pytest.mark.mariadb, pytest.mark.redis])])
def servers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Database and cache: nothing but a file, then real servers."""
    if request.param == "sqlite":
        yield fresh_file(tmp_path), ""
        return
    mariadb, redis = request.getfixturevalue("mariadb"), request.getfixturevalue("redis_server")
    redis.flush()
    url = mariadb.fresh_database()
    yield url, redis.url
    mariadb.drop_database(url)


@pytest.fixture(params=[False, True], ids=["native", "external"])
def place(request: pytest.FixtureRequest, servers: tuple[str, str], tmp_path: Path) -> Place:
    url, cache_url = servers
    return Place(url=url, cache_url=cache_url, folder=tmp_path, abroad=request.param)


def begin(place: Place, tenant: str) -> str:
    """A user who lived elsewhere before says four things and leaves."""
    rig = place.rig()
    rig.tenant = tenant
    rig.chat.ANSWER = '{"memories": [{"content": "用户住在武汉", "category": "preference_taboo", "messages": [1]}]}'
    rig.settle("我住在武汉", session="before")
    (place.folder / "asked").unlink()
    rig.clock.advance(60)
    rig.say(*SAID)
    return rig.sessions.end(rig.key(), run_id=f"run-of-{tenant}", now=rig.clock.now()).run_id


def outcome(place: Place, tenant: str) -> Mapping[str, object]:
    """Everything that is there afterwards, but for ids and times."""
    rig = place.rig(later_seconds=1_000)
    rig.tenant = tenant
    run = rig.runs.get(tenant, f"run-of-{tenant}")
    assert run is not None
    stored = [*rig.store.changes(tenant, f"user:{USER}", 0), *rig.store.changes(tenant, "agent:recipe_adviser", 0)]
    names = {memory.memory_id: memory.content for memory in stored}
    return {
        "memories": sorted(
            (memory.content, memory.status.value, memory.version, names.get(memory.superseded_by or "", ""))
            for memory in stored
        ),
        "abroad": Shelf(place.folder / "shelf").contents(),
        "versions": len(rig.store.of_run(tenant, run.run_id)),
        "run": (run.state, dict(run.counts), run.plan.judge if run.plan else "", len(run.receipts), dict(run.cost)),
        "retirements": rig.runs.due_retirements(now=rig.clock.now(), limit=10),
    }


def test_a_killed_worker_leaves_nothing_undone_and_nothing_twice(place: Place) -> None:
    begin(place, "calm")
    assert deliver_in_a_process(place, "run-of-calm", tenant="calm", attempt=1, later_seconds=61, doom="") == 0
    calm = outcome(place, "calm")
    assert place.asked() == 1
    for step in STEPS:
        shutil.rmtree(place.folder / "shelf", ignore_errors=True)
        run_id = begin(place, step)
        died = deliver_in_a_process(place, run_id, tenant=step, attempt=1, later_seconds=61, doom=step)
        assert died == KILLED, step
        again = deliver_in_a_process(place, run_id, tenant=step, attempt=2, later_seconds=400, doom="")
        assert again == 0, step
        assert outcome(place, step) == calm, step
        assert place.asked() == 1, step
