"""A load is complete within its deadline, whatever the long-term side does."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import pytest

from strata.clock import FakeClock, SystemClock
from strata.config import Settings
from strata.context.gather import Gather
from strata.context.load import LoadContext
from strata.errors import (
    CircuitOpenError,
    ConfigurationError,
    NotFoundError,
    ProviderProtocolError,
    ProviderUnavailableError,
    StorageUnavailableError,
)
from strata.model.agents import AgentProfile, AgentRole, Caller
from strata.model.context import ContextRequest, Lane, LoadedContext
from strata.model.events import Read
from strata.model.memories import Hit, Memory
from strata.model.messages import Kind, Message, Role
from strata.model.sessions import Summary, Window
from strata.ports import Access, ProviderHits, ProviderQuery, ShortTerm
from strata.tokens.counter import TokenCounter
from tests.fakes.limits import assert_ends_within
from tests.unit.context.memories import NOW, hit, memory

CALLER = Caller(tenant="t", agent_id="shopper", role=AgentRole.AGENT, request_id="r1")
PROFILE = AgentProfile(tenant="t", agent_id="shopper", target_id="model", open_long_memory=True)
REQUEST = ContextRequest(session_id="s", user_id="u", message="What shall we cook?")
PEANUTS = replace(memory("用户对花生过敏", name="peanuts"), standing=True, safety=True)
COUNTER = TokenCounter()


def message(seq: int, text: str) -> Message:
    return Message(
        seq=seq,
        role=Role.USER,
        content=text,
        kind=Kind.CHAT,
        message_id=f"m{seq}",
        agent_id="shopper",
        tokens=COUNTER.count(text) + 4,
        digest="",
        created_at=NOW,
        said_at=NOW,
    )


@dataclass
class World:
    """Everything around a load, each part replaceable by something that misbehaves."""

    search: Callable[[ProviderQuery], ProviderHits] = lambda _query: ProviderHits(hits=(hit("喜欢绿茶"),))
    standing: Callable[[], list[Memory]] = lambda: [PEANUTS]
    window: Callable[[], ShortTerm] = lambda: ShortTerm(
        window=Window(messages=(message(1, "hi"),), summary=None, tokens=message(1, "hi").tokens, omitted=0)
    )
    ledger: Callable[[Sequence[Read]], None] = lambda _reads: None
    readable: frozenset[str] = frozenset()
    asked: list[ProviderQuery] = field(default_factory=list)

    def loader(self, clock: FakeClock | SystemClock | None = None, settings: Settings | None = None) -> LoadContext:
        gather = Gather(_Store(self), lambda _profile: _Provider(self), query_context_chars=200, default_top_k=10)
        return LoadContext(
            lambda *_a, **_k: self.window(),
            gather,
            lambda _tenant, reads: self.ledger(reads),
            COUNTER,
            settings or Settings(),
            clock or FakeClock(NOW),
        )

    def load(self, request: ContextRequest = REQUEST, profile: AgentProfile = PROFILE) -> LoadedContext:
        loader = self.loader(SystemClock())
        try:
            return loader(CALLER, profile, request)
        finally:
            loader.close()


class _Store:
    def __init__(self, world: World) -> None:
        self._world = world

    def standing(self, _access: Access, _collections: Sequence[str], *, now: datetime) -> list[Memory]:
        return self._world.standing()

    def view(self, _access: Access, collections: Sequence[str], *, now: datetime) -> dict[str, None]:
        return {name: None for name in collections if name in self._world.readable}


class _Provider:
    def __init__(self, world: World) -> None:
        self._world = world

    def search(self, query: ProviderQuery) -> ProviderHits:
        self._world.asked.append(query)
        return self._world.search(query)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Something that hangs until the test is over."""
    event = threading.Event()
    yield event
    event.set()


def texts(loaded: LoadedContext, lane: Lane) -> list[str]:
    return [one.text for one in loaded.memories if one.lane is lane]


def test_everything_arrives_in_the_order_in_which_it_is_sent() -> None:
    summary = Summary(text="They cook on Sundays.", tokens=6, upto_seq=3, created_at=NOW)
    window = Window(messages=(message(4, "hi"),), summary=summary, tokens=6 + message(4, "hi").tokens, omitted=3)
    loaded = World(window=lambda: ShortTerm(window=window, working={"step": 1})).load()
    assert [one["role"] for one in loaded.messages] == ["system", "system", "user"]
    assert "花生" in str(loaded.messages[0]["content"])
    assert str(loaded.messages[1]["content"]).endswith("They cook on Sundays.")
    assert loaded.messages[2]["content"] == "hi"
    assert loaded.working == {"step": 1}
    assert texts(loaded, Lane.CONSTRAINT) == ["用户对花生过敏"]
    assert texts(loaded, Lane.USER) == ["喜欢绿茶"]
    assert loaded.degraded == ()
    assert loaded.usage["total"] == loaded.usage["history"] + loaded.usage["summary"] + loaded.usage["memories"]


@pytest.mark.parametrize(
    "error",
    [
        ProviderUnavailableError(),
        ProviderProtocolError(),
        CircuitOpenError(),
        ConfigurationError("MEMOS has no address"),
    ],
)
def test_a_failing_provider_costs_its_part_and_never_the_constraints(error: Exception) -> None:
    def fail(_query: ProviderQuery) -> ProviderHits:
        raise error

    loaded = World(search=fail).load()
    assert texts(loaded, Lane.CONSTRAINT) == ["用户对花生过敏"]
    assert texts(loaded, Lane.USER) == []
    assert [(one.part, one.code) for one in loaded.degraded] == [("long_term", getattr(error, "code", ""))]
    assert loaded.messages[-1]["content"] == "hi"


def test_a_mistake_in_the_long_term_side_costs_its_part_and_no_more() -> None:
    def stumble(_query: ProviderQuery) -> ProviderHits:
        raise KeyError("memories")

    loaded = World(search=stumble).load()
    assert [(one.part, one.code) for one in loaded.degraded] == [("long_term", "internal")]
    assert texts(loaded, Lane.CONSTRAINT) == ["用户对花生过敏"]
    assert loaded.messages[-1]["content"] == "hi"


def test_a_hanging_provider_is_left_behind_at_the_deadline(gate: threading.Event) -> None:
    answered = threading.Event()

    def hang(_query: ProviderQuery) -> ProviderHits:
        gate.wait(30)
        answered.set()
        return ProviderHits(hits=())

    world, loads = World(search=hang), []
    assert_ends_within(1.0, lambda: loads.append(world.load(replace(REQUEST, deadline_ms=200))))
    assert not answered.is_set()
    loaded = loads[0]
    assert [(one.part, one.code) for one in loaded.degraded] == [("long_term", "deadline_exceeded")]
    assert texts(loaded, Lane.CONSTRAINT) == ["用户对花生过敏"]


def test_hanging_searches_never_keep_the_constraints_of_others_waiting(gate: threading.Event) -> None:
    def hang(_query: ProviderQuery) -> ProviderHits:
        gate.wait(10)
        return ProviderHits(hits=())

    world = World(search=hang)
    loader = world.loader(SystemClock())
    for _ in range(12):
        loaded = loader(CALLER, PROFILE, replace(REQUEST, deadline_ms=30))
        assert texts(loaded, Lane.CONSTRAINT) == ["用户对花生过敏"]
    loader.close()


def test_both_sides_load_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=10)

    def window() -> ShortTerm:
        meeting.wait()
        return World().window()

    def search(_query: ProviderQuery) -> ProviderHits:
        meeting.wait()
        return ProviderHits(hits=(hit("喜欢绿茶"),))

    loaded = World(search=search, window=window).load(replace(REQUEST, deadline_ms=10_000))
    assert texts(loaded, Lane.USER) == ["喜欢绿茶"]
    assert loaded.degraded == ()


@pytest.mark.parametrize(
    ("note", "code", "detail"),
    [
        ("semantic_unavailable", "semantic_unavailable", ""),
        ("MEMOS has no keyword search.", "limited", "MEMOS has no keyword search."),
    ],
)
def test_what_a_provider_could_not_do_is_told_under_a_code(note: str, code: str, detail: str) -> None:
    loaded = World(search=lambda _query: ProviderHits(hits=(hit("喜欢绿茶"),), notes=(note,))).load()
    assert [(one.part, one.code, one.detail) for one in loaded.degraded] == [("long_term", code, detail)]
    assert texts(loaded, Lane.USER) == ["喜欢绿茶"]


def test_constraints_that_cannot_be_read_are_named() -> None:
    def fail() -> list[Memory]:
        raise StorageUnavailableError

    loaded = World(standing=fail).load()
    assert [(one.part, one.code) for one in loaded.degraded] == [("constraints", "storage_unavailable")]
    assert texts(loaded, Lane.USER) == ["喜欢绿茶"]


@pytest.mark.parametrize(
    ("profile", "code"),
    [(replace(PROFILE, open_long_memory=False), "long_memory_off"), (replace(PROFILE, target_id=""), "no_target")],
)
def test_off_is_off(profile: AgentProfile, code: str) -> None:
    world = World()
    loaded = world.load(profile=profile)
    assert (loaded.memories, loaded.prompt, world.asked) == ((), "", [])
    assert [one.code for one in loaded.degraded] == [code]


def test_another_users_session_stops_the_load() -> None:
    def refuse() -> ShortTerm:
        raise NotFoundError

    with pytest.raises(NotFoundError):
        World(window=refuse).load()


def test_a_collection_that_is_not_the_agents_is_not_there() -> None:
    with pytest.raises(NotFoundError):
        World().load(replace(REQUEST, collections=("secret",)))
    world = World(readable=frozenset({"household"}))
    world.load(replace(REQUEST, collections=("household",)))
    assert world.asked[0].collections == ("user:u", "agent:shopper", "household")


def test_the_question_is_the_message_and_the_beginning_of_the_context() -> None:
    world = World()
    world.load(replace(REQUEST, context="情" * 300))
    assert world.asked[0].text == "What shall we cook?\n" + "情" * 200
    world.load(replace(REQUEST, context="  "))
    assert world.asked[1].text == "What shall we cook?"


def test_what_is_delivered_is_entered_and_a_lost_ledger_costs_nothing() -> None:
    entered: list[Read] = []
    World(ledger=entered.extend).load()
    assert {(read.memory_id, read.agent_id, read.session_id, read.request_id) for read in entered} >= {
        ("peanuts", "shopper", "s", "r1")
    }

    def fail(_reads: Sequence[Read]) -> None:
        raise StorageUnavailableError

    assert World(ledger=fail).load().memories


@pytest.mark.parametrize("total", [60, 120, 400, 2_000])
@pytest.mark.parametrize("memories", [None, 0, 50, 10_000])
def test_the_total_is_never_exceeded(total: int, memories: int | None) -> None:
    hits = tuple(hit(f"fact number {number} about tea and other drinks") for number in range(40))

    def window_of(budget: int) -> ShortTerm:
        sized = [message(seq, "word " * 5) for seq in range(1, 200)]
        kept: list[Message] = []
        while sized and sum(one.tokens for one in kept) + sized[-1].tokens <= budget:
            kept.insert(0, sized.pop())
        return ShortTerm(
            window=Window(messages=tuple(kept), summary=None, tokens=sum(m.tokens for m in kept), omitted=0)
        )

    world = World(search=lambda _query: ProviderHits(hits=hits))
    loader = LoadContext(
        lambda *_a, max_tokens, **_k: window_of(max_tokens),
        Gather(_Store(world), lambda _profile: _Provider(world), query_context_chars=200, default_top_k=10),
        lambda _tenant, _reads: None,
        COUNTER,
        Settings(),
        SystemClock(),
    )
    request = replace(REQUEST, total_budget_tokens=total, memory_budget_tokens=memories)
    loaded = loader(CALLER, PROFILE, request)
    loader.close()
    exact = sum(COUNTER.count(str(one["content"])) + 4 for one in loaded.messages)
    assert exact <= loaded.usage["total"] <= total
    assert loaded.usage["memories"] <= (memories if memories is not None else 4_000)


def test_scores_and_shares_are_told() -> None:
    low: tuple[Hit, ...] = (hit("天气不错", 0.1, name="low"),)
    loaded = World(search=lambda _query: ProviderHits(hits=low)).load()
    assert [(one.memory_id, one.reason) for one in loaded.dropped] == [("low", "below_score")]
