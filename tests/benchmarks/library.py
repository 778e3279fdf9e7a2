"""Fills a collection with memories whose vectors are random: what is measured needs no model to be written."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
from sqlalchemy import Connection

from strata.bootstrap import Runtime
from strata.ports import Access, MemoryDraft
from strata.storage.engine import Database
from strata.storage.memories import SqlMemoryStore
from tests.benchmarks.conftest import sentence

NOW = datetime(2026, 3, 10, tzinfo=UTC)
AT_ONCE = 500


def fill(runtime: Runtime, user: str, size: int) -> Access:
    """Write ``size`` memories into ``user:{user}`` and return the access that reads them."""
    access = Access(tenant="t", agent_id="a")
    stores = runtime._stores
    vectors = unit_vectors(size, stores.embedder.dimensions)
    drafts = [
        MemoryDraft(
            memory_id=f"{user}-{number}",
            collection=f"user:{user}",
            memory_type="user_preference",
            content=sentence(number),
            fingerprint=f"{user}-{number}",
            said_at=NOW,
            embedding=vectors[number].tobytes(),
            embedding_model=stores.embedder.name,
        )
        for number in range(size)
    ]
    stores.memories.insert(access, drafts[0], now=NOW)
    for start in range(1, size, AT_ONCE):
        _insert(stores.database, stores.memories, access, drafts[start : start + AT_ONCE])
    return access


def _insert(database: Database, memories: SqlMemoryStore, access: Access, drafts: Sequence[MemoryDraft]) -> None:
    """What ``insert`` does, many in one transaction: the library is only to be there."""

    def work(connection: Connection) -> None:
        for draft in drafts:
            memories._insert(connection, access, draft, memories._type(draft.memory_type), NOW)

    database.write(work)


def unit_vectors(size: int, dimensions: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return random unit vectors, the same each time."""
    made = np.random.default_rng(7).standard_normal((size, dimensions)).astype(np.float32)
    return np.ascontiguousarray(made / np.linalg.norm(made, axis=1, keepdims=True), dtype=np.float32)
