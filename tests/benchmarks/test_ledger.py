"""What the read ledger adds to a context load: the same load with and without it, in turns, on MariaDB and Redis."""

import itertools
from collections.abc import Iterator

import pytest

from strata.bootstrap import Runtime
from strata.clock import SystemClock
from strata.config import Cache, Database, Settings
from strata.model.agents import AgentProfile, AgentRole, Caller, ProviderName
from strata.model.context import ContextRequest, LoadedContext
from strata.model.messages import NewMessage, Role
from strata.model.sessions import SessionKey
from tests.benchmarks.conftest import NoQueue, sentence
from tests.benchmarks.library import fill
from tests.benchmarks.timing import Ratio, against_floor, steadily
from tests.servers.caches import RedisServer
from tests.servers.databases import MariaDb

COST = 1.10
"""What a load with the ledger may cost, as a multiple of the same load without it, at the median."""
MEMORIES = 1_000
MESSAGES = 60
CALLER = Caller(tenant="t", agent_id="a", role=AgentRole.ADMIN, request_id="bench")


@pytest.fixture(scope="module")
def served(mariadb: MariaDb, redis_server: RedisServer) -> Iterator[Runtime]:
    """The product on real servers, with a session of 60 messages and 1,000 memories about its user."""
    settings = Settings(database=Database(url=mariadb.fresh_database(), pool_size=4), cache=Cache(url=redis_server.url))
    made = Runtime(settings, clock=SystemClock(), queue=NoQueue())
    made.jobs["migrate"](60.0)
    made.warm()
    profile = AgentProfile(
        tenant="t",
        agent_id="a",
        target_id="model",
        open_long_memory=True,
        long_memory_provider=ProviderName.MYSQL,
        context_rounds=MESSAGES // 3,
    )
    made.agents.put(CALLER, profile)
    talk = [NewMessage(role=Role.USER, content=sentence(number)) for number in range(MESSAGES)]
    made.append(SessionKey(tenant="t", session_id="talk"), "u", "a", talk)
    fill(made, "u", MEMORIES)
    yield made
    made.close()


@pytest.mark.slow
def test_the_ledger_costs_a_tenth_at_most(served: Runtime) -> None:
    load, numbers = served._load, itertools.count()
    entering = load._enter

    def loaded() -> LoadedContext:
        # A question of its own each time, as people ask: it is embedded, and embedded once.
        question = f"tea in the garden {next(numbers)}"
        request = ContextRequest(session_id="talk", user_id="u", message=question, deadline_ms=25_000)
        return served.load_context(CALLER, request)

    def with_ledger() -> None:
        load._enter = entering
        assert loaded().memories

    def without_ledger() -> None:
        load._enter = lambda _tenant, _reads: None
        loaded()

    def measured() -> Ratio:
        return against_floor("context load / without the ledger", with_ledger, without_ledger, rounds=80)

    assert steadily(measured, bound=COST).p50 <= COST
    load._enter = entering
    reader = served._stores.ledger.readers("t", loaded().memories[0].hit.memory.memory_id)
    assert {read.session_id for read in reader} == {"talk"}
