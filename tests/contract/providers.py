"""The providers that the contract suite runs against.

The native one on SQLite, the external ones on their doubles, and real servers whose address is told.
"""

import atexit
import itertools
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

import pytest

from strata import config
from strata.clock import Clock, FakeClock, SystemClock
from strata.inference.embed import open_embedder
from strata.model.memories import Collection, CollectionKind, Registration
from strata.ports import Embedder, Provider
from strata.providers.native import NativeProvider
from strata.sharing.search import SearchLibrary
from strata.storage.collections import SqlCollectionStore
from strata.storage.engine import Database, open_database
from strata.storage.memories import SqlMemoryStore
from strata.storage.memory_types import SqlTypeStore
from strata.storage.schema import migrate
from tests.doubles import open as doubles

REAL = {
    "memos-real": ("memos", "MEMOS_URL"),
    "memos-sync-real": ("memos-sync", "MEMOS_URL"),
    "mem0-real": ("mem0", "MEM0_URL"),
}
KINDS = [
    "native",
    *doubles.KINDS,
    *(pytest.param(name, id=name) for name, (_, url) in REAL.items() if os.environ.get(url)),
]

_RUN = secrets.token_hex(4)
_numbers = itertools.count(1)
_SETTLED_WITHIN_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A provider under test, in a tenant of its own."""

    provider: Provider
    clock: Clock
    tenant: str
    pass_time: Callable[[float], None]
    share: Callable[[str, str], None]
    """Let an agent read and write a shared collection."""
    added: dict[str, str] = field(default_factory=dict)
    """The contents that a test added, by id."""

    def settle(self, done: Callable[[], bool]) -> None:
        """Wait until a background add has come to its end."""
        end = time.monotonic() + _SETTLED_WITHIN_SECONDS
        while not done():
            assert time.monotonic() < end, "the add did not come to its end"
            self.pass_time(0.5)


@contextmanager
def subject(kind: str) -> Iterator[Subject]:
    """Open a provider of a kind."""
    tenant = f"tenant-{_RUN}-{next(_numbers)}"
    if kind in REAL:
        like, url = REAL[kind]
        clock = SystemClock()
        key = {"mem0_key": os.environ.get("MEM0_KEY", "")} if like == "mem0" else {}
        provider = doubles.provider_for(like, os.environ[url], clock, write_timeout_seconds=30.0, **key)
        yield Subject(provider=provider, clock=clock, tenant=tenant, pass_time=clock.sleep, share=_open_to_all)
        provider.close()  # type: ignore[attr-defined]
        return
    fake = FakeClock()
    if kind == "native":
        yield _native(tenant, fake)
        return
    with doubles.opened(kind, fake) as opened:
        yield Subject(provider=opened.provider, clock=fake, tenant=tenant, pass_time=fake.advance, share=_open_to_all)


def native_provider(clock: Clock) -> NativeProvider:
    """The native library as a provider, without an embedding model."""
    memories = SqlMemoryStore(_database(), SqlTypeStore(_database(), clock))
    library = SearchLibrary(memories, _no_model(clock), clock, config.Library())
    return NativeProvider(library.search, memories, clock, semantic=False)


def _native(tenant: str, clock: FakeClock) -> Subject:
    collections = SqlCollectionStore(_database(), SqlTypeStore(_database(), clock))

    def share(name: str, agent_id: str) -> None:
        now = clock.now()
        collections.put(Collection(tenant=tenant, name=name, kind=CollectionKind.SHARED), actor="tests", now=now)
        registration = Registration(tenant=tenant, collection=name, agent_id=agent_id, read=True, write=True)
        collections.register(registration, actor="tests", now=now)

    return Subject(provider=native_provider(clock), clock=clock, tenant=tenant, pass_time=clock.advance, share=share)


@cache
def _database() -> Database:
    """One database for all: they keep apart by their tenants."""
    folder = tempfile.mkdtemp(prefix="strata-native-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    database = open_database(config.Database(url=f"sqlite:///{folder}/strata.db", pool_size=8), FakeClock())
    atexit.register(database.close)
    migrate(database)
    return database


def _no_model(clock: Clock) -> Embedder:
    return open_embedder(config.Inference(local_embedding=False), str, clock)


def _open_to_all(_collection: str, _agent_id: str) -> None:
    """Rights are checked before an external provider is asked."""
