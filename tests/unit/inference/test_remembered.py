"""Vectors kept in a store: looked up first, added afterwards, never in the way."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import pytest

from strata.clock import FakeClock
from strata.errors import StorageUnavailableError
from strata.inference.remembered import RememberedEmbedder
from strata.policy.digests import text_digest


class Store:
    """A store in memory that can be away."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], bytes] = {}
        self.away = False

    def get_many(self, model: str, text_hashes: Sequence[str]) -> dict[str, bytes]:
        self._answer()
        return {name: self.kept[model, name] for name in text_hashes if (model, name) in self.kept}

    def put_many(self, model: str, vectors: Mapping[str, bytes], *, now: datetime) -> None:
        self._answer()
        self.kept |= {(model, name): vector for name, vector in vectors.items()}

    def _answer(self) -> None:
        if self.away:
            raise StorageUnavailableError


class Model:
    """Embeds a text as itself and notes what it was asked."""

    name, dimensions = "m", 1

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        self.asked += texts
        return [text.encode() for text in texts]

    def background(self, dense_scripts: int, *, question: bool) -> tuple[float, float]:
        return float(dense_scripts), float(question)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def embedder(model: Model, store: Store) -> RememberedEmbedder:
    return RememberedEmbedder(model, store, FakeClock())


def test_another_process_embeds_nothing_again(embedder: RememberedEmbedder, model: Model, store: Store) -> None:
    assert embedder.embed(["tea", "rice", "tea"]) == [b"tea", b"rice", b"tea"]
    other = Model()
    assert RememberedEmbedder(other, store, FakeClock()).embed(["rice", "fish"]) == [b"rice", b"fish"]
    assert (model.asked, other.asked) == (["tea", "rice"], ["fish"])
    assert set(store.kept) == {("m", text_digest(text)) for text in ("tea", "rice", "fish")}


def test_questions_are_not_kept(embedder: RememberedEmbedder, store: Store) -> None:
    assert embedder.embed(["tea"], query=True) == [b"tea"]
    assert store.kept == {}
    assert embedder.embed([]) == []


def test_a_store_that_is_away_costs_time_and_no_answer(
    embedder: RememberedEmbedder, model: Model, store: Store
) -> None:
    store.away = True
    assert embedder.embed(["tea"]) == embedder.embed(["tea"]) == [b"tea"]
    assert model.asked == ["tea", "tea"]


def test_it_passes_for_the_model(embedder: RememberedEmbedder) -> None:
    assert (embedder.name, embedder.dimensions) == ("m", 1)
    assert embedder.background(2, question=True) == (2.0, 1.0)
