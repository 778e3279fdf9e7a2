"""MemOS Cloud and both Mem0 products: what is sent, and what their answers mean. And which provider settings open."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from strata.clock import FakeClock
from strata.config import Providers
from strata.errors import (
    ConfigurationError,
    ProviderProtocolError,
    ProviderRejectedError,
    ProviderUnavailableError,
    RateLimitedError,
)
from strata.model.agents import ProviderName
from strata.model.memories import AccessPolicy
from strata.ports import Access, MemoryDraft, ProviderHits, ProviderQuery, ProviderScope
from strata.providers import open_provider
from strata.providers.scopes import cube_of
from tests.doubles import memos_cloud
from tests.doubles.faults import Fault
from tests.doubles.open import Opened, opened

SCOPE = ProviderScope(tenant="t", user_id="alice", agent_id="chef", session_id="s1")
ALICE, CHEF, BOB = (cube_of("t", name) for name in ("user:alice", "agent:chef", "user:bob"))
_keys = itertools.count(1)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def cloud(clock: FakeClock) -> Iterator[Opened]:
    with opened("memos-cloud", clock, retries=0) as provider:
        yield provider


@pytest.fixture
def oss(clock: FakeClock) -> Iterator[Opened]:
    with opened("mem0", clock, retries=0) as provider:
        yield provider


@pytest.fixture
def platform(clock: FakeClock) -> Iterator[Opened]:
    with opened("mem0-platform", clock, retries=0) as provider:
        yield provider


def draft(content: str = "Alice likes green tea", collection: str = "user:alice", **changes: Any) -> MemoryDraft:
    said_at = FakeClock().now()
    values = {"memory_id": f"m-{next(_keys)}", "memory_type": "user_preference", "fingerprint": "f", "said_at": said_at}
    return MemoryDraft(**{**values, "content": content, "collection": collection, **changes})


def add(to: Opened, memory: MemoryDraft) -> tuple[str, ...]:
    return to.provider.add(SCOPE, memory, now=memory.said_at)


def search(where: Opened, text: str = "green tea", **changes: Any) -> ProviderHits:
    access = Access(tenant="t", agent_id="chef")
    asked = {"scope": SCOPE, "access": access, "text": text, "collections": ("user:alice", "agent:chef")}
    return where.provider.search(ProviderQuery(**{**asked, "deadline_seconds": 5.0, **changes}))


class TestCloud:
    """MemOS Cloud."""

    def test_each_collection_is_searched_as_a_user_of_its_own(self, cloud: Opened) -> None:
        search(cloud)
        bodies = sorted(
            cloud.double.bodies(f"{memos_cloud.PREFIX}/search/memory"), key=lambda body: str(body["user_id"])
        )
        assert bodies[1] == {
            "query": "green tea",
            "user_id": ALICE,
            "memory_limit_number": 10,
            "include_preference": True,
            "preference_limit_number": 6,
            "include_tool_memory": False,
            "include_skill": False,
            "relativity": 0.45,
            "conversation_id": "strata.session.t.s1",
        }
        assert bodies[0]["user_id"] == CHEF

    def test_one_failing_collection_is_a_note_and_all_failing_an_error(self, cloud: Opened) -> None:
        cloud.service.put(ALICE, "green tea")
        cloud.service.put(CHEF, "green tea")
        cloud.double.faults.once(Fault.SERVER_ERROR)
        hits = search(cloud)
        assert len(hits.hits) == 1
        assert hits.notes == ("One of 2 collections could not be searched (provider_unavailable).",)
        cloud.double.faults.once(Fault.SERVER_ERROR, times=2)
        with pytest.raises(ProviderUnavailableError):
            search(cloud)

    @pytest.mark.parametrize(
        ("code", "message", "error"),
        [
            (40309, "slow down", RateLimitedError),
            (40000, "Rate Limit reached", RateLimitedError),
            (50005, "search service unavailable", ProviderUnavailableError),
            (50000, "internal", ProviderUnavailableError),
            (40300, "quota", ProviderRejectedError),
            (40132, "invalid key", ProviderRejectedError),
        ],
    )
    def test_a_code_inside_a_success_counts(
        self, cloud: Opened, code: int, message: str, error: type[Exception]
    ) -> None:
        cloud.service.behaviour.code, cloud.service.behaviour.message = code, message
        with pytest.raises(error) as caught:
            search(cloud)
        assert type(caught.value) is error

    def test_accepted_without_a_body_is_taken_and_looked_at_later(self, cloud: Opened) -> None:
        cloud.double.faults.once(Fault.ACCEPTED_EMPTY, "/add/message", effective=True)
        assert add(cloud, draft()) == ()
        assert len(cloud.service.texts()) == 1

    def test_a_failed_task_is_tried_at_once_and_then_an_error(self, cloud: Opened) -> None:
        cloud.service.behaviour.add_says = "failed"
        with pytest.raises(ProviderUnavailableError, match="cannot be read back"):
            add(cloud, draft())
        bodies = cloud.double.bodies(f"{memos_cloud.PREFIX}/add/message")
        assert [body["async_mode"] for body in bodies] == [True, False]

    @pytest.mark.parametrize(("null_lists", "epoch"), [(True, True), (False, False)])
    def test_lists_and_times_of_both_spellings(self, cloud: Opened, *, null_lists: bool, epoch: bool) -> None:
        cloud.service.behaviour.null_lists, cloud.service.behaviour.epoch_times = null_lists, epoch
        assert search(cloud).hits == ()
        cloud.service.put(ALICE, "green tea", preference="Prefers green tea")
        (hit,) = search(cloud).hits
        assert hit.memory.content == "Prefers green tea"
        assert hit.memory.created_at == FakeClock().now()

    def test_what_a_reader_must_know_is_known_though_a_search_shows_no_metadata(
        self, cloud: Opened, clock: FakeClock
    ) -> None:
        memories = [
            draft("green tea for everyone", memory_type="my_type"),
            draft("green tea until noon", expires_at=clock.now() + timedelta(seconds=10)),
            draft("green tea for another agent", policy=AccessPolicy(read_agents=("shopper",))),
            draft("green tea of yesterday", superseded_by="m-9"),
        ]
        for memory in memories:
            add(cloud, memory)
        clock.advance(60)
        (hit,) = search(cloud).hits
        assert (hit.memory.memory_id, hit.memory.memory_type) == (memories[0].memory_id, "my_type")

    def test_tags_are_filtered_by_the_service(self, cloud: Opened, clock: FakeClock) -> None:
        add(cloud, draft("green tea in the kitchen", metadata={"room": "kitchen", "房间": "厨房"}))
        add(cloud, draft("green tea in the office", metadata={"room": "office"}))
        clock.advance(1)
        assert len(search(cloud, tags={"room": "kitchen"}).hits) == 1
        assert len(search(cloud, tags={"房间": "厨房"}).hits) == 1
        assert search(cloud, tags={"room": "hall"}).hits == ()

    def test_no_more_is_asked_for_than_the_service_gives(self, cloud: Opened) -> None:
        search(cloud, top_k=40)
        assert cloud.double.bodies(f"{memos_cloud.PREFIX}/search/memory")[0]["memory_limit_number"] == 25


class TestOss:
    """The open-source Mem0 server."""

    def test_an_add_says_what_is_to_be_stored(self, oss: Opened, clock: FakeClock) -> None:
        expires_at = clock.now() + timedelta(days=2)
        add(oss, draft(expires_at=expires_at))
        (body,) = filter(None, oss.double.bodies("/memories"))
        assert body["infer"] is False
        assert body["messages"] == [{"role": "user", "content": "Alice likes green tea"}]
        assert body["user_id"] == ALICE
        assert "agent_id" not in body
        assert body["expiration_date"] == "2026-03-13"

    def test_an_agents_layer_is_an_agent(self, oss: Opened) -> None:
        add(oss, draft("Soak beans overnight", "agent:chef"))
        (body,) = filter(None, oss.double.bodies("/memories"))
        assert (body.get("user_id"), body["agent_id"]) == (None, CHEF)

    def test_each_collection_is_one_search_because_entities_are_joined_by_and(self, oss: Opened) -> None:
        oss.service.put(ALICE, "green tea")
        oss.service.put(CHEF, "green tea")
        oss.service.put(BOB, "green tea")
        assert {hit.memory.collection for hit in search(oss).hits} == {"user:alice", "agent:chef"}
        filters = [body["filters"] for body in oss.double.bodies("/search")]
        assert sorted(map(str, filters)) == sorted(map(str, [{"user_id": ALICE}, {"agent_id": CHEF}]))

    @pytest.mark.parametrize("score", ["fused", "distance"])
    def test_scores_of_every_kind_are_scores(self, oss: Opened, score: str) -> None:
        oss.service.behaviour.score = score
        oss.service.put(ALICE, "green tea")
        assert all(0 < hit.score <= 1 for hit in search(oss).hits)

    def test_an_add_that_stored_nothing_is_an_error(self, oss: Opened) -> None:
        oss.service.behaviour.stores_nothing = True
        with pytest.raises(ProviderUnavailableError, match="cannot be read back"):
            add(oss, draft())

    def test_an_id_under_which_nothing_is_found_is_an_error(self, oss: Opened) -> None:
        oss.service.behaviour.ids_lie = True
        with pytest.raises(ProviderUnavailableError, match="cannot be read back"):
            add(oss, draft())

    @pytest.mark.parametrize(
        ("code", "error"),
        [("provider_rate_limited", RateLimitedError), ("vector_store_unavailable", ProviderUnavailableError)],
    )
    def test_a_gateway_error_tells_whose_it_is(self, oss: Opened, code: str, error: type[Exception]) -> None:
        oss.service.behaviour.upstream = code
        with pytest.raises(error) as caught:
            search(oss)
        assert type(caught.value) is error
        assert getattr(caught.value, "fields", {})["provider_code"] == code

    def test_a_memory_of_others_is_not_shown_by_its_id(self, oss: Opened) -> None:
        bobs = oss.service.put(BOB, "Bob likes beer")
        assert oss.provider.get(SCOPE, "user:alice", bobs) is None
        oss.provider.delete(SCOPE, "user:alice", [bobs])
        assert oss.service.texts() == ["Bob likes beer"]

    def test_null_is_no_memory(self, oss: Opened) -> None:
        assert oss.provider.get(SCOPE, "user:alice", "7c99b85e-33f0-4752-9b3a-f8f9afa4cf01") is None

    def test_an_answer_without_results_is_none(self, oss: Opened) -> None:
        oss.double.faults.once(Fault.WRONG_SHAPE, times=2)
        with pytest.raises(ProviderProtocolError):
            search(oss)


class TestPlatform:
    """The Mem0 Platform."""

    def test_one_search_joins_all_collections_by_or(self, platform: Opened) -> None:
        platform.service.put(ALICE, "green tea")
        platform.service.put(CHEF, "green tea")
        platform.service.put(BOB, "green tea")
        assert {hit.memory.collection for hit in search(platform).hits} == {"user:alice", "agent:chef"}
        (body,) = platform.double.bodies("/v3/memories/search/")
        assert body["filters"] == {"OR": [{"user_id": ALICE}, {"agent_id": CHEF}]}
        assert (body["top_k"], body["threshold"], body["rerank"]) == (20, 0.1, False)

    def test_a_pending_event_is_looked_at_later(self, platform: Opened, clock: FakeClock) -> None:
        platform.service.behaviour.pending_seconds = 5.0
        memory = draft()
        assert add(platform, memory) == ()
        assert platform.provider.get(SCOPE, "user:alice", memory.memory_id) is None
        clock.advance(6)
        assert platform.provider.get(SCOPE, "user:alice", memory.memory_id) is not None

    def test_a_failed_event_is_an_error(self, platform: Opened) -> None:
        platform.service.behaviour.event = "FAILED"
        with pytest.raises(ProviderUnavailableError, match="cannot be read back"):
            add(platform, draft())

    def test_a_deleted_memory_that_the_service_still_finds_is_not_shown(self, platform: Opened) -> None:
        platform.service.behaviour.deleted_seconds = 60.0
        memory = draft()
        add(platform, memory)
        platform.provider.delete(SCOPE, "user:alice", [memory.memory_id])
        assert search(platform).hits == ()
        assert platform.provider.listed(SCOPE, "user:alice") == []

    def test_a_long_list_is_paged(self, platform: Opened) -> None:
        for position in range(450):
            platform.service.put(ALICE, f"memory {position}")
        assert len(platform.provider.listed(SCOPE, "user:alice", limit=1_000)) == 450
        assert len(platform.double.bodies("/v3/memories/")) == 3


class TestOpening:
    """Which provider settings open."""

    @staticmethod
    def opened_with(name: ProviderName, **settings: Any) -> Any:
        return open_provider(
            name, Providers(**settings), FakeClock(), lambda secret: f"key of {secret}".replace(" ", "-")
        )

    def test_a_key_makes_it_the_cloud(self) -> None:
        plain = self.opened_with(ProviderName.MEMOS, memos_url="http://memos:8000")
        cloud = self.opened_with(ProviderName.MEMOS, memos_url="https://memos.example/v1", memos_key_secret="memos")
        assert (plain.name, cloud.name) == (ProviderName.MEMOS, ProviderName.MEMOS)
        assert plain.capabilities().returns_ids is False
        assert (plain.capabilities().tags, cloud.capabilities().tags) == (False, True)

    def test_sync_adds_return_lasting_ids(self) -> None:
        able = self.opened_with(ProviderName.MEMOS, memos_url="http://memos:8000", memos_async=False).capabilities()
        assert (able.returns_ids, able.asynchronous) == (True, False)

    def test_both_products_of_mem0(self) -> None:
        oss = self.opened_with(ProviderName.MEM0, mem0_url="http://mem0:8888")
        platform = self.opened_with(
            ProviderName.MEM0, mem0_url="https://api.mem0.example", mem0_key="k", mem0_platform=True
        )
        assert oss.capabilities() == replace(platform.capabilities(), tags=True, returns_ids=True, asynchronous=False)

    @pytest.mark.parametrize("name", list(ProviderName))
    def test_without_an_address_there_is_none(self, name: ProviderName) -> None:
        with pytest.raises(ConfigurationError):
            self.opened_with(name)

    def test_nothing_is_fetched_before_the_first_call(self) -> None:
        def never(name: str) -> str:
            raise AssertionError(name)

        settings = Providers(memos_url="https://memos.example", memos_key_secret="memos")
        assert open_provider(ProviderName.MEMOS, settings, FakeClock(), never).name is ProviderName.MEMOS
