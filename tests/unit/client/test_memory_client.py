"""The client against a scripted service."""

import json
import subprocess
import sys

import httpx
import pytest

from strata import MemoryClient
from strata.clock import FakeClock
from strata.errors import (
    ConfigurationError,
    NotFoundError,
    StrataError,
    TransientError,
    ValidationError,
    VersionConflictError,
)

Answer = httpx.Response | Exception


class Service:
    """Answers from a list and keeps what it was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = iter(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self) -> MemoryClient:
        return MemoryClient("http://x/", "shopper", "sk_1", transport=httpx.MockTransport(self), clock=FakeClock())


def problem(status: int, code: str, **more: object) -> httpx.Response:
    return httpx.Response(status, json={"code": code, "detail": "so it is", "request_id": "r1", **more})


APPENDED = {"session_id": "s", "last_seq": 1, "replayed": 0, "messages": [], "skipped": []}


def test_the_key_and_encoded_ids_are_sent() -> None:
    service = Service(httpx.Response(200, json={"results": []}))
    assert service.client().search_similar("user:a/b 你", "tea", 0.5) == []
    request = service.requests[0]
    assert request.headers["authorization"] == "Bearer sk_1"
    assert request.url.raw_path == b"/v1/collections/user%3Aa%2Fb%20%E4%BD%A0/memories/search"
    assert json.loads(request.content)["threshold"] == 0.5


@pytest.mark.parametrize("first", [httpx.ConnectError("no"), httpx.ReadTimeout("late"), problem(503, "unavailable")])
def test_an_append_is_repeated_with_the_same_message_ids(first: Answer) -> None:
    service = Service(first, httpx.Response(200, json=APPENDED))
    service.client().append("s", "u", [{"role": "user", "content": "hi"}])
    assert service.requests[0].content == service.requests[1].content
    assert json.loads(service.requests[0].content)["messages"][0]["message_id"]


def test_an_update_is_not_repeated_after_an_answer_was_lost() -> None:
    service = Service(httpx.ReadTimeout("late"))
    with pytest.raises(TransientError):
        service.client().update_memory("c", "m", content="x")
    assert len(service.requests) == 1


def test_an_update_is_repeated_if_it_was_never_sent() -> None:
    service = Service(httpx.ConnectError("no"), problem(409, "version_conflict"))
    with pytest.raises(VersionConflictError):
        service.client().update_memory("c", "m", content="x", expected_version=1)
    assert len(service.requests) == 2


def test_repeats_end() -> None:
    service = Service(*[problem(503, "storage_unavailable")] * 5)
    with pytest.raises(TransientError) as caught:
        service.client().get_memory("c", "m")
    assert caught.value.code == "storage_unavailable"
    assert len(service.requests) == 3


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [
        (problem(404, "not_found"), NotFoundError, "not_found"),
        (problem(418, "something_new"), StrataError, "internal"),
        (httpx.Response(500, text="<html>"), StrataError, "internal"),
    ],
)
def test_a_problem_becomes_the_error_of_its_code(answer: Answer, kind: type[StrataError], code: str) -> None:
    with pytest.raises(StrataError) as caught:
        Service(answer).client().get_memory("c", "m")
    assert type(caught.value) is kind
    assert caught.value.code == code


@pytest.mark.parametrize("endpoint", ["", "localhost:8610", "ftp://localhost", "http://", "http://a:b"])
def test_what_is_no_address_is_said_before_anything_is_sent(endpoint: str) -> None:
    with pytest.raises(ConfigurationError, match="endpoint"):
        MemoryClient(endpoint, "a", "sk_1")


@pytest.mark.parametrize("key", ["sk_é", "sk_1\n", "sk_\x00"])
def test_what_is_no_key_is_said_and_not_shown(key: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        MemoryClient("http://127.0.0.1:8610", "a", key)
    assert key not in refused.value.message


@pytest.mark.parametrize("value", ["ab\udcff", float("nan"), float("inf")])
def test_what_is_not_json_in_utf8_is_refused_unsent(value: object) -> None:
    service = Service()
    with pytest.raises(ValidationError, match="UTF-8"):
        service.client().put_working("s", {"a": value})
    assert service.requests == []


def test_somebody_elses_page_is_not_an_answer() -> None:
    page = httpx.Response(200, text="<h1>It works!</h1>")
    with pytest.raises(StrataError, match="not Strata"):
        Service(page).client().session("s")


def test_all_pages_are_followed() -> None:
    def page(ids: list[str], after: str | None) -> httpx.Response:
        base = {"collection": "c", "memory_type": "t", "agent_id": "a", "content": "x", "version": 1}
        return httpx.Response(200, json={"memories": [{"memory_id": i, **base} for i in ids], "after": after})

    service = Service(page(["1", "2"], "2"), page(["3"], None))
    assert [record.memory_id for record in service.client().memories("c")] == ["1", "2", "3"]
    assert service.requests[1].url.params["after"] == "2"


def test_waiting_for_a_run_ends_with_the_run() -> None:
    answers = [httpx.Response(200, json={"state": state}) for state in ("queued", "running", "succeeded")]
    assert Service(*answers).client().wait_for_run("r")["state"] == "succeeded"


def test_a_delete_whose_answer_was_lost_is_done_when_nothing_is_left() -> None:
    service = Service(httpx.ReadTimeout("late"), problem(404, "not_found"))
    service.client().delete_memory("c", "m")
    assert len(service.requests) == 2


@pytest.mark.parametrize("first", [[], [httpx.ConnectError("no")]])
def test_a_delete_of_what_was_never_there_is_not_found(first: list[Answer]) -> None:
    with pytest.raises(NotFoundError):
        Service(*first, problem(404, "not_found")).client().delete_memory("c", "m")


def test_what_a_newer_service_says_besides_is_passed_over() -> None:
    answer = {"status": "inserted", "memory_id": "m", "version": 1, "linked": ["o"], "colour": "blue"}
    done = Service(httpx.Response(200, json=answer)).client().insert_memory("c", "t", "x")
    assert (done.memory_id, done.linked) == ("m", ("o",))


def test_readers_and_rights_are_typed() -> None:
    read = {"memory_id": "m", "version": 2, "agent_id": "coach", "session_id": "s", "read_at": "2026-03-10T00:00:00Z"}
    held = {"collection": "c", "agent_id": "shopper", "read": True, "write": False, "memory_types": ["t"]}
    answers = [{"reads": [read]}, {"reads": [read], "written": [{"memory_id": "w"}]}, held]
    client = Service(*[httpx.Response(200, json=answer) for answer in answers]).client()
    assert [one.agent_id for one in client.reads("c", "m")] == ["coach"]
    assert [one["memory_id"] for one in client.impact("c", "m").written] == ["w"]
    assert client.register_agent("c", memory_types=["t"]).memory_types == ("t",)


def test_the_scratch_of_a_session_is_put_and_read() -> None:
    answers = [httpx.Response(200, json={"session_id": "s", "values": {"step": 1}})] * 3
    service = Service(*answers)
    client = service.client()
    client.put_working("s", {"step": 1})
    assert client.working("s") == {"step": 1}
    client.clear_working("s")
    assert [request.method for request in service.requests] == ["PUT", "GET", "DELETE"]


def test_the_client_stands_alone() -> None:
    """Of everything that is installed it loads httpx and what that needs; of the product, errors and the clock."""
    loaded = "import sys, strata.client; print(*sorted(sys.modules))"
    modules = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()
    own = {name for name in modules if name.startswith("strata.") and not name.startswith("strata.client")}
    assert own == {"strata.clock", "strata.errors"}
    foreign = {"pydantic", "sqlalchemy", "boto3", "redis", "aws_lambda_powertools", "numpy", "pymysql"}
    assert foreign & {name.partition(".")[0] for name in modules} == set()
