"""Chat models over real HTTP: bounded in time and size, one kind of error, options given up where they are refused."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import boto3
import pytest
from botocore.config import Config

from strata import config
from strata.errors import InferenceUnavailableError
from strata.inference.bedrock import BedrockChat
from strata.inference.chat import open_chat
from strata.inference.openai_chat import MAX_REPLY_BYTES
from strata.ports import Chat
from tests.fakes.limits import assert_ends_within

ASKED = [{"role": "system", "content": "总结"}, {"role": "user", "content": "牛肉炖老了 🧾"}]
SCHEMA = {"type": "object", "properties": {"memories": {"type": "array"}}}
Respond = Callable[["Endpoint", dict[str, Any]], None]


class Endpoint(BaseHTTPRequestHandler):
    """Answers as the test says; keeps what it was asked."""

    respond: Respond
    asked: list[tuple[str, dict[str, Any], dict[str, str]]]

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(raw)
        self.asked.append((self.path, body, {**dict(self.headers), "raw": raw.decode()}))
        type(self).respond(self, body)

    def send(self, status: int, document: object) -> None:
        raw = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(respond: Respond) -> Iterator[tuple[str, list[tuple[str, dict[str, Any], dict[str, str]]]]]:
    asked: list[tuple[str, dict[str, Any], dict[str, str]]] = []
    handler = type("Answering", (Endpoint,), {"respond": staticmethod(respond), "asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def opened(url: str, **settings: Any) -> Chat:
    return open_chat(
        config.Inference(chat_url=f"{url}/v1/", chat_model="m-1", **settings), lambda name: f"secret {name}"
    )


def complete(chat: Chat, *, seconds: float = 5.0, **options: Any) -> Any:
    return chat.complete(ASKED, max_tokens=100, timeout_seconds=seconds, **options)


def completion(text: object, reason: str = "stop") -> dict[str, Any]:
    usage = {"prompt_tokens": 12, "completion_tokens": 3}
    return {"model": "m-1-2026", "choices": [{"message": {"content": text}, "finish_reason": reason}], "usage": usage}


def test_a_completion_with_what_it_cost() -> None:
    with serving(lambda at, _body: at.send(200, completion("用户在炖牛肉。"))) as (url, asked):
        reply = complete(opened(url, chat_key="k"), schema=SCHEMA)
    assert (reply.text, reply.finish_reason, reply.model) == ("用户在炖牛肉。", "stop", "m-1-2026")
    assert (reply.prompt_tokens, reply.completion_tokens) == (12, 3)
    ((path, body, headers),) = asked
    assert path == "/v1/chat/completions"
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m-1", 0, 100)
    assert body["messages"] == ASKED
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert headers["Authorization"] == "Bearer k"
    assert "\\u" not in headers["raw"]


def test_the_key_comes_from_a_secret_and_may_be_absent() -> None:
    with serving(lambda at, _body: at.send(200, completion("ok"))) as (url, asked):
        complete(opened(url, chat_key_secret="arn:k"))
        complete(opened(url))
    assert asked[0][2]["Authorization"] == "Bearer secret arn:k"
    assert "Authorization" not in asked[1][2]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 429, 500, 503])
def test_a_refusal_is_one_kind_of_error_and_is_not_repeated(status: int) -> None:
    with serving(lambda at, _body: at.send(status, {"error": {"message": "no"}})) as (url, asked):
        with pytest.raises(InferenceUnavailableError) as raised:
            complete(opened(url))
        assert raised.value.fields == {"reason": f"http_{status}"}
        assert len(asked) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"not json",
        b"[]",
        b"{}",
        {"choices": []},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": 5}}]},
        {"choices": [{"message": {"content": ["a"]}}]},
        {"choices": [{"message": {"content": [{"type": "text", "text": {}}]}}]},
    ],
    ids=repr,
)
def test_an_answer_outside_the_contract_is_the_same_error(answer: object) -> None:
    with (
        serving(lambda at, _body: at.send(200, answer)) as (url, _),
        pytest.raises(InferenceUnavailableError) as raised,
    ):
        complete(opened(url))
    assert raised.value.fields == {"reason": "protocol"}


def test_a_null_content_is_an_empty_text() -> None:
    with serving(lambda at, _body: at.send(200, completion(None, "length"))) as (url, _):
        reply = complete(opened(url))
    assert (reply.text, reply.finish_reason) == ("", "length")


def test_a_content_in_parts_is_their_text() -> None:
    parts = [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "一"}, {"text": "二"}, {"type": "text"}]
    with serving(lambda at, _body: at.send(200, {"choices": [{"message": {"content": parts}}]})) as (url, _):
        assert complete(opened(url)).text == "一二"


def _refusing(*options: str) -> Respond:
    def respond(at: Endpoint, body: dict[str, Any]) -> None:
        refused = [name for name in options if name in body]
        if refused:
            at.send(400, {"error": {"message": f"Unsupported parameter: '{refused[0]}'", "param": refused[0]}})
        else:
            at.send(200, completion("ok"))

    return respond


def test_options_an_endpoint_does_not_know_are_given_up_for_good() -> None:
    with serving(_refusing("response_format", "temperature", "max_tokens")) as (url, asked):
        chat = opened(url)
        assert complete(chat, schema=SCHEMA).text == "ok"
        assert len(asked) == 4
        assert complete(chat, schema=SCHEMA).text == "ok"
        assert len(asked) == 5
    assert asked[-1][1] == {"model": "m-1", "messages": ASKED, "max_completion_tokens": 100}


def test_a_server_that_says_nothing_of_why_is_asked_without_the_schema() -> None:
    def respond(at: Endpoint, body: dict[str, Any]) -> None:
        at.send(400, b"bad") if "response_format" in body else at.send(200, completion("ok"))

    with serving(respond) as (url, asked):
        assert complete(opened(url), schema=SCHEMA).text == "ok"
        assert len(asked) == 2


def _dripping(at: Endpoint, _body: dict[str, Any]) -> None:
    at.send_response(200)
    at.send_header("Content-Length", "100")
    at.end_headers()
    for _ in range(100):
        try:
            at.wfile.write(b" ")
            at.wfile.flush()
        except OSError:
            return
        time.sleep(0.1)


@pytest.mark.parametrize("respond", [lambda _at, _body: time.sleep(3), _dripping], ids=["silent", "dripping"])
def test_no_answer_takes_longer_than_it_may(respond: Respond) -> None:
    with serving(respond) as (url, _):

        def fail() -> None:
            with pytest.raises(InferenceUnavailableError):
                complete(opened(url), seconds=0.4)

        assert_ends_within(1.5, fail)


def test_an_answer_without_end_is_not_read_to_its_end() -> None:
    with (
        serving(lambda at, _body: at.send(200, b" " * (MAX_REPLY_BYTES + 100_000))) as (url, _),
        pytest.raises(InferenceUnavailableError) as raised,
    ):
        complete(opened(url))
    assert raised.value.fields == {"reason": "too_large"}


def test_nobody_there_is_the_same_error() -> None:
    with pytest.raises(InferenceUnavailableError):
        complete(opened("http://127.0.0.1:9"), seconds=1)


def test_calls_share_their_connections() -> None:
    ports: set[int] = set()

    def respond(at: Endpoint, _body: dict[str, Any]) -> None:
        ports.add(at.client_address[1])
        at.send(200, completion("ok"))

    with serving(respond) as (url, _):
        chat = opened(url)
        for _ in range(5):
            complete(chat)
    assert len(ports) <= 5


def test_without_a_model_there_is_none() -> None:
    chat = open_chat(config.Inference(), lambda _name: "")
    assert chat.model == ""
    with pytest.raises(InferenceUnavailableError):
        complete(chat)


# --- Bedrock


@contextmanager
def bedrock(
    respond: Respond, *, read_seconds: float = 10.0
) -> Iterator[tuple[BedrockChat, list[tuple[str, dict[str, Any], dict[str, str]]]]]:
    with serving(respond) as (url, asked):

        def client(seconds: int) -> Any:
            limits = Config(
                connect_timeout=1, read_timeout=min(seconds, read_seconds), retries={"total_max_attempts": 1}
            )
            connect: Any = boto3.client
            return connect("bedrock-runtime", endpoint_url=url, config=limits)

        yield BedrockChat("anthropic.m-1", client), asked


def conversed(*texts: str, reason: str = "end_turn") -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"text": text} for text in texts]}
    usage = {"inputTokens": 12, "outputTokens": 3, "totalTokens": 15}
    return {"output": {"message": message}, "stopReason": reason, "usage": usage, "metrics": {"latencyMs": 1}}


def test_bedrock_converses() -> None:
    with bedrock(lambda at, _body: at.send(200, conversed("用户在", "炖牛肉。"))) as (chat, asked):
        reply = complete(chat, schema=SCHEMA)
    assert (reply.text, reply.finish_reason, reply.prompt_tokens, reply.completion_tokens) == (
        "用户在炖牛肉。", "stop", 12, 3,
    )  # fmt: skip
    ((path, body, _),) = asked
    assert path == "/model/anthropic.m-1/converse"
    assert body["system"] == [{"text": "总结"}]
    assert body["messages"] == [{"role": "user", "content": [{"text": "牛肉炖老了 🧾"}]}]
    assert body["inferenceConfig"] == {"maxTokens": 100, "temperature": 0}


def test_bedrock_says_when_it_was_cut_off() -> None:
    with bedrock(lambda at, _body: at.send(200, conversed("用户", reason="max_tokens"))) as (chat, _):
        assert complete(chat).finish_reason == "length"


@pytest.mark.parametrize(
    "respond",
    [
        lambda at, _body: at.send(429, {"message": "slow down"}),
        lambda at, _body: at.send(500, {"message": "oops"}),
        lambda at, _body: at.send(200, {"output": {}}),
    ],
    ids=["throttled", "failing", "outside the contract"],
)
def test_bedrock_failing_is_the_same_error(respond: Respond) -> None:
    with bedrock(respond) as (chat, asked):
        with pytest.raises(InferenceUnavailableError):
            complete(chat)
        assert len(asked) == 1


def test_bedrock_saying_nothing_is_the_same_error_and_is_not_asked_again() -> None:
    with bedrock(lambda _at, _body: time.sleep(4), read_seconds=2.0) as (chat, asked):
        with pytest.raises(InferenceUnavailableError):
            complete(chat)
        assert len(asked) == 1


def test_bedrock_gets_a_limit_that_fits_the_call() -> None:
    made: list[int] = []

    def client(seconds: int) -> Any:
        made.append(seconds)
        raise InferenceUnavailableError

    chat = BedrockChat("m", client)
    for seconds in (0.5, 4.0, 30.0, 600.0):
        with pytest.raises(InferenceUnavailableError):
            complete(chat, seconds=seconds)
    assert made == [2, 5, 30, 120]
