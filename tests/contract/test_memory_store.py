"""The memory store, on every database: writing, changing, reading, and what never shows."""

from dataclasses import replace
from datetime import timedelta

import pytest

from strata.clock import FakeClock
from strata.errors import NotFoundError, VersionConflictError
from strata.model.memories import (
    AccessPolicy,
    ChangeKind,
    Collection,
    CollectionKind,
    ConflictPolicy,
    MemoryStatus,
    Source,
)
from strata.ports import Access, MemoryDraft, MemoryEdit
from strata.storage.collections import SqlCollectionStore
from strata.storage.engine import Database
from strata.storage.events import SqlEventLog
from strata.storage.memories import SqlMemoryStore
from strata.storage.memory_types import SqlTypeStore

COLLECTION = "user:u1"


@pytest.fixture
def types(database: Database, clock: FakeClock) -> SqlTypeStore:
    return SqlTypeStore(database, clock)


@pytest.fixture
def store(database: Database, types: SqlTypeStore) -> SqlMemoryStore:
    return SqlMemoryStore(database, types)


@pytest.fixture
def agent(tenant: str) -> Access:
    return Access(tenant=tenant, agent_id="adviser")


def draft(clock: FakeClock, memory_id: str = "m1", content: str = "不吃香菜", **more: object) -> MemoryDraft:
    values: dict[str, object] = {
        "memory_id": memory_id,
        "collection": COLLECTION,
        "memory_type": "user_preference",
        "content": content,
        "fingerprint": content,
        "said_at": clock.now(),
    }
    return MemoryDraft(**{**values, **more})  # type: ignore[arg-type]


def test_what_is_inserted_is_read_back_as_it_was(store: SqlMemoryStore, agent: Access, clock: FakeClock) -> None:
    wanted = draft(
        clock,
        metadata={"标签": "👨‍👩‍👧", "n": 1.5},
        policy=AccessPolicy(read_agents=("adviser", "a\"b")),
        embedding=b"\x00\x00\x80?",
        embedding_model="m",
        sources=(Source(session_id="s", seq=3),),
    )
    written = store.insert(agent, wanted, now=clock.now())
    assert written.created
    read = store.get(agent, COLLECTION, "m1", now=clock.now())
    assert read == replace(written.memory, embedding=None)
    assert store.history(agent, COLLECTION, "m1", now=clock.now())[0].sources == (Source(session_id="s", seq=3),)


def test_a_repeat_of_the_same_id_writes_nothing(store: SqlMemoryStore, agent: Access, clock: FakeClock) -> None:
    first = store.insert(agent, draft(clock), now=clock.now())
    again = store.insert(agent, draft(clock, content="other"), now=clock.now())
    assert not again.created
    assert again.memory.content == first.memory.content


def test_an_update_raises_the_version(store: SqlMemoryStore, agent: Access, clock: FakeClock) -> None:
    store.insert(agent, draft(clock), now=clock.now())
    edit = MemoryEdit(memory_id="m1", change=ChangeKind.UPDATE, content="吃香菜", expected_version=1)
    assert store.edit(agent, COLLECTION, edit, now=clock.now()).memory.version == 2
