"""Fills a collection with memories whose vectors are random: what is measured needs no model to be written."""

from datetime import UTC, datetime

import numpy as np

from strata.bootstrap import Runtime
from strata.ports import Access, MemoryDraft
from tests.benchmarks.conftest import sentence

NOW = datetime(2026, 3, 10, tzinfo=UTC)


def fill(runtime: Runtime, user: str, size: int) -> Access:
    """Write ``size`` memories into ``user:{user}`` and return the access that reads them."""
    access = Access(tenant="t", agent_id="a")
    stores = runtime._stores
    vectors = unit_vectors(size, stores.embedder.dimensions)
    for number in range(size):
        draft = MemoryDraft(
            memory_id=f"{user}-{number}",
            collection=f"user:{user}",
            memory_type="user_preference",
            content=sentence(number),
            fingerprint=f"{user}-{number}",
            said_at=NOW,
            embedding=vectors[number].tobytes(),
            embedding_model=stores.embedder.name,
        )
        stores.memories.insert(access, draft, now=NOW)
    return access


def unit_vectors(size: int, dimensions: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return random unit vectors, the same each time."""
    made = np.random.default_rng(7).standard_normal((size, dimensions)).astype(np.float32)
    return np.ascontiguousarray(made / np.linalg.norm(made, axis=1, keepdims=True), dtype=np.float32)
