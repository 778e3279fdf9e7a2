"""How often a call asks the database and Redis: the README's table, measured on the servers people run."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from strata.bootstrap import Runtime
from strata.clock import SystemClock
from strata.config import Cache, Database, Inference, Settings
from strata.model.agents import AgentProfile, AgentRole, Caller, ProviderName
from strata.model.context import ContextRequest
from strata.model.messages import NewMessage, Role
from strata.model.sessions import SessionKey
from strata.ports import Access
from strata.sharing.units import NewUnit, UnitChange
from tests.benchmarks.conftest import NoQueue
from tests.fakes.wire import COMMANDS, OPENED, STATEMENTS, counted
from tests.servers.caches import RedisServer
from tests.servers.databases import MariaDb

ROOT = Path(__file__).parents[2]
TABLE = re.compile(r"<!-- round trips -->(.*?)<!-- /round trips -->", re.DOTALL)
ROW = re.compile(r"^\| ([^|]+?) \| (\d+) \| (\d+) \|", re.MULTILINE)

MOST_OPENED = 2
"""Connections opened to the database in all calls: the two sides of a context load each take one from a warm pool."""

Trips = Counter[str]
CALLER = Caller(tenant="t", agent_id="cook", role=AgentRole.AGENT)
ACCESS = Access(tenant="t", agent_id="cook")
LAYER = "user:lin"
TALK = SessionKey(tenant="t", session_id="talk")


@pytest.fixture
def runtime(mariadb: MariaDb, redis_server: RedisServer) -> Iterator[Runtime]:
    url = mariadb.fresh_database()
    settings = Settings(
        database=Database(url=url), cache=Cache(url=redis_server.url), inference=Inference(local_embedding=False)
    )
    made = Runtime(settings, clock=SystemClock(), queue=NoQueue())
    made.jobs["migrate"](60.0)
    yield made
    made.close()
    mariadb.drop_database(url)


def test_a_call_asks_as_often_as_the_readme_says(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    admin = Caller(tenant="t", agent_id="admin", role=AgentRole.ADMIN)
    profile = AgentProfile(
        tenant="t",
        agent_id="cook",
        target_id="m",
        open_long_memory=True,
        long_memory_provider=ProviderName.MYSQL,
    )
    runtime.agents.put(admin, profile)
    calls = _calls(runtime)
    sent = counted(monkeypatch)
    opened: list[int] = []
    measured = {name: _trips(sent, call, opened) for name, call in calls.items()}
    assert measured == _told()
    assert sum(opened) <= MOST_OPENED


def _calls(runtime: Runtime) -> dict[str, Callable[[], object]]:
    """The calls by the names they have in the README; each can be made again and again, and finds everything warm."""
    numbers = iter(range(10_000))

    def say() -> object:
        return runtime.append(TALK, "lin", "cook", [NewMessage(role=Role.USER, content=f"line {next(numbers)}")])

    def insert() -> object:
        unit = NewUnit(memory_type="user_preference", content=f"Word{next(numbers)} tastes of thing{next(numbers)}.")
        return runtime.library.insert(ACCESS, LAYER, unit)

    kept = runtime.library.insert(
        ACCESS, LAYER, NewUnit(memory_type="user_preference", content="Lin likes green tea.", memory_id="tea")
    ).memory

    def update() -> object:
        return runtime.library.update(ACCESS, LAYER, kept.memory_id, UnitChange(content=f"Tea number {next(numbers)}."))

    def load() -> object:
        request = ContextRequest(session_id="talk", user_id="lin", message="Lin, tea?")
        return runtime.load_context(CALLER, request)

    return {
        "append messages": say,
        "read the window of a session": lambda: runtime.read_window(ACCESS, "talk", "lin", rounds=10, max_tokens=6_000),
        "load a context, both sides and the read ledger": load,
        "search the library": lambda: runtime.search(ACCESS, [LAYER], "green tea"),
        "read one memory": lambda: runtime.library.get(ACCESS, LAYER, kept.memory_id),
        "insert a memory, looking first": insert,
        "change a memory": update,
    }


def _trips(sent: Trips, call: Callable[[], object], opened: list[int]) -> tuple[int, int]:
    """The first two calls warm up: what a write changed is read by the next search of its collection."""
    for _ in range(3):
        sent.clear()
        call()
        opened.append(sent[OPENED])
    return sent[STATEMENTS], sent[COMMANDS]


def _told() -> dict[str, tuple[int, int]]:
    (table,) = TABLE.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    return {name: (int(statements), int(commands)) for name, statements, commands in ROW.findall(table)}
