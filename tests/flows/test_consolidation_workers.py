"""Twenty workers, every notice delivered three times and out of order: as if one had done them one by one."""

import random
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from strata.errors import TransientError
from strata.model.runs import Run, RunState
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


@pytest.fixture(params=["sqlite", pytest.param("mariadb", marks=[pytest.mark.mariadb, pytest.mark.redis])])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Database and cache."""
    if request.param == "sqlite":
        yield fresh_file(tmp_path), f"memory://{tmp_path.name}"
        return
    mariadb, redis = request.getfixturevalue("mariadb"), request.getfixturevalue("redis_server")
    redis.flush()
    url = mariadb.fresh_database()
    yield url, redis.url
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


def work_through(workers: list[Rig], runs: list[Run], seed: int) -> None:
    """Deliver every notice three times, shuffled, from all workers at once; what fails comes back at the end."""
    notices = [run for run in runs for _ in range(3)]
    random.Random(seed).shuffle(notices)
    lock = threading.Lock()
    errors: list[BaseException] = []

    def work(rig: Rig) -> None:
        while True:
            with lock:
                if not notices:
                    return
                run = notices.pop(0)
            try:
                rig.deliver(run)
            except TransientError:
                with lock:
                    notices.append(run)
            except BaseException as error:
                errors.append(error)
                raise

    threads = [threading.Thread(target=work, args=(rig,)) for rig in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert errors == []
    assert notices == []


def crew(place: tuple[str, str], leader: Rig, size: int) -> list[Rig]:
    """Workers with connections of their own, under one clock."""
    url, cache_url = place
    return [
        Rig(url=url, cache_url=cache_url, clock=leader.clock, tenant=leader.tenant, pool_size=1) for _ in range(size)
    ]


def test_many_workers_do_what_one_would_have_done(place: tuple[str, str]) -> None:
    url, cache_url = place
    calm = Rig(url=url, cache_url=cache_url, tenant="calm")
    for run in told(calm):
        calm.deliver(run)
    busy = Rig(url=url, cache_url=cache_url, tenant="busy")
    runs = told(busy)
    work_through(crew(place, busy, 20), runs, seed=7)
    assert outcome(busy) == outcome(calm)
    assert TASTE in busy.contents("user:chen")
    assert {busy.state(run).state for run in runs} == {RunState.SUCCEEDED}
    assert all(len(busy.state(run).receipts) == len(plan_of(busy.state(run)).writes) for run in runs)


def test_without_the_cache_the_leases_alone_keep_runs_apart(place: tuple[str, str]) -> None:
    url, _ = place
    leader = Rig(url=url, cache=NoCache(), tenant="blind")
    leader.say(*PARTS[0])
    run = leader.end()
    workers = [Rig(url=url, cache=NoCache(), clock=leader.clock, tenant="blind", pool_size=1) for _ in range(8)]
    work_through(workers, [run], seed=3)
    assert leader.contents() == ["用户喜欢吃辣", "用户对花生过敏"]
    done = leader.state(run)
    assert (done.state, done.fence, len(done.receipts)) == (RunState.SUCCEEDED, 1, 2)
