"""What loading a context costs beside what cannot be avoided, and that it is in time whatever a provider does."""

import itertools
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from statistics import median

import numpy as np
import pytest
import redis

from strata.bootstrap import Runtime
from strata.clock import SystemClock
from strata.config import Cache, Database, Settings
from strata.model.agents import AgentProfile, AgentRole, Caller, ProviderName
from strata.model.context import ContextRequest, LoadedContext
from strata.model.messages import NewMessage, Role
from strata.model.sessions import SessionKey
from strata.ports import ProviderHits, ProviderQuery, ShortTerm
from tests.benchmarks.conftest import WORDS, NoQueue, sentence
from tests.benchmarks.library import fill, unit_vectors
from tests.benchmarks.timing import against_floor
from tests.doubles.faults import Fault
from tests.doubles.open import KINDS, opened
from tests.flows.test_context import CALLER, PROFILE, REQUEST, World
from tests.servers.caches import RedisServer
from tests.servers.databases import MariaDb

SIZE = 10_000
MESSAGES = 60
LIBRARY = SessionKey(tenant="t", session_id="whole")
SHARE_OVER, OVERHEAD_MS = 1.15, 5.0
DEADLINE_MS, OVERTIME_MS = 250, 50
FAULTS = (Fault.HANG, Fault.RESET, Fault.SERVER_ERROR, Fault.GARBAGE, Fault.HUGE, Fault.HUGE_CHUNKED, Fault.DRIP)
TRIES = 5
AFTER_OPENING_MS = 5.0


@pytest.mark.parametrize(("short_ms", "long_ms"), [(60, 120), (120, 60), (100, 100)])
def test_both_sides_load_at_once(short_ms: float, long_ms: float) -> None:
    def window() -> ShortTerm:
        time.sleep(short_ms / 1_000)
        return World().window()

    def search(query: ProviderQuery) -> ProviderHits:
        time.sleep(long_ms / 1_000)
        return World().search(query)

    load = World(window=window, search=search).loader(SystemClock())
    took = median(_milliseconds(lambda: load(CALLER, PROFILE, REQUEST)) for _ in range(15))
    load.close()
    bound = SHARE_OVER * max(short_ms, long_ms) + OVERHEAD_MS
    print(f"load, {short_ms} ms beside {long_ms} ms: {took:.1f} ms   bound {bound:.1f} ms")
    assert took <= bound


@pytest.mark.parametrize("kind", KINDS)
def test_a_failing_provider_never_costs_more_than_the_deadline(kind: str) -> None:
    with opened(kind, SystemClock(), retries=0, breaker_failures=100) as provider:
        load = World(search=provider.provider.search).loader(SystemClock())
        request = replace(REQUEST, deadline_ms=DEADLINE_MS)
        for fault in FAULTS:
            provider.double.faults.clear()
            provider.double.faults.always(fault)
            took = [_milliseconds(lambda: _degraded(load(CALLER, PROFILE, request))) for _ in range(TRIES)]
            print(f"{kind:<14} {fault:<14} {median(took):7.1f} ms   worst {max(took):7.1f} ms")
            assert median(took) <= DEADLINE_MS + OVERTIME_MS, fault
        load.close()


@pytest.mark.parametrize("kind", KINDS)
def test_an_outage_costs_a_warm_caller_little_once_it_is_known(kind: str) -> None:
    with opened(kind, SystemClock(), retries=0, breaker_failures=3, breaker_seconds=600.0) as provider:
        down, up = (World(search=search).loader(SystemClock()) for search in (provider.provider.search, _nothing))
        provider.double.faults.always(Fault.UNAVAILABLE)
        for _ in range(4):
            down(CALLER, PROFILE, REQUEST)
        asked = len(provider.double.asked)
        ratio = against_floor(
            f"load, {kind} known to be down / load that finds nothing",
            lambda: _degraded(down(CALLER, PROFILE, REQUEST)),
            lambda: up(CALLER, PROFILE, REQUEST),
        )
        ratio.told()
        assert median(ratio.ours_ms) - median(ratio.floor_ms) < AFTER_OPENING_MS
        assert len(provider.double.asked) == asked
        down.close()
        up.close()


@pytest.fixture(scope="module")
def served(breakable_mariadb: MariaDb, redis_server: RedisServer) -> Iterator[Runtime]:
    """The product on a MariaDB and a Redis, with a session and a library."""
    redis_server.flush()
    settings = Settings(database=Database(url=breakable_mariadb.fresh_database()), cache=Cache(url=redis_server.url))
    made = Runtime(settings, clock=SystemClock(), queue=NoQueue())
    made.jobs["migrate"](120.0)
    made.warm()
    admin = Caller(tenant="t", agent_id="admin", role=AgentRole.ADMIN, request_id="r")
    native = AgentProfile(
        tenant="t",
        agent_id="a",
        target_id="model",
        open_long_memory=True,
        long_memory_provider=ProviderName.MYSQL,
        context_rounds=MESSAGES // 3,
    )
    made.agents.put(admin, native)
    access = fill(made, "whole", SIZE)
    made.search(access, ["user:whole"], "tea")  # an index is read once, by whoever comes first
    made.append(LIBRARY, "whole", "a", [NewMessage(role=Role.USER, content=sentence(n)) for n in range(MESSAGES)])
    yield made
    made.close()


@pytest.mark.slow
def test_the_whole_load(served: Runtime, redis_server: RedisServer) -> None:
    """Sixty messages and the ten best of 10,000 memories, with rights, constraints, budgets, rendering and ledger."""
    embedder = served._stores.embedder
    matrix = unit_vectors(SIZE, embedder.dimensions)
    raw = redis.Redis(host=redis_server.host, port=redis_server.port)
    raw.rpush("floor", *[sentence(number) for number in range(MESSAGES)])
    question = _questions()

    def floor() -> None:
        raw.lrange("floor", 0, MESSAGES - 1)
        asked = np.frombuffer(embedder.embed([question()], query=True)[0], dtype=np.float32)
        np.argpartition(-(matrix @ asked), 20)[:20]

    def load() -> LoadedContext:
        request = ContextRequest(
            session_id=LIBRARY.session_id, user_id="whole", message=question(), top_k=10, deadline_ms=20_000
        )
        caller = Caller(tenant="t", agent_id="a", role=AgentRole.AGENT, request_id="r")
        return served.load_context(caller, request)

    loaded = load()
    assert (len(loaded.window), len(loaded.memories), loaded.degraded) == (MESSAGES, 10, ())
    ratio = against_floor("load, 60 messages + 10 of 10,000 / LRANGE, embedding, product", load, floor)
    ratio.told()
    raw.close()
    assert ratio.p50 <= 4.0


def _questions() -> Callable[[], str]:
    numbers = itertools.count()
    return lambda: " ".join(random.Random(next(numbers)).sample(WORDS, 6))


def _degraded(loaded: LoadedContext) -> None:
    assert [one.part for one in loaded.degraded] == ["long_term"]
    assert loaded.messages[-1]["content"] == "hi"


def _nothing(_query: ProviderQuery) -> ProviderHits:
    return ProviderHits(hits=())


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1_000
