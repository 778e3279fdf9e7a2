"""Twenty workers, every notice delivered three times and out of order: as if one had done them one by one."""

import random
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from strata import config
from strata.errors import TransientError
from strata.model.runs import Run, RunState
from strata.storage.cache_clients import connector
from tests.fakes.rig import NoCache, Rig, fresh_file, plan_of

pytestmark = pytest.mark.slow

USERS = ("chen", "wang", "li")
SESSIONS = tuple(f"{user}-{number}" for user in USERS for number in range(2))
PARTS = (
    ("过敏：用户对花生过敏", "偏好：用户喜欢吃辣", "好的"),
    ("偏好：用户不喜欢吃辣", "忌口：用户不吃香菜"),
    ("偏好：用户喜欢吃辣", "忌口：用户不吃芹菜", "经验：鱼要先煎再炖"),
)
"""What is said in each session before it is ended, resumed and ended again; the taste flips and flips back."""
TASTE = "用户喜欢吃辣"


class Place(NamedTuple):
    """Database and cache, and how the cache forgets."""

    url: str
    cache_url: str
    flush: Callable[[], object]


@pytest.fixture(params=["sqlite", pytest.param("mariadb", marks=[pytest.mark.mariadb, pytest.mark.redis])])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "sqlite":
        cache_url = f"memory://{tmp_path.name}"
        yield Place(fresh_file(tmp_path), cache_url, connector(config.Cache(url=cache_url))().flushall)
        return
    mariadb, redis = request.getfixturevalue("mariadb"), request.getfixturevalue("redis_server")
    redis.flush()
    url = mariadb.fresh_database()
    yield Place(url, redis.url, redis.flush)
    mariadb.drop_database(url)


def told(rig: Rig) -> list[Run]:
    """Every session is talked, ended, resumed and ended again; nothing is delivered yet."""
    runs = []
    for part in PARTS:
        for session in SESSIONS:
            rig.say(*part, session=session, user=session.partition("-")[0])
            runs.append(rig.end(session))
        rig.clock.advance(600)
    return runs


def outcome(rig: Rig) -> Mapping[str, list[str]]:
    collections = [*(f"user:{user}" for user in USERS), "agent:recipe_adviser"]
    return {name: sorted(rig.contents(name)) for name in collections}


class Deliveries:
    """Every notice three times, shuffled; what fails comes back at the end.

    ``meanwhile`` happens before each delivery. With ``fifo`` one notice of a session is in flight at a time, as the
    queue has it; without, the session's lock alone keeps its runs apart.
    """

    def __init__(self, runs: list[Run], seed: int, meanwhile: Callable[[], object], *, fifo: bool) -> None:
        self.notices = [run for run in runs for _ in range(3)]
        random.Random(seed).shuffle(self.notices)
        self.errors: list[BaseException] = []
        self._meanwhile, self._fifo = meanwhile, fifo
        self._lock, self._idle = threading.Lock(), threading.Event()
        self._held: set[str] = set()

    def work(self, rig: Rig) -> None:
        """Deliver until there is nothing left."""
        while self.notices:
            run = self._taken()
            if run is None:
                self._idle.wait(0.01)  # all that is left is of sessions in flight
                continue
            self._meanwhile()
            self._deliver(rig, run)

    def _taken(self) -> Run | None:
        with self._lock:
            run = next((run for run in self.notices if run.session_id not in self._held), None)
            if run is not None:
                self.notices.remove(run)
                self._held.update([run.session_id] if self._fifo else [])
            return run

    def _deliver(self, rig: Rig, run: Run) -> None:
        try:
            rig.deliver(run)
        except TransientError:
            self.notices.append(run)
        except BaseException as error:
            self.errors.append(error)
            raise
        finally:
            self._held.discard(run.session_id)


def work_through(
    workers: list[Rig],
    runs: list[Run],
    seed: int,
    meanwhile: Callable[[], object] = lambda: None,
    *,
    fifo: bool = False,
) -> None:
    """Deliver everything from all workers at once."""
    deliveries = Deliveries(runs, seed, meanwhile, fifo=fifo)
    threads = [threading.Thread(target=deliveries.work, args=(rig,)) for rig in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert deliveries.errors == []
    assert deliveries.notices == []


def crew(place: Place, leader: Rig, size: int, **how: Any) -> list[Rig]:
    """Workers with connections of their own, under one clock."""
    how = {"cache_url": place.cache_url} | how
    return [Rig(url=place.url, clock=leader.clock, tenant=leader.tenant, pool_size=1, **how) for _ in range(size)]


def calm_outcome(place: Place) -> Mapping[str, list[str]]:
    """What one worker makes of it, one run after the other."""
    calm = Rig(url=place.url, cache_url=place.cache_url, tenant="calm")
    for run in told(calm):
        calm.deliver(run)
    return outcome(calm)


def assert_done(rig: Rig, runs: list[Run], calm: Mapping[str, list[str]]) -> None:
    assert outcome(rig) == calm
    assert TASTE in rig.contents("user:chen")
    assert {rig.state(run).state for run in runs} == {RunState.SUCCEEDED}
    assert all(len(rig.state(run).receipts) == len(plan_of(rig.state(run)).writes) for run in runs)


def test_many_workers_do_what_one_would_have_done(place: Place) -> None:
    calm = calm_outcome(place)
    busy = Rig(url=place.url, cache_url=place.cache_url, tenant="busy")
    runs = told(busy)
    work_through(crew(place, busy, 20), runs, seed=7)
    assert_done(busy, runs, calm)


def test_they_do_so_without_a_cache(place: Place) -> None:
    calm = calm_outcome(place)
    blind = Rig(url=place.url, cache=NoCache(), tenant="blind")
    runs = told(blind)
    work_through(crew(place, blind, 20, cache=NoCache()), runs, seed=11, fifo=True)
    assert_done(blind, runs, calm)


def test_they_do_so_with_a_cache_that_forgets_everything_all_the_time(place: Place) -> None:
    calm = calm_outcome(place)
    busy = Rig(url=place.url, cache_url=place.cache_url, tenant="forgetful")
    runs = told(busy)
    work_through(crew(place, busy, 20), runs, seed=13, meanwhile=place.flush, fifo=True)
    assert_done(busy, runs, calm)


def test_without_the_cache_the_leases_alone_keep_runs_apart(place: Place) -> None:
    leader = Rig(url=place.url, cache=NoCache(), tenant="blind")
    leader.say(*PARTS[0])
    run = leader.end()
    work_through(crew(place, leader, 8, cache=NoCache()), [run], seed=3)
    assert leader.contents() == ["用户喜欢吃辣", "用户对花生过敏"]
    done = leader.state(run)
    assert (done.state, done.fence, len(done.receipts)) == (RunState.SUCCEEDED, 1, 2)
