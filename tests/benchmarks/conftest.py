"""A product of one process on SQLite, with a session and a library of a given size."""

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from strata.bootstrap import Runtime
from strata.clock import SystemClock
from strata.config import Database, Settings
from strata.model.messages import NewMessage, Role
from strata.model.runs import RunNotice
from strata.model.sessions import SessionKey
from strata.ports import Access

WORDS = "tea rice fish apple noodle soup garden winter teacher piano 茶 米饭 鱼 苹果 面条 汤 花园 冬天 老师".split()


class NoQueue:
    """Takes notices and forgets them."""

    def send(self, notice: RunNotice, *, deduplication: str = "") -> None:
        pass

    def postpone(self, waits: Mapping[str, int]) -> None:
        pass


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    path = Path(tmp_path_factory.mktemp("bench")) / "strata.db"
    settings = Settings(database=Database(url=f"sqlite:///{path}"))
    made = Runtime(settings, clock=SystemClock(), queue=NoQueue())
    made.jobs["migrate"](60.0)
    made.warm()
    yield made
    made.close()


@pytest.fixture(scope="module")
def talk(runtime: Runtime) -> SessionKey:
    """A session of 200 messages."""
    key = SessionKey(tenant="t", session_id="talk")
    for start in range(0, 200, 50):
        batch = [NewMessage(role=Role.USER, content=sentence(start + place)) for place in range(50)]
        runtime.append(key, "u", "a", batch)
    return key


@pytest.fixture(scope="module")
def filled(runtime: Runtime) -> Callable[[str, int], Access]:
    """Fill a user's collection with memories that need no model to be written."""
    from tests.benchmarks.library import fill

    return lambda user, size: fill(runtime, user, size)


def sentence(seed: int) -> str:
    chosen = random.Random(seed)
    return " ".join(chosen.choices(WORDS, k=12)) + f" {seed}"
