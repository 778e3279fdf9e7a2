"""What every long-term provider does, whichever it is: one suite, run against each.

Against a real server: ``make test-real-memos``, ``make test-real-mem0 MEM0_URL=…``.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from strata.errors import NotFoundError
from strata.model.context import SearchMode
from strata.model.memories import AccessPolicy, Memory
from strata.ports import Access, MemoryDraft, ProviderHits, ProviderQuery, ProviderScope
from tests.contract.providers import KINDS, Subject, subject

_keys = itertools.count(1)


@pytest.fixture(params=KINDS)
def it(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """A provider that nobody has written to, in a tenant of the test's own."""
    with subject(request.param) as opened:
        yield opened


class Memories:
    """One user with one agent of one tenant, at a provider."""

    def __init__(self, it: Subject, user: str = "alice", agent: str = "chef", tenant: str = "") -> None:
        self.it = it
        self.scope = ProviderScope(tenant=tenant or it.tenant, user_id=user, agent_id=agent, session_id="s1")
        self.layer, self.agents = f"user:{user}", f"agent:{agent}"

    def draft(self, content: str, collection: str = "", **changes: Any) -> MemoryDraft:
        values = {
            "memory_id": f"{self.it.tenant}-{next(_keys)}",
            "collection": collection or self.layer,
            "memory_type": "user_preference",
            "content": content,
            "fingerprint": f"f-{next(_keys)}",
            "said_at": self.it.clock.now() - timedelta(days=1),
        }
        return MemoryDraft(**{**values, **changes})

    def add(self, content: str, collection: str = "", **changes: Any) -> MemoryDraft:
        draft = self.draft(content, collection, **changes)
        self.it.provider.add(self.scope, draft, now=self.it.clock.now())
        self.it.added[draft.memory_id] = content
        if self.it.provider.capabilities().asynchronous:
            self.it.settle(lambda: self.get(draft) is not None)
        return draft

    def get(self, draft: MemoryDraft) -> Memory | None:
        return self.it.provider.get(self.scope, draft.collection, draft.memory_id)

    def search(self, text: str, collections: Sequence[str] = (), **changes: Any) -> ProviderHits:
        query = ProviderQuery(
            scope=self.scope,
            access=Access(tenant=self.scope.tenant, agent_id=self.scope.agent_id),
            text=text,
            collections=tuple(collections) or (self.layer, self.agents),
            **{"deadline_seconds": 10.0, **changes},
        )
        return self.it.provider.search(query)

    def found(self, text: str, collections: Sequence[str] = (), **changes: Any) -> list[str]:
        """What was found, in the words it was added in: a service that shows no metadata has words of its own."""
        hits = self.search(text, collections, **changes).hits
        return sorted(self.it.added.get(hit.memory.memory_id, hit.memory.content) for hit in hits)

    def listed(self, collection: str = "") -> list[str]:
        memories = self.it.provider.listed(self.scope, collection or self.layer)
        return sorted(memory.content for memory in memories)


@pytest.fixture
def alice(it: Subject) -> Memories:
    return Memories(it)


def test_what_is_added_is_found_again(alice: Memories) -> None:
    draft = alice.add("Alice likes green tea", metadata={"room": "kitchen"}, importance=7)
    (hit,) = alice.search("does Alice like green tea").hits
    assert hit.memory.memory_id == draft.memory_id
    assert hit.memory.tenant == alice.scope.tenant
    assert hit.memory.collection == draft.collection
    assert hit.memory.memory_type == draft.memory_type
    assert 0 < hit.score <= 1
    assert hit.signals


def test_nothing_is_lost_on_the_way(alice: Memories) -> None:
    expires_at = (alice.it.clock.now() + timedelta(days=30)).replace(microsecond=0)
    draft = alice.add(
        "Alice is allergic to peanuts",
        metadata={"room": "kitchen", "严重程度": "高"},
        importance=9,
        standing=True,
        safety=True,
        ttl_seconds=2_592_000,
        expires_at=expires_at,
        user_id="alice",
        confidence=0.75,
    )
    memory = alice.get(draft)
    assert memory is not None
    for name in ("content", "importance", "standing", "safety", "ttl_seconds", "said_at", "user_id", "confidence"):
        assert getattr(memory, name) == getattr(draft, name), name
    assert memory.expires_at == expires_at
    assert {key: memory.metadata[key] for key in draft.metadata} == draft.metadata
    assert memory.agent_id == "chef"


@pytest.mark.parametrize(
    "content",
    ["她不吃香菜，也不吃芹菜", "👩‍👩‍👧‍👦 lives at № 7 – “Rua das Flores” 𝒳", 'She said: "no <b>&amp;</b> \\n {x}"'],
)
def test_text_survives_as_it_is(alice: Memories, content: str) -> None:
    alice.add(content)
    assert alice.listed() == [content]
    assert alice.found(content) == [content]


def test_what_is_added_twice_is_stored_once(alice: Memories) -> None:
    draft = alice.add("The invoice address is Rua das Flores 12")
    again = alice.it.provider.add(alice.scope, draft, now=alice.it.clock.now())
    assert alice.listed() == [draft.content]
    if alice.it.provider.capabilities().returns_ids:
        assert alice.it.provider.get(alice.scope, alice.layer, again[0]) is not None


def test_one_search_covers_the_users_the_agents_and_shared_memories(alice: Memories) -> None:
    alice.add("Green tea for Alice")
    alice.add("Green tea is brewed at 80 degrees", alice.agents, memory_type="task_experience")
    alice.it.share("household_001", "chef")
    alice.add("Green tea is on the top shelf", "household_001")
    hits = alice.search("green tea", [alice.layer, alice.agents, "household_001"]).hits
    assert {hit.memory.collection for hit in hits} == {alice.layer, alice.agents, "household_001"}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert alice.found("green tea", [alice.agents]) == ["Green tea is brewed at 80 degrees"]


@pytest.mark.parametrize(
    "other",
    [
        {"user": "bob"},
        {"user": "Alice"},
        {"user": "alice "},
        {"user": "álice"},
        {"user": "alice:chef"},
        {"user": "🎩"},
        {"user": "付" * 128},
        {"tenant": "other"},
        {"tenant": "other", "user": "alice"},
    ],
    ids=str,
)
def test_nobody_sees_what_is_another_users_or_another_tenants(alice: Memories, other: dict[str, str]) -> None:
    stranger = Memories(alice.it, **{**other, **({"tenant": f"{alice.it.tenant}-2"} if "tenant" in other else {})})
    mine = alice.add("Green tea for Alice")
    theirs = stranger.add("Green tea for the stranger")
    assert alice.found("green tea") == [mine.content]
    assert stranger.found("green tea") == [theirs.content]
    assert stranger.listed() == [theirs.content]
    assert stranger.it.provider.get(stranger.scope, stranger.layer, mine.memory_id) is None
    stranger.it.provider.delete(stranger.scope, stranger.layer, [mine.memory_id])
    assert alice.get(mine) is not None


def test_agents_keep_their_own_experience(alice: Memories) -> None:
    shopper = Memories(alice.it, agent="shopper")
    alice.add("Soak beans overnight", alice.agents)
    assert shopper.found("soak beans overnight") == []
    for foreign in (alice.agents, "agent:nobody"):
        with suppress(NotFoundError):
            assert shopper.found("soak beans", [foreign]) == []


def test_a_place_where_nothing_was_written_is_empty(alice: Memories) -> None:
    assert alice.search("green tea").hits == ()
    assert alice.listed() == []
    assert alice.it.provider.get(alice.scope, alice.layer, "nothing") is None
    alice.it.provider.delete(alice.scope, alice.layer, ["nothing"])


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_an_empty_query_finds_nothing(alice: Memories, text: str) -> None:
    assert alice.search(text).hits == ()


def test_a_very_long_query_is_asked_with_its_beginning(alice: Memories) -> None:
    draft = alice.add("Alice likes green tea")
    assert alice.found("Alice likes green tea" + " " * 20_000 + "x" * 50_000) == [draft.content]


def test_a_memory_is_had_by_its_id_and_by_the_providers(alice: Memories) -> None:
    draft = alice.add("Alice likes green tea")
    memory = alice.get(draft)
    assert memory is not None
    external = memory.metadata.get("external_id", draft.memory_id)
    assert alice.it.provider.get(alice.scope, alice.layer, external) == memory
    assert alice.it.provider.get(alice.scope, alice.agents, draft.memory_id) is None


def test_what_is_deleted_is_gone_and_the_rest_stays(alice: Memories) -> None:
    first, second = alice.add("Alice likes green tea"), alice.add("Alice likes black tea")
    alice.it.provider.delete(alice.scope, alice.agents, [first.memory_id])
    assert len(alice.listed()) == 2
    alice.it.provider.delete(alice.scope, alice.layer, [first.memory_id, "nothing"])
    assert alice.listed() == [second.content]
    assert alice.found("Alice likes tea") == [second.content]
    alice.it.provider.delete(alice.scope, alice.layer, [first.memory_id])


def test_expired_and_superseded_memories_are_not_found(alice: Memories) -> None:
    soon = alice.it.clock.now() + timedelta(seconds=3)
    alice.add("Green tea is sold out until Monday", expires_at=soon)
    alice.add("Alice wants her green tea with sugar", superseded_by="another")
    draft = alice.add("Alice drinks green tea in the evening")
    alice.it.pass_time(4)
    assert alice.found("green tea") == [draft.content]


def test_a_memorys_own_policy_narrows_who_reads_it(alice: Memories) -> None:
    alice.add("Alice likes green tea in secret", policy=AccessPolicy(read_agents=("shopper",)))
    assert alice.found("Alice likes green tea") == []
    assert Memories(alice.it, agent="shopper").found("Alice likes green tea") != []


def test_types_are_filtered(alice: Memories) -> None:
    alice.add("Green tea is nearly out", memory_type="shopping_list")
    alice.add("Alice likes green tea")
    assert alice.found("green tea", memory_types=("shopping_list",)) == ["Green tea is nearly out"]
    assert alice.found("green tea", memory_types=()) == []


def test_tags_are_filtered_or_the_answer_says_how(alice: Memories) -> None:
    alice.add("Green tea in the kitchen", metadata={"room": "kitchen", "房间": "厨房"})
    alice.add("Green tea in the office", metadata={"room": "office"})
    for tags in ({"room": "kitchen"}, {"房间": "厨房"}, {"room": "kitchen", "房间": "厨房"}):
        assert alice.found("green tea", tags=tags) == ["Green tea in the kitchen"]
        notes = alice.search("green tea", tags=tags).notes
        assert alice.it.provider.capabilities().tags or any("tags" in note for note in notes)
    assert alice.found("green tea", tags={"room": "kitchen", "房间": "?"}) == []


def test_a_keyword_search_is_one_or_the_answer_says_so(alice: Memories) -> None:
    alice.add("Alice likes green tea")
    hits = alice.search("green tea", mode=SearchMode.KEYWORD)
    assert hits.hits
    assert alice.it.provider.capabilities().keyword or any("keyword" in note for note in hits.notes)


def test_no_collection_gives_more_than_was_asked(alice: Memories) -> None:
    for position in range(4):
        alice.add(f"Green tea number {position} for Alice")
        alice.add(f"Green tea number {position} for the chef", alice.agents)
    hits = alice.search("green tea number", top_k=2).hits
    assert len(hits) >= 2
    assert all(sum(hit.memory.collection == name for hit in hits) <= 2 for name in (alice.layer, alice.agents))


def test_a_list_has_everything_once(alice: Memories) -> None:
    drafts = [alice.add(f"Fact number {position} about Alice") for position in range(5)]
    assert alice.listed() == [draft.content for draft in drafts]
    assert len(alice.it.provider.listed(alice.scope, alice.layer, limit=3)) == 3


def test_it_says_who_it_is(it: Subject) -> None:
    able = it.provider.capabilities()
    assert re.fullmatch("MEMOS|MYSQL|MEM0", it.provider.name)
    assert able.keyword or able.semantic
    assert not (able.returns_ids and able.asynchronous)
