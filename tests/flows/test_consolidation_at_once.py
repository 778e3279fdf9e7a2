"""Two sessions of one user that end within the same milliseconds: both have decided before either has written."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from strata.model.runs import Run, RunState
from tests.fakes.rig import Rig, fresh_file

ROUNDS = 3

pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite", pytest.param("mariadb", marks=pytest.mark.mariadb)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield fresh_file(tmp_path)
        return
    mariadb = request.getfixturevalue("mariadb")
    url = mariadb.fresh_database()
    yield url
    mariadb.drop_database(url)


class Twins:
    """Two workers whose runs have both decided before either goes on."""

    def __init__(self, url: str, tenant: str = "home") -> None:
        self._meeting = threading.Barrier(2, timeout=60)
        self.one = Rig(url=url, tenant=tenant, on_step=self._meet)
        self.two = Rig(url=url, tenant=tenant, on_step=self._meet, clock=self.one.clock)

    def _meet(self, step: str) -> None:
        if step == "plan":
            self._meeting.wait()

    def settle(self, earlier: str, later: str) -> list[Run]:
        """Say both in sessions of their own, the second an hour after the first, and settle them at once."""
        now = self.one.clock.now()
        self.one.say(earlier, session="one", at=now - timedelta(hours=2))
        self.two.say(later, session="two", at=now - timedelta(hours=1))
        work = [(self.one, self.one.end("one")), (self.two, self.two.end("two"))]
        threads = [threading.Thread(target=rig.deliver, args=(run,)) for rig, run in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        return [rig.state(run) for rig, run in work]


@pytest.mark.parametrize(
    ("earlier", "later", "left"),
    [
        pytest.param("偏好：用户喜欢吃辣", "偏好：用户不喜欢吃辣", ["用户不喜欢吃辣"], id="contradictions"),
        pytest.param("偏好：用户住在武汉", "偏好：用户已搬到厦门", ["用户已搬到厦门"], id="an update"),
        pytest.param("忌口：用户不吃香菜", "忌口：忌香菜", ["用户不吃香菜"], id="one fact in other words"),
        pytest.param("忌口：用户不吃香菜", "忌口：用户不吃香菜和葱", ["用户不吃香菜和葱"], id="one fact and more"),
        pytest.param("忌口：用户不吃香菜", "忌口：用户不吃芹菜", ["用户不吃香菜", "用户不吃芹菜"], id="two facts"),
        pytest.param("偏好：用户喜欢喝茶", "偏好：用户喜欢喝茶", ["用户喜欢喝茶"], id="one sentence twice"),
    ],
)
def test_both_are_settled_as_if_one_after_the_other(url: str, earlier: str, later: str, left: list[str]) -> None:
    twins = Twins(url)
    runs = twins.settle(earlier, later)
    assert [run.state for run in runs] == [RunState.SUCCEEDED] * 2
    assert sorted(twins.one.contents()) == sorted(left)


def test_a_safety_fact_stays_beside_what_contradicts_it(url: str) -> None:
    twins = Twins(url)
    twins.settle("过敏：用户对花生过敏", "过敏：用户对花生不过敏")
    assert twins.one.contents() == ["用户对花生过敏", "用户对花生不过敏"]


def test_what_was_overtaken_is_history_with_what_took_its_place(url: str) -> None:
    twins = Twins(url)
    twins.settle("偏好：用户喜欢吃辣", "偏好：用户不喜欢吃辣")
    every = {memory.content: memory for memory in twins.one.store.changes("home", "user:chen", 0)}
    assert every["用户喜欢吃辣"].superseded_by == every["用户不喜欢吃辣"].memory_id


def test_what_is_replaced_while_it_is_repeated_does_not_come_back_beside_what_was_said_later(url: str) -> None:
    """A run decides between the insert of another one and its retiring of what it replaces, and writes behind both."""
    is_added, is_decided, is_retired = threading.Event(), threading.Event(), threading.Event()

    def replacing(step: str) -> None:
        if step.startswith("added"):
            is_added.set()
            assert is_decided.wait(60)

    def repeating(step: str) -> None:
        if step == "plan":
            is_decided.set()
            assert is_retired.wait(60)

    first = Rig(url=url)
    clock, hour = first.clock, timedelta(hours=1)
    first.settle("偏好：用户不喜欢吃辣", session="first", at=clock.now() - 3 * hour)
    replacer, repeater = (Rig(url=url, clock=clock, on_step=on_step) for on_step in (replacing, repeating))
    replacer.say("偏好：用户喜欢吃辣", session="last", at=clock.now() - hour)
    repeater.say("偏好：用户不喜欢吃辣", session="between", at=clock.now() - 2 * hour)
    runs = replacer.end("last"), repeater.end("between")
    threads = [
        threading.Thread(target=rig.deliver, args=(run,)) for rig, run in zip((replacer, repeater), runs, strict=True)
    ]
    threads[0].start()
    assert is_added.wait(60)
    threads[1].start()
    threads[0].join(60)
    is_retired.set()
    threads[1].join(60)
    assert [first.state(run).state for run in runs] == [RunState.SUCCEEDED] * 2
    assert first.contents() == ["用户喜欢吃辣"]


def test_whichever_writes_first(url: str) -> None:
    for number in range(ROUNDS):
        twins = Twins(url, tenant=f"home-{number}")
        twins.settle("偏好：用户喜欢吃辣", "偏好：用户不喜欢吃辣")
        assert twins.one.contents() == ["用户不喜欢吃辣"]
