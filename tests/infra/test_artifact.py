"""What `sam build` made works as it is: each function in a clean interpreter of the runtime's version, with its layer.

A household's session goes through all six: the schema is migrated, an agent is made, messages come in, the session ends
over the SQS protocol, the consolidator settles it, and another session gets what was settled.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from strata.clock import SystemClock
from strata.local import template
from strata.local.events import HttpRequest, http_event, sqs_event
from strata.local.http_server import HttpServer
from strata.local.journal import Journal
from strata.local.queue import FifoQueue
from strata.local.routing import Router
from strata.local.sqs_endpoint import MAX_BODY_BYTES, SqsApi, refusal
from strata.policy import keys
from tests.infra.lambda_runtime import LambdaRuntime, Outcome
from tests.servers.caches import RedisServer

pytestmark = [pytest.mark.slow, pytest.mark.redis]
DEPLOYMENT = template.read(Path(__file__).parents[2] / "template.yaml")
ROUTER = Router(DEPLOYMENT.routes)
ADMIN_KEY = keys.rendered("artifact1", "s" * 43)
QUEUE = "RunQueue"


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FifoQueue]:
    with closing(Journal(tmp_path_factory.mktemp("queue") / "queue.db")) as journal:
        yield FifoQueue(DEPLOYMENT.queues[QUEUE], journal, SystemClock())


@pytest.fixture(scope="module")
def sqs(queue: FifoQueue) -> Iterator[SqsApi]:
    api = SqsApi({QUEUE: queue})
    server = HttpServer(0, api.respond, refusal, max_body_bytes=MAX_BODY_BYTES)
    api.base_url = server.url
    server.start()
    yield api
    server.stop()


@pytest.fixture(scope="module")
def environment(sqs: SqsApi, redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return {
        "AWS_ENDPOINT_URL_SQS": sqs.base_url,
        "STRATA_QUEUE_URL": sqs.url_of(QUEUE),
        "STRATA_DATABASE_URL": f"sqlite:///{tmp_path_factory.mktemp('database') / 'strata.db'}",
        "STRATA_CACHE_URL": redis_server.url,
        "STRATA_AUTH_BOOTSTRAP_ADMIN_KEY": ADMIN_KEY,
    }


@pytest.fixture(scope="module")
def invoke(
    python: Path, runtime: Path, build: Path, environment: Mapping[str, str]
) -> Iterator[Callable[[str, Mapping[str, Any]], Outcome]]:
    """Invoke a built function, started when it is first needed."""
    with ExitStack() as running:
        started: dict[str, LambdaRuntime] = {}

        def invoke(name: str, event: Mapping[str, Any]) -> Outcome:
            if name not in started:
                function = LambdaRuntime(
                    python=python,
                    runtime=runtime,
                    task_root=build / DEPLOYMENT.functions[name].logical_id,
                    layer=build / "StrataLayer" / "python",
                    environment=environment,
                    snap_start=True,
                )
                started[name] = running.enter_context(function)
            return started[name].invoke(event)

        yield invoke


@pytest.fixture(scope="module")
def call(invoke: Callable[[str, Mapping[str, Any]], Outcome]) -> Callable[..., tuple[int, Any]]:
    """Send an HTTP request to the function that serves it; return status and body."""

    def call(method: str, path: str, body: object = None, key: str = ADMIN_KEY) -> tuple[int, Any]:
        route, matched = ROUTER.match(method, path)
        content = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()
        headers = [("Authorization", f"Bearer {key}"), ("Content-Type", "application/json")]
        request = HttpRequest(method=method, path=path, headers=headers, body=content)
        event = http_event(request, matched, request_id="built", now=SystemClock().now())
        outcome = invoke(route.function, event)
        assert outcome.ok, outcome.answer
        return outcome.answer["statusCode"], json.loads(outcome.answer["body"] or "null")

    return call


@pytest.fixture(scope="module")
def agent_key(call: Callable[..., tuple[int, Any]], invoke: Callable[[str, Mapping[str, Any]], Outcome]) -> str:
    """The key of an agent with long-term memory, in a migrated database."""
    migrated = invoke("maintenance", {"job": "migrate"})
    assert migrated.ok, migrated.answer
    profile = {"target_id": "model", "long_memory_provider": "MYSQL", "open_long_memory": True}
    assert call("PUT", "/v1/agents/cook", profile)[0] in {200, 201}
    status, made = call("POST", "/v1/agents/cook/keys", {})
    assert status in {200, 201}
    return str(made["key"])


def test_a_session_is_settled_and_found_again(
    call: Callable[..., tuple[int, Any]],
    invoke: Callable[[str, Mapping[str, Any]], Outcome],
    queue: FifoQueue,
    agent_key: str,
) -> None:
    messages = [{"message_id": "m1", "role": "user", "content": "我对花生过敏，也不吃香菜。"}]
    status, _ = call("POST", "/v1/sessions/k1/messages", {"user_id": "u1", "messages": messages}, agent_key)
    assert status in {200, 201}
    status, ended = call("POST", "/v1/sessions/k1/end", {}, agent_key)
    assert (status, bool(ended["run_id"])) == (202, True)

    waiting = queue.receive(10)
    assert [json.loads(message.body)["run_id"] for message in waiting] == [ended["run_id"]]
    settled = invoke("consolidator", sqs_event(waiting, queue.arn))
    assert (settled.ok, settled.answer) == (True, {"batchItemFailures": []})

    status, context = call(
        "POST", "/v1/context", {"session_id": "k2", "user_id": "u1", "message": "今晚吃什么？"}, agent_key
    )
    assert status == 200
    assert "花生" in context["prompt"]


def test_a_message_that_is_no_notice_is_reported_failed(
    invoke: Callable[[str, Mapping[str, Any]], Outcome], queue: FifoQueue, agent_key: str
) -> None:
    queue.send("not a notice", group="poison", deduplication="poison")
    [message] = queue.receive(1)

    outcome = invoke("consolidator", sqs_event([message], queue.arn))

    assert outcome.answer == {"batchItemFailures": [{"itemIdentifier": message.message_id}]}


def test_a_request_without_a_key_is_a_problem(call: Callable[..., tuple[int, Any]], agent_key: str) -> None:
    status, document = call("POST", "/v1/sessions/k1/messages", {}, "")

    assert (status, document["code"]) == (401, "unauthenticated")
