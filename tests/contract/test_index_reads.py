"""What an index in memory asks of the database: which memories may be seen now, and vectors by text."""

from datetime import timedelta
from typing import Any

import pytest

from strata import config
from strata.clock import FakeClock
from strata.errors import ConflictError, NotFoundError, VersionConflictError
from strata.model.memories import AccessPolicy, ChangeKind, Collection, CollectionKind
from strata.policy.digests import text_digest
from strata.ports import MemoryDraft, MemoryEdit, Opening
from strata.storage.engine import Database, open_database
from strata.storage.vectors import SqlVectorStore
from tests.doubles.driver import FailingDriver
from tests.fakes.library import Shelf

TYPES = ("user_preference", "episode")


def drafted(
    shelf: Shelf, name: str, *, collection: str = "user:u", memory_type: str = "user_preference", **more: Any
) -> MemoryDraft:
    return MemoryDraft(
        memory_id=f"{shelf.tenant}-{name}",
        collection=collection,
        memory_type=memory_type,
        fingerprint=name,
        said_at=shelf.clock.now(),
        **{"content": name, **more},
    )


def insert(shelf: Shelf, name: str, **more: Any) -> None:
    shelf.memories.insert(shelf.admin, drafted(shelf, name, **more), now=shelf.clock.now())


def versions(shelf: Shelf, agent: str, *names: str, types: tuple[str, ...] = TYPES) -> dict[str, int]:
    ids = [f"{shelf.tenant}-{name}" for name in names]
    found = shelf.memories.present_versions(shelf.access(agent), ids, now=shelf.clock.now(), memory_types=types)
    return {memory_id.removeprefix(f"{shelf.tenant}-"): version for memory_id, version in found.items()}


def test_live_memories_with_their_present_versions(shelf: Shelf) -> None:
    insert(shelf, "one")
    insert(shelf, "turn", memory_type="episode")
    insert(shelf, "gone")
    for change in (ChangeKind.UPDATE, ChangeKind.UPDATE):
        edit = MemoryEdit(memory_id=f"{shelf.tenant}-one", change=change, content=f"one {shelf.clock.now()}")
        shelf.clock.advance(1)
        shelf.memories.edit(shelf.admin, "user:u", edit, now=shelf.clock.now())
    delete = MemoryEdit(memory_id=f"{shelf.tenant}-gone", change=ChangeKind.DELETE)
    shelf.memories.edit(shelf.admin, "user:u", delete, now=shelf.clock.now())
    assert versions(shelf, "cook", "one", "turn", "gone", "never") == {"one": 3, "turn": 1}
    assert versions(shelf, "cook", "one", "turn", types=("episode",)) == {"turn": 1}
    assert versions(shelf, "cook") == {}


@pytest.mark.parametrize("count", [1, 16, 17, 70])
def test_lists_of_any_length(shelf: Shelf, count: int) -> None:
    names = [f"m{number}" for number in range(count)]
    for name in names[:20]:
        insert(shelf, name)
    assert set(versions(shelf, "cook", *names)) == set(names[:20])


def test_rights_and_expiry_are_asked_in_the_statement(shelf: Shelf) -> None:
    insert(shelf, "mine", policy=AccessPolicy(read_agents=("cook",)))
    insert(shelf, "brief", ttl_seconds=60, expires_at=shelf.clock.now() + timedelta(seconds=60))
    insert(shelf, "own", collection="agent:cook", memory_type="user_preference")
    shelf.collection_store.put(
        Collection(tenant=shelf.tenant, name="household", kind=CollectionKind.SHARED),
        actor="admin",
        now=shelf.clock.now(),
    )
    insert(shelf, "shared", collection="household")
    everything = ("mine", "brief", "own", "shared")
    assert set(versions(shelf, "cook", *everything)) == {"mine", "brief", "own"}
    assert set(versions(shelf, "other", *everything)) == {"brief"}
    shelf.clock.advance(60)
    assert set(versions(shelf, "cook", *everything)) == {"mine", "own"}


def test_another_tenant_sees_nothing(shelf: Shelf) -> None:
    insert(shelf, "one")
    stranger = Shelf(shelf.database, shelf.clock, f"{shelf.tenant}-other")
    ids = [f"{shelf.tenant}-one"]
    found = stranger.memories.present_versions(
        stranger.admin, ids, now=shelf.clock.now(), memory_types=("user_preference",)
    )
    assert found == {}


def test_vectors_come_back_as_they_were_and_the_first_stays(database: Database, shelf: Shelf) -> None:
    store, now = SqlVectorStore(database), shelf.clock.now()
    model = f"model of {shelf.tenant}"
    store.put_many(model, {"a": b"\x00\x01", "b": b"\xff" * 4_096}, now=now)
    store.put_many(model, {"a": b"other", "c": b"\x02"}, now=now)
    assert store.get_many(model, ["a", "b", "c", "d"]) == {"a": b"\x00\x01", "b": b"\xff" * 4_096, "c": b"\x02"}
    assert store.get_many(f"{model}x", ["a"]) == store.get_many(model, []) == {}
    store.put_many(model, {}, now=now)


def test_a_written_memory_leaves_its_vector_for_whoever_meets_the_text(database: Database, shelf: Shelf) -> None:
    store, vector = SqlVectorStore(database), b"\x01" * 8
    model, text = f"model of {shelf.tenant}", f"爱喝茶 {shelf.tenant}"
    for number in range(2):  # the second finds it kept
        insert(shelf, f"fact{number}", content=text, embedding=vector, embedding_model=model, user_id=str(number))
    assert store.get_many(model, [text_digest(text)]) == {text_digest(text): vector}
    turn = f"user: {text}"
    insert(shelf, "turn", content=turn, memory_type="episode", embedding=vector, embedding_model=model)
    assert store.get_many(model, [text_digest(turn)]) == {}


def test_a_refused_write_leaves_no_vector(database: Database, shelf: Shelf) -> None:
    model, text = f"model of {shelf.tenant}", f"secret {shelf.tenant}"
    insert(shelf, "one")
    with pytest.raises(ConflictError):
        insert(shelf, "one", collection="user:other", content=text, embedding=b"\x01" * 8, embedding_model=model)
    assert SqlVectorStore(database).get_many(model, [text_digest(text)]) == {}


def opened(shelf: Shelf, agent: str, collection: str = "user:u", *, model: str = "", text: str = "") -> Opening:
    text_hash, now = text_digest(text), shelf.clock.now()
    return shelf.memories.opening(shelf.access(agent), collection, model=model, text_hash=text_hash, now=now)


def test_an_insert_begins_with_the_state_of_its_collection_and_the_vector_of_its_text(
    database: Database, shelf: Shelf
) -> None:
    store, model, text = SqlVectorStore(database), f"model of {shelf.tenant}", f"爱喝茶 {shelf.tenant}"
    before = opened(shelf, "cook", model=model, text=text)
    assert before.view is not None
    assert (before.view.change_seq, before.vector, before.is_complete) == (0, None, False)
    insert(shelf, "one")
    known = shelf.memories.view(shelf.access("cook"), ["user:u"], now=shelf.clock.now())["user:u"]
    assert opened(shelf, "cook", model=model, text=text) == Opening(view=known)
    store.put_many(model, {text_digest(text): b"\x01" * 8}, now=shelf.clock.now())
    assert opened(shelf, "cook", model=model, text=text) == Opening(view=known, vector=b"\x01" * 8)
    assert opened(shelf, "cook", model="another", text=text).vector is None
    assert opened(shelf, "cook", model=model, text="another").vector is None


def test_a_look_into_what_may_not_be_read_sees_nothing_and_is_no_refusal(shelf: Shelf) -> None:
    shelf.collection_store.put(
        Collection(tenant=shelf.tenant, name="household", kind=CollectionKind.SHARED),
        actor="admin",
        now=shelf.clock.now(),
    )
    insert(shelf, "own", collection="agent:cook")
    before = shelf.kinds()
    for collection in ("household", "agent:cook", "agent:another", "absent"):
        assert opened(shelf, "stranger", collection).view is None
    assert opened(shelf, "cook", "agent:cook").view is not None
    assert shelf.kinds() == before


def test_a_memory_is_not_written_on_the_strength_of_an_outdated_look(shelf: Shelf) -> None:
    insert(shelf, "one")
    seen = opened(shelf, "cook").view
    assert seen is not None
    insert(shelf, "two")
    before = (shelf.kinds(), opened(shelf, "cook"))
    with pytest.raises(VersionConflictError):
        insert(shelf, "three", as_of=seen.change_seq)
    assert (shelf.kinds(), opened(shelf, "cook")) == before
    insert(shelf, "three", as_of=seen.change_seq + 1)
    assert set(versions(shelf, "cook", "one", "two", "three")) == {"one", "two", "three"}


def test_the_first_memory_of_a_layer_is_written_on_the_strength_of_its_absence(shelf: Shelf) -> None:
    seen = opened(shelf, "cook").view
    assert seen is not None
    insert(shelf, "one", as_of=seen.change_seq)
    with pytest.raises(VersionConflictError):
        insert(shelf, "two", as_of=seen.change_seq)
    assert set(versions(shelf, "cook", "one", "two")) == {"one"}


def test_who_may_not_write_is_told_so_whatever_changed(shelf: Shelf) -> None:
    shelf.collection_store.put(
        Collection(tenant=shelf.tenant, name="household", kind=CollectionKind.SHARED),
        actor="admin",
        now=shelf.clock.now(),
    )
    draft = drafted(shelf, "one", collection="household", as_of=1)
    with pytest.raises(NotFoundError):
        shelf.memories.insert(shelf.access("stranger"), draft, now=shelf.clock.now())


def test_an_insert_whose_commit_was_not_answered_is_done_once(shelf: Shelf, database_url: str) -> None:
    insert(shelf, "one")
    if shelf.database.dialect == "sqlite":
        pytest.skip("a file's COMMIT is always answered")
    driver = FailingDriver()
    opened_again: Database = open_database(config.Database(url=database_url, pool_size=2), FakeClock())
    driver.install(opened_again.engine)
    failing = Shelf(opened_again, shelf.clock, shelf.tenant)
    seen = opened(shelf, "cook").view
    assert seen is not None
    failing.types.all()
    draft = drafted(shelf, "two", as_of=seen.change_seq)
    before = shelf.kinds()
    driver.lose_the_answer_to("COMMIT")
    written = failing.memories.insert(failing.access("cook"), draft, now=shelf.clock.now())
    opened_again.close()
    assert (written.memory.memory_id, written.memory.version) == (draft.memory_id, 1)
    assert shelf.kinds() == [*before, "memory.inserted"]
