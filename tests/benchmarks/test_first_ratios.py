"""The first ratios, on one machine's defaults: SQLite, the in-process cache, the bundled model."""

import itertools
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from strata.bootstrap import Runtime
from strata.model.messages import NewMessage, Role
from strata.model.sessions import SessionKey
from strata.ports import Access
from strata.tokens.counter import TokenCounter
from strata.tokens.window import select
from tests.benchmarks.conftest import sentence
from tests.benchmarks.library import unit_vectors
from tests.benchmarks.timing import against_floor


def test_append(runtime: Runtime, talk: SessionKey, tmp_path: Path) -> None:
    floor = sqlite3.connect(tmp_path / "floor.db", isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        floor.execute(f"PRAGMA {pragma}")
    floor.execute("CREATE TABLE messages (session INTEGER, seq INTEGER, body TEXT, PRIMARY KEY (session, seq))")
    numbers = itertools.count(1)

    def raw() -> None:
        floor.execute("BEGIN IMMEDIATE")
        floor.execute("INSERT INTO messages VALUES (1, ?, ?)", (next(numbers), sentence(1)))
        floor.execute("COMMIT")

    message = NewMessage(role=Role.USER, content=sentence(1))
    ratio = against_floor("append / INSERT+COMMIT", lambda: runtime.append(talk, "u", "a", [message]), raw)
    floor.close()
    ratio.told()
    # In one process the cache is a simulation in Python; the bound on real servers stands beside this one.
    assert ratio.p50 < 8


def test_read_of_sixty_messages(runtime: Runtime, talk: SessionKey) -> None:
    stored = json.dumps([{"role": "user", "content": sentence(number), "tokens": 12} for number in range(60)])
    access = Access(tenant="t", agent_id="a")

    def ours() -> None:
        runtime.read_window(access, talk.session_id, "u", rounds=20, max_tokens=8_000)

    ratio = against_floor("window of 60 / parse 60 from JSON", ours, lambda: json.loads(stored))
    ratio.told()
    assert len(runtime.read_window(access, talk.session_id, "u", rounds=20, max_tokens=8_000).window.messages) == 60


@pytest.mark.parametrize("size", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_search(runtime: Runtime, filled: Callable[[str, int], Access], size: int) -> None:
    access = filled(f"u{size}", size)
    embedder = runtime._stores.embedder
    matrix = unit_vectors(size, embedder.dimensions)
    query = np.frombuffer(embedder.embed(["tea in the garden"], query=True)[0], dtype=np.float32)
    collections = [f"user:u{size}"]
    ratio = against_floor(
        f"search among {size:,} / matrix product",
        lambda: runtime.search(access, collections, "tea in the garden", top_k=10),
        lambda: np.argpartition(-(matrix @ query), 20)[:20],
        rounds=40,
    )
    ratio.told()
    assert runtime.search(access, collections, "tea in the garden", top_k=10).hits


class Uncounting(TokenCounter):
    """A counter that must not be asked."""

    def count(self, text: str) -> int:
        raise AssertionError("a stored message was tokenised again")


def test_a_window_of_two_hundred_messages_counts_nothing_again(runtime: Runtime, talk: SessionKey) -> None:
    messages = runtime.read_messages(talk, "a", limit=200)
    sums = [message.tokens for message in messages]
    ratio = against_floor(
        "window of 200 / sum of 200 numbers",
        lambda: select(messages, max_tokens=2_000, summary=None, summary_budget=500, counter=Uncounting()),
        lambda: sum(sums),
    )
    ratio.told()
    window = select(messages, max_tokens=2_000, summary=None, summary_budget=500, counter=Uncounting())
    assert 0 < window.tokens <= 2_000
