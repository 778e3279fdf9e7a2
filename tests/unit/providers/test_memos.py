"""The self-hosted MemOS server: what is sent, and what its answers mean."""

import itertools
import os
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from strata.clock import FakeClock
from strata.errors import (
    ProviderProtocolError,
    ProviderRejectedError,
    ProviderUnavailableError,
    RateLimitedError,
)
from strata.ports import Access, MemoryDraft, ProviderHits, ProviderQuery, ProviderScope
from strata.providers.scopes import cube_of
from tests.doubles import memos_models
from tests.doubles.faults import Fault
from tests.doubles.memos import MemosBehaviour
from tests.doubles.open import Opened, opened
from tests.doubles.server import Reply

SCOPE = ProviderScope(tenant="t", user_id="alice", agent_id="chef", session_id="s1")
ALICE, CHEF = cube_of("t", "user:alice"), cube_of("t", "agent:chef")
_keys = itertools.count(1)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def memos(clock: FakeClock) -> Iterator[Opened]:
    with opened("memos", clock, retries=0) as provider:
        yield provider


@pytest.fixture
def sync(clock: FakeClock) -> Iterator[Opened]:
    with opened("memos-sync", clock, retries=0) as provider:
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


def contents(hits: ProviderHits) -> list[str]:
    return [hit.memory.content for hit in hits.hits]


# --- what is sent -----------------------------------------------------------------------------------------------------


def test_a_search_names_everything_it_relies_on(memos: Opened) -> None:
    search(memos)
    (body,) = memos.double.bodies("/product/search")
    assert body == {
        "query": "green tea",
        "user_id": ALICE,
        "readable_cube_ids": [ALICE, CHEF],
        "mode": "fast",
        "top_k": 10,
        "relativity": 0.45,
        "dedup": "mmr",
        "include_preference": True,
        "pref_top_k": 6,
        "search_tool_memory": False,
        "include_skill_memory": False,
        "session_id": "strata.session.t.s1",
    }


def test_an_add_works_in_the_background_unless_told_otherwise(memos: Opened, sync: Opened) -> None:
    memory = draft()
    add(memos, memory)
    add(sync, memory)
    background, at_once = (one.double.bodies("/product/add")[0] for one in (memos, sync))
    assert (background["async_mode"], background["mode"]) == ("async", "fine")
    assert (at_once["async_mode"], at_once["mode"]) == ("sync", "fine")
    for body in (background, at_once):
        assert body["writable_cube_ids"] == [ALICE]
        assert body["user_id"] == ALICE
        assert body["messages"] == [{"role": "user", "content": memory.content, "chat_time": "2026-03-10 08:00"}]
        assert body["info"]["strata_id"] == memory.memory_id


def test_every_request_is_one_that_the_real_models_take_without_ignoring_a_field(
    memos: Opened, sync: Opened, clock: FakeClock
) -> None:
    if not memos_models.available() and not os.environ.get("CI"):
        pytest.skip("the request models of MemOS are not unpacked (make test does that)")
    sync.service.behaviour.add_stores_nothing = True
    with pytest.raises(ProviderUnavailableError):
        add(sync, draft())
    memory = draft()
    add(memos, memory)
    search(memos, tags={"room": "kitchen"}, memory_types=("user_preference",))
    clock.advance(1)
    memos.provider.listed(SCOPE, "user:alice")
    memos.provider.delete(SCOPE, "user:alice", [memory.memory_id])
    asked = [*memos.double.asked, *sync.double.asked]
    assert {one.path for one in asked} == set(memos_models.MODELS)
    for one in asked:
        model = memos_models.model(one.path)
        assert set(one.body) <= set(model.model_fields), one.path
        taken = model.model_validate(one.body).model_dump()
        assert {name: taken[name] for name in one.body if name not in {"mode", "messages"}} == {
            name: value for name, value in one.body.items() if name not in {"mode", "messages"}
        }


# --- what comes back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["neo4j", "postgres"])
def test_both_backends_tell_the_same(sync: Opened, backend: str) -> None:
    sync.service.behaviour.backend = backend
    memory = draft(metadata={"room": "kitchen"})
    add(sync, memory)
    (hit,) = search(sync).hits
    assert (hit.memory.memory_id, hit.memory.content, hit.memory.metadata["room"]) == (
        memory.memory_id, memory.content, "kitchen",
    )  # fmt: skip
    assert hit.memory.created_at == FakeClock().now()
    assert [one.memory_id for one in sync.provider.listed(SCOPE, "user:alice")] == [memory.memory_id]


def test_no_hit_is_an_empty_answer(memos: Opened) -> None:
    assert search(memos) == ProviderHits(hits=())


def test_a_preference_is_read_from_its_own_field(memos: Opened) -> None:
    memos.service.put(ALICE, "They talked about green tea at length.", preference="Prefers green tea")
    (hit,) = search(memos).hits
    assert hit.memory.content == "Prefers green tea"
    assert hit.memory.memory_type == "user_preference"


def test_both_layers_answer_one_search_and_strangers_do_not(memos: Opened) -> None:
    memos.service.put(ALICE, "green tea for Alice")
    memos.service.put(CHEF, "green tea is brewed at 80 degrees")
    memos.service.put(cube_of("t", "user:bob"), "green tea for Bob")
    assert {hit.memory.collection for hit in search(memos).hits} == {"user:alice", "agent:chef"}


@pytest.mark.parametrize(("relativity", "score"), [("half", 0.5), ("missing", 0.5)])
def test_scores_of_every_kind_are_scores(memos: Opened, relativity: str, score: float) -> None:
    memos.service.behaviour.relativity = relativity
    memos.service.put(ALICE, "green tea for Alice")
    assert [hit.score for hit in search(memos).hits] == [score]


def test_a_server_that_failed_inside_looks_empty_and_is_not_an_error(memos: Opened) -> None:
    memos.service.put(ALICE, "green tea for Alice")
    memos.service.behaviour.search_fails = True
    assert search(memos).hits == ()


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ({"code": 40309, "message": "", "data": None}, RateLimitedError),
        ({"code": 429, "message": "Rate limit exceeded", "data": None}, RateLimitedError),
        ({"code": 500, "message": "boom", "data": None}, ProviderUnavailableError),
        ({"code": 400, "message": "no", "data": None}, ProviderRejectedError),
        ({"code": "200", "data": {"text_mem": []}}, ProviderProtocolError),
        ({"data": {"text_mem": []}}, ProviderProtocolError),
        ({"code": 200, "data": None}, ProviderProtocolError),
        ({"code": 200, "data": {"text_mem": None}}, ProviderProtocolError),
        ({"code": 200, "data": []}, ProviderProtocolError),
        ([], ProviderProtocolError),
    ],
)
def test_a_body_that_says_otherwise_is_an_error_whatever_the_status(
    memos: Opened, reply: Any, error: type[Exception]
) -> None:
    memos.double.service = Canned(reply)
    with pytest.raises(error):
        search(memos)


@pytest.mark.parametrize("entry", [None, 5, {}, {"id": 7}, {"id": "x"}, {"id": "x", "memory": None, "metadata": []}])
def test_entries_that_make_no_sense_are_left_out(memos: Opened, entry: Any) -> None:
    bucket = {"cube_id": ALICE, "memories": [entry]}
    memos.double.service = Canned({"code": 200, "data": {"text_mem": [bucket, None, {"cube_id": ALICE}]}})
    assert search(memos).hits == ()


def test_a_bucket_that_nobody_asked_for_is_left_out(memos: Opened) -> None:
    stray = {"cube_id": cube_of("t", "user:bob"), "memories": [{"id": "x", "memory": "green tea", "metadata": {}}]}
    memos.double.service = Canned({"code": 200, "data": {"text_mem": [stray]}})
    assert search(memos).hits == ()


def test_an_entry_that_says_it_belongs_elsewhere_is_left_out(memos: Opened) -> None:
    memos.service.put(ALICE, "green tea for Bob", strata_tenant="t", strata_collection="user:bob")
    memos.service.put(ALICE, "green tea for Alice", strata_tenant="t", strata_collection="user:alice")
    assert contents(search(memos)) == ["green tea for Alice"]
    assert [memory.content for memory in memos.provider.listed(SCOPE, "user:alice")] == ["green tea for Alice"]


# --- adds -------------------------------------------------------------------------------------------------------------


def test_a_background_add_keeps_no_temporary_id(memos: Opened, clock: FakeClock) -> None:
    memos.service.behaviour.settle_seconds = 5.0
    memory = draft()
    assert add(memos, memory) == ()
    assert contents(search(memos)) == [memory.content]  # readable at once
    assert memos.provider.get(SCOPE, "user:alice", memory.memory_id) is None  # but not there to stay
    clock.advance(6)
    assert memos.provider.get(SCOPE, "user:alice", memory.memory_id) is not None
    assert add(memos, memory) != ()  # found, under the id that lasts
    assert len(memos.service.texts()) == 1


def test_a_background_add_that_vanishes_is_not_there(memos: Opened, clock: FakeClock) -> None:
    memos.service.behaviour.extraction = "nothing"
    memory = draft()
    add(memos, memory)
    clock.advance(1)
    assert memos.provider.get(SCOPE, "user:alice", memory.memory_id) is None


def test_a_raw_copy_that_stays_is_there_after_an_hour(memos: Opened, clock: FakeClock) -> None:
    memos.service.behaviour.settle_seconds = 10**9
    memory = draft()
    add(memos, memory)
    clock.advance(timedelta(hours=1).total_seconds())
    assert memos.provider.get(SCOPE, "user:alice", memory.memory_id) is not None


def test_an_empty_success_is_tried_without_a_model(sync: Opened) -> None:
    sync.service.behaviour.extraction = "nothing"
    memory = draft()
    assert len(add(sync, memory)) == 1
    assert [body["mode"] for body in sync.double.bodies("/product/add")] == ["fine", "fast"]
    assert sync.provider.get(SCOPE, "user:alice", memory.memory_id) is not None
    assert contents(search(sync)) == [memory.content]


@pytest.mark.parametrize("kind", ["memos", "memos-sync"])
def test_an_empty_success_that_stays_empty_is_an_error(clock: FakeClock, kind: str) -> None:
    with opened(kind, clock, MemosBehaviour(add_stores_nothing=True)) as memos:
        with pytest.raises(ProviderUnavailableError, match="cannot be read back"):
            add(memos, draft())
        assert memos.service.texts() == []


def test_an_add_that_lands_in_another_cube_is_an_error(sync: Opened) -> None:
    entry = {"memory": "x", "memory_id": "y", "memory_type": "UserMemory", "cube_id": "typo"}
    inner = sync.double.service
    sync.double.service = Canned({"code": 200, "data": [entry]}, path="/product/add", otherwise=inner)
    with pytest.raises(ProviderProtocolError):
        add(sync, draft())


@pytest.mark.parametrize("extraction", ["keeps", "rewrites", "splits", "fails"])
def test_whatever_a_model_makes_of_it_it_is_one_memory_in_the_words_it_had(sync: Opened, extraction: str) -> None:
    sync.service.behaviour.extraction = extraction
    memory = draft("Alice likes green tea and hates coriander")
    add(sync, memory)
    add(sync, memory)
    assert contents(search(sync, memory.content)) == [memory.content]
    assert [one.content for one in sync.provider.listed(SCOPE, "user:alice")] == [memory.content]
    sync.provider.delete(SCOPE, "user:alice", [memory.memory_id])
    assert sync.service.texts() == []


def test_a_long_list_is_paged_and_a_server_without_pages_is_asked_once(sync: Opened) -> None:
    for position in range(250):
        sync.service.put(ALICE, f"memory {position}")
    assert len(sync.provider.listed(SCOPE, "user:alice", limit=1_000)) == 250
    assert len(sync.double.bodies("/product/get_memory")) == 3
    sync.service.behaviour.backend = "postgres"
    assert len(sync.provider.listed(SCOPE, "user:alice", limit=1_000)) == 250
    assert len(sync.double.bodies("/product/get_memory")) == 4


def test_an_old_memory_is_found_by_its_content_behind_many_new_ones(sync: Opened, clock: FakeClock) -> None:
    memory = draft("Alice is allergic to peanuts")
    add(sync, memory)
    clock.advance(1)
    for position in range(600):
        sync.service.put(ALICE, f"note {position}")
    add(sync, memory)
    assert sum("peanuts" in text for text in sync.service.texts()) == 1


# --- deletes ----------------------------------------------------------------------------------------------------------


def test_a_delete_that_says_failure_and_worked_has_worked(sync: Opened) -> None:
    memory = draft()
    add(sync, memory)
    sync.service.behaviour.delete_says = "failure"
    sync.provider.delete(SCOPE, "user:alice", [memory.memory_id])
    assert sync.service.texts() == []


def test_a_delete_that_says_success_and_did_not_work_is_an_error(sync: Opened) -> None:
    memory = draft()
    add(sync, memory)
    sync.service.behaviour.delete_works = False
    with pytest.raises(ProviderUnavailableError):
        sync.provider.delete(SCOPE, "user:alice", [memory.memory_id])


def test_a_memory_that_is_still_worked_on_is_to_be_deleted_again(memos: Opened, clock: FakeClock) -> None:
    memos.service.behaviour.settle_seconds = 5.0
    memory = draft()
    add(memos, memory)
    with pytest.raises(ProviderUnavailableError):
        memos.provider.delete(SCOPE, "user:alice", [memory.memory_id])
    clock.advance(6)
    memos.provider.delete(SCOPE, "user:alice", [memory.memory_id])
    assert memos.service.texts() == []


def test_an_id_of_another_cube_is_not_deleted_though_the_server_would(sync: Opened) -> None:
    bobs = sync.service.put(cube_of("t", "user:bob"), "Bob likes beer")
    sync.provider.delete(SCOPE, "user:alice", [bobs])
    assert sync.provider.get(SCOPE, "user:alice", bobs) is None
    assert sync.service.texts() == ["Bob likes beer"]


def test_a_breaker_spares_a_search_and_not_an_add(memos: Opened) -> None:
    memos.double.faults.always(Fault.SERVER_ERROR, "/product/search")
    for _ in range(5):
        with pytest.raises(ProviderUnavailableError):
            search(memos)
    asked = len(memos.double.asked)
    with pytest.raises(ProviderUnavailableError) as caught:
        search(memos)
    assert caught.value.code == "circuit_open"
    assert len(memos.double.asked) == asked
    assert memos.provider.listed(SCOPE, "user:alice") == []


class Canned:
    """Answers always the same, to everything or to one path."""

    def __init__(self, body: Any, *, path: str = "", otherwise: Any = None) -> None:
        self._body, self._path, self._otherwise = body, path, otherwise

    def answer(self, asked: Any) -> Reply:
        if self._otherwise and self._path != asked.path:
            answered: Reply = self._otherwise.answer(asked)
            return answered
        return Reply(body=self._body)
