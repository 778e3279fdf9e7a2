"""Embeddings by a service: batches, repeats, the breaker, and what endpoints answer."""

import io
import json
import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from strata.clock import FakeClock
from strata.config import Inference
from strata.errors import InferenceRejectedError, InferenceUnavailableError, StrataError
from strata.inference.anchors import FACTS, QUESTIONS
from strata.inference.bedrock_embed import BedrockEmbeddings
from strata.inference.breaker import FAILURES, PAUSE_SECONDS
from strata.inference.embed import ATTEMPTS, MAX_CALL_CHARS, QUERY_ATTEMPTS, EndpointEmbedder, open_embedder
from strata.inference.local_embedding import LocalEmbedder, NoEmbedder
from strata.inference.openai_embed import OpenAIEmbeddings

ANCHORS = {*QUESTIONS, *FACTS}


class Endpoint:
    """Answers with a vector that depends on the text; fails as long as it is told to."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.failures: list[StrataError] = []

    def __call__(self, texts: Sequence[str], query: bool) -> list[list[float]]:
        if not ANCHORS.issuperset(texts):
            self.calls.append(tuple(texts))
        if self.failures:
            raise self.failures.pop(0)
        return [[3.0 + len(text) % 7, 4.0 + query, float(text in FACTS)] for text in texts]


def values(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint()


@pytest.fixture
def embedder(endpoint: Endpoint, clock: FakeClock) -> EndpointEmbedder:
    made = EndpointEmbedder("model-1", endpoint, clock, batch=4)
    made.embed(["warm"])
    endpoint.calls.clear()
    return made


def test_vectors_are_made_unit_length_and_their_dimensions_are_learned(endpoint: Endpoint, clock: FakeClock) -> None:
    embedder = EndpointEmbedder("model-1", endpoint, clock, batch=4)
    assert (embedder.name, embedder.dimensions) == ("model-1", 0)
    (vector,) = embedder.embed(["tea"])
    assert math.hypot(*values(vector)) == pytest.approx(1.0)
    assert embedder.dimensions == 3


def test_a_list_goes_in_batches_in_order_and_each_text_once(embedder: EndpointEmbedder, endpoint: Endpoint) -> None:
    texts = [f"{number:03}" + "x" * number for number in range(6)] * 2
    vectors = embedder.embed(texts)
    assert [len(call) for call in endpoint.calls] == [4, 2]
    assert vectors[:6] == vectors[6:]
    assert values(vectors[1])[0] != values(vectors[2])[0]


def test_a_call_is_bounded_in_characters_and_an_empty_text_is_sent_as_something(
    embedder: EndpointEmbedder, endpoint: Endpoint
) -> None:
    embedder.embed([f"{number}" + "x" * 40_000 for number in range(4)] * 8 + [" "])
    assert all(sum(map(len, call)) <= MAX_CALL_CHARS for call in endpoint.calls)
    assert all(text.strip() for call in endpoint.calls for text in call)


def test_a_passing_failure_is_repeated_after_a_pause(
    embedder: EndpointEmbedder, endpoint: Endpoint, clock: FakeClock
) -> None:
    endpoint.failures = [InferenceUnavailableError()]
    started = clock.monotonic()
    assert embedder.embed(["tea"])
    assert len(endpoint.calls) == 2
    assert 0 <= clock.monotonic() - started <= 0.2


@pytest.mark.parametrize(("query", "attempts"), [(False, ATTEMPTS), (True, QUERY_ATTEMPTS)])
def test_repeats_are_bounded(embedder: EndpointEmbedder, endpoint: Endpoint, query: bool, attempts: int) -> None:
    endpoint.failures = [InferenceUnavailableError()] * 9
    with pytest.raises(InferenceUnavailableError):
        embedder.embed(["tea"], query=query)
    assert len(endpoint.calls) == attempts


def test_a_refusal_is_not_repeated_and_opens_no_breaker(embedder: EndpointEmbedder, endpoint: Endpoint) -> None:
    for _ in range(2 * FAILURES):
        endpoint.failures = [InferenceRejectedError()]
        with pytest.raises(InferenceRejectedError):
            embedder.embed(["tea"])
    assert len(endpoint.calls) == 2 * FAILURES
    assert embedder.embed(["tea"])


def test_after_failures_in_a_row_nobody_asks_until_the_pause_is_over(
    embedder: EndpointEmbedder, endpoint: Endpoint, clock: FakeClock
) -> None:
    endpoint.failures = [InferenceUnavailableError()] * FAILURES
    with pytest.raises(InferenceUnavailableError):
        embedder.embed(["tea"])
    asked = len(endpoint.calls)
    with pytest.raises(InferenceUnavailableError) as caught:
        embedder.embed(["tea"])
    assert caught.value.fields == {"reason": "circuit_open"}
    assert len(endpoint.calls) == asked
    clock.advance(PAUSE_SECONDS)
    assert embedder.embed(["tea"])
    assert embedder.embed(["rice"])


def test_one_caller_at_a_time_probes_after_the_pause(
    embedder: EndpointEmbedder, endpoint: Endpoint, clock: FakeClock
) -> None:
    endpoint.failures = [InferenceUnavailableError()] * (FAILURES + 1)
    with pytest.raises(InferenceUnavailableError):
        embedder.embed(["tea"])
    clock.advance(PAUSE_SECONDS)
    before = len(endpoint.calls)
    with pytest.raises(InferenceUnavailableError):
        embedder.embed(["tea"], query=True)
    assert len(endpoint.calls) == before + 1


@pytest.mark.parametrize("vectors", [[], [[0.0, 0.0]], [[math.nan, 1.0]]])
def test_an_answer_that_is_none_is_refused(clock: FakeClock, vectors: list[list[float]]) -> None:
    embedder = EndpointEmbedder("m", lambda _texts, _query: vectors, clock, batch=4)
    with pytest.raises(InferenceUnavailableError):
        embedder.embed(["tea"])


def test_the_scale_of_a_model_is_measured_by_script(endpoint: Endpoint, clock: FakeClock) -> None:
    embedder = EndpointEmbedder("m", endpoint, clock, batch=64)
    assert embedder.background(0, question=True) == (0.0, 1.0)
    embedder.embed(["tea"])
    for question in (True, False):
        for dense_scripts in range(3):
            mean, deviation = embedder.background(dense_scripts, question=question)
            assert 0.0 < mean <= 1.0
            assert deviation > 0.0


# --- endpoints


def openai(answer: Callable[[httpx.Request], httpx.Response]) -> OpenAIEmbeddings:
    transport = httpx.MockTransport(answer)
    return OpenAIEmbeddings("http://model/v1/", "m", lambda: "key", timeout_seconds=1.0, transport=transport)


def test_an_openai_endpoint_is_asked_as_documented_and_put_in_order() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        data = [{"index": 1, "embedding": [2, 2]}, {"index": 0, "embedding": [1, 1]}]
        return httpx.Response(200, json={"data": data})

    assert openai(answer)(["a", "b"], False) == [[1.0, 1.0], [2.0, 2.0]]
    assert str(seen[0].url) == "http://model/v1/embeddings"
    assert seen[0].headers["authorization"] == "Bearer key"
    assert json.loads(seen[0].content) == {"model": "m", "input": ["a", "b"], "encoding_format": "float"}


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_passing_refusals(status: int) -> None:
    with pytest.raises(InferenceUnavailableError):
        openai(lambda _request: httpx.Response(status))(["a"], False)


@pytest.mark.parametrize("status", [400, 401, 404, 413])
def test_lasting_refusals(status: int) -> None:
    with pytest.raises(InferenceRejectedError):
        openai(lambda _request: httpx.Response(status))(["a"], False)


@pytest.mark.parametrize(
    "body", ["", "[]", "{}", '{"data": [{}]}', '{"data": []}', '{"data": [{"index":0}]}', "<html>"]
)
def test_answers_outside_the_contract(body: str) -> None:
    with pytest.raises(InferenceUnavailableError):
        openai(lambda _request: httpx.Response(200, text=body))(["a"], False)


def test_no_answer_at_all() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no", request=request)

    with pytest.raises(InferenceUnavailableError):
        openai(refuse)(["a"], False)


class Bedrock:
    """The one call of a Bedrock client."""

    def __init__(self, answer: Callable[[dict[str, Any]], Any]) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._answer = answer

    def invoke_model(self, *, body: str, **_options: str) -> dict[str, Any]:
        self.bodies.append(json.loads(body))
        return {"body": io.BytesIO(json.dumps(self._answer(self.bodies[-1])).encode())}


def bedrock(model: str, client: Bedrock) -> BedrockEmbeddings:
    return BedrockEmbeddings(model, timeout_seconds=1.0, client=lambda _seconds: client)


def test_titan_takes_one_text_a_call() -> None:
    client = Bedrock(lambda body: {"embedding": [len(body["inputText"]), 1]})
    assert bedrock("amazon.titan-embed-text-v2:0", client)(["a", "bb"], False) == [[1.0, 1.0], [2.0, 1.0]]
    assert client.bodies == [{"inputText": "a"}, {"inputText": "bb"}]


@pytest.mark.parametrize("nested", [False, True])
def test_cohere_takes_many_and_is_told_what_they_are_for(nested: bool) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        vectors = [[1, 2] for _ in body["texts"]]
        return {"embeddings": {"float": vectors} if nested else vectors}

    client = Bedrock(answer)
    call = bedrock("cohere.embed-multilingual-v3", client)
    assert len(call(["t"] * 100, True)) == 100
    assert [(len(body["texts"]), body["input_type"]) for body in client.bodies] == [
        (96, "search_query"),
        (4, "search_query"),
    ]
    call(["t"], False)
    assert client.bodies[-1]["input_type"] == "search_document"


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (ClientError({"Error": {"Code": "ThrottlingException"}}, "InvokeModel"), InferenceUnavailableError),
        (ClientError({"Error": {"Code": "ValidationException"}}, "InvokeModel"), InferenceRejectedError),
        (ReadTimeoutError(endpoint_url="x"), InferenceUnavailableError),
        (KeyError("embedding"), InferenceUnavailableError),
    ],
)
def test_what_bedrock_raises_is_translated(failure: Exception, expected: type[StrataError]) -> None:
    def fail(_body: dict[str, Any]) -> Any:
        raise failure

    with pytest.raises(expected):
        bedrock("amazon.titan-embed-text-v2:0", Bedrock(fail))(["a"], False)


def test_the_settings_choose() -> None:
    def secrets(name: str) -> str:
        return f"secret of {name}"

    clock = FakeClock()
    assert isinstance(open_embedder(Inference(), secrets, clock), LocalEmbedder)
    assert isinstance(open_embedder(Inference(local_embedding=False), secrets, clock), NoEmbedder)
    for url in ("http://model/v1", "bedrock://"):
        made = open_embedder(Inference(embed_url=url, embed_model="m"), secrets, clock)
        assert isinstance(made, EndpointEmbedder)
        assert made.name == "m"
