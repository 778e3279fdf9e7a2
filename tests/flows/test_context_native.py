"""Contexts from the native library: nobody else's memories, and constraints whatever happens."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from strata import config
from strata.clock import FakeClock, SystemClock
from strata.config import Settings
from strata.context.gather import Gather, Searching
from strata.context.load import LoadContext
from strata.dedup.fingerprint import fingerprint
from strata.errors import ProviderUnavailableError
from strata.model.agents import AgentProfile, AgentRole, Caller
from strata.model.context import ContextRequest, Lane, LoadedContext
from strata.model.memories import AccessPolicy, Collection, CollectionKind, Registration
from strata.model.sessions import Window
from strata.ports import Access, MemoryDraft, ProviderHits, ProviderQuery, ShortTerm
from strata.providers.native import NativeProvider
from strata.sharing.search import SearchLibrary
from strata.storage.engine import Database, open_database
from strata.storage.schema import migrate
from strata.tokens.counter import TokenCounter
from tests.fakes.embedding import WordEmbedder
from tests.fakes.library import Shelf

USERS, AGENTS = 200, 20
TOPICS = "绿茶 红烧牛肉 window seats the orange cat 早上六点半的闹钟 badminton on Wednesdays 番茄炒蛋".split()
QUESTIONS = [*TOPICS, "晚饭吃什么", "what is the weather", "推荐一首歌", "", "user:u7", "%"]
ALLERGIES = "peanuts 花生 shellfish 青霉素 milk 芒果".split()
TABOOS = "never cilantro|不吃芹菜|no pork in this house|绝不放味精".split("|")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = Path(tmp_path_factory.mktemp("context")) / "strata.db"
    opened = open_database(config.Database(url=f"sqlite:///{path}", pool_size=8), FakeClock())
    with opened.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA synchronous=OFF")
    migrate(opened)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def town(database: Database) -> Shelf:
    """Two hundred users and twenty agents, each with something of their own to say about the same topics."""
    shelf = Shelf(database, FakeClock(), "town")
    embedder = WordEmbedder()
    for number in range(USERS):
        keep(shelf, embedder, f"user:u{number}", f"{TOPICS[number % len(TOPICS)]} belongs to u{number}.")
        allergy = f"u{number}. is allergic to {ALLERGIES[number % len(ALLERGIES)]}"
        keep(shelf, embedder, f"user:u{number}", allergy, standing=True, safety=True)
        keep(shelf, embedder, f"user:u{number}", f"u{number}. says {TABOOS[number % len(TABOOS)]}", standing=True)
    for number in range(AGENTS):
        keep(shelf, embedder, f"agent:a{number}", f"{TOPICS[number % len(TOPICS)]} learned by a{number}.")
    return shelf


def keep(shelf: Shelf, embedder: WordEmbedder, collection: str, content: str, **more: Any) -> None:
    draft = MemoryDraft(
        memory_id=fingerprint(collection + content)[:24],
        collection=collection,
        memory_type="user_preference",
        content=content,
        fingerprint=fingerprint(content),
        said_at=shelf.clock.now(),
        embedding=embedder.embed([content])[0],
        embedding_model=embedder.name,
        user_id=collection.removeprefix("user:") if collection.startswith("user:") else "",
        **more,
    )
    shelf.memories.insert(shelf.admin, draft, now=shelf.clock.now())


def empty_window(access: Access, session_id: str, user_id: str, *, rounds: int, max_tokens: int) -> ShortTerm:
    return ShortTerm(window=Window(messages=(), summary=None, tokens=0, omitted=0))


def native(shelf: Shelf) -> NativeProvider:
    searching = SearchLibrary(shelf.memories, WordEmbedder(), shelf.clock, config.Library(index_collections=400))
    return NativeProvider(searching.search, shelf.memories, shelf.clock, semantic=True)


@pytest.fixture
def load(town: Shelf) -> Iterator[LoadContext]:
    made = loader(town, native(town))
    yield made
    made.close()


def loader(shelf: Shelf, provider: Searching) -> LoadContext:
    gather = Gather(shelf.memories, lambda _profile: provider, query_context_chars=200, default_top_k=10)
    return LoadContext(empty_window, gather, shelf.ledger.record, TokenCounter(), Settings(), SystemClock())


def asked(load: LoadContext, agent: str, user: str, question: str, **more: Any) -> LoadedContext:
    caller = Caller(tenant="town", agent_id=agent, role=AgentRole.AGENT, request_id="r")
    profile = AgentProfile(tenant="town", agent_id=agent, target_id="m", open_long_memory=True)
    request = ContextRequest(session_id="s", user_id=user, message=question, deadline_ms=20_000, **more)
    return load(caller, profile, request)


def owners(loaded: LoadedContext) -> set[str]:
    return {one.hit.memory.collection for one in loaded.memories}


def test_nobody_is_given_anything_of_another_user_or_agent(load: LoadContext) -> None:
    chance = random.Random(1)
    for _ in range(300):
        user, agent = f"u{chance.randrange(USERS)}", f"a{chance.randrange(AGENTS)}"
        loaded = asked(load, agent, user, chance.choice(QUESTIONS))
        assert owners(loaded) <= {f"user:{user}", f"agent:{agent}"}
        assert all(f"{user}." in one.text or f"{agent}." in one.text for one in loaded.memories)
        assert loaded.degraded == ()


def test_the_right_memory_is_found_among_its_own(load: LoadContext) -> None:
    loaded = asked(load, "a3", "u3", TOPICS[3])
    assert [one.text for one in loaded.memories if one.lane is Lane.USER] == [f"{TOPICS[3]} belongs to u3."]
    assert [one.text for one in loaded.memories if one.lane is Lane.AGENT] == [f"{TOPICS[3]} learned by a3."]


class Down:
    """A provider that is away."""

    def search(self, query: ProviderQuery) -> ProviderHits:
        raise ProviderUnavailableError


@pytest.mark.parametrize(("provider", "loads"), [("up", 100), ("down", 500)])
def test_allergies_and_taboos_are_in_every_context(town: Shelf, provider: str, loads: int) -> None:
    load = loader(town, native(town) if provider == "up" else Down())
    chance = random.Random(2)
    for _ in range(loads):
        number = chance.randrange(USERS)
        loaded = asked(load, f"a{chance.randrange(AGENTS)}", f"u{number}", chance.choice(QUESTIONS))
        constraints = {one.text for one in loaded.memories if one.lane is Lane.CONSTRAINT}
        allergy, taboo = ALLERGIES[number % len(ALLERGIES)], TABOOS[number % len(TABOOS)]
        assert constraints == {f"u{number}. is allergic to {allergy}", f"u{number}. says {taboo}"}
        assert all(text in loaded.prompt for text in constraints)
        assert [one.code for one in loaded.degraded] == ([] if provider == "up" else ["provider_unavailable"])
    load.close()


def test_constraints_of_named_collections_count_and_their_rights_hold(town: Shelf, load: LoadContext) -> None:
    shared = Collection(tenant="town", name="household", kind=CollectionKind.SHARED)
    town.collection_store.put(shared, actor="admin", now=town.clock.now())
    embedder = WordEmbedder()
    keep(town, embedder, "household", "never serve mango", standing=True)
    keep(town, embedder, "household", "never tell a9", standing=True, policy=AccessPolicy(read_agents=("a1",)))
    for agent in ("a1", "a9"):
        right = Registration(tenant="town", collection="household", agent_id=agent, read=True, write=False)
        town.collection_store.register(right, actor="admin", now=town.clock.now())
    told = {agent: asked(load, agent, "u1", "hello", collections=("household",)) for agent in ("a1", "a9")}
    constraints = {
        agent: {one.text for one in loaded.memories if one.lane is Lane.CONSTRAINT} for agent, loaded in told.items()
    }
    assert {"never serve mango", "never tell a9"} <= constraints["a1"]
    assert "never serve mango" in constraints["a9"]
    assert "never tell a9" not in constraints["a9"]


def test_what_was_delivered_is_in_the_ledger(town: Shelf, load: LoadContext) -> None:
    loaded = asked(load, "a5", "u5", TOPICS[5])
    for one in loaded.memories:
        memory = one.hit.memory
        assert ("a5", "s") in {
            (read.agent_id, read.session_id)
            for read in town.ledger.readers("town", memory.memory_id, version=memory.version)
        }
