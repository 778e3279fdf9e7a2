"""Every route answers bad input with a 4xx problem document, and stores nothing of it."""

import json
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from strata import MemoryClient
from strata.local.template import read
from tests.functions.conftest import NewClient

DEPLOYED = read(Path(__file__).parents[2] / "template.yaml")
ROUTES = sorted({(route.method, route.path) for route in DEPLOYED.routes})
PUBLIC = {"/v1/health", "/v1/openapi.json"}
GUARDED = [route for route in ROUTES if route[1] not in PUBLIC]
WITH_BODY = [route for route in GUARDED if route[0] in {"POST", "PUT", "PATCH"}]
WITH_FIELDS = [
    route
    for route in WITH_BODY
    if route[1].rsplit("/", 1)[1] not in {"replay", "undo", "rejudge", "resume", "{agent_id}"}
]
MAKES_SESSIONS = ("POST", "/v1/sessions/{session_id}/messages")
WITH_ID = [route for route in GUARDED if "{" in route[1]]

TOO_LONG = "x" * 1_000
LONE_SURROGATE = r'{"user_id": "u", "messages": [{"role": "user", "content": "\ud83d"}], "values": {"a": "\ud83d"}}'
MANY_DIGITS = '{"ttl_seconds": ' + "9" * 5_000 + "}"
NUL = r'{"user_id": "u", "messages": [{"role": "user", "content": "a\u0000b"}], "values": {"a": "\u0000"}}'


def filled(path: str, value: str = "nobody") -> str:
    parts = [quote(value, safe="") if part.startswith("{") else part for part in path.split("/")]
    return "/".join(parts)


def is_problem(answer: httpx.Response) -> bool:
    document = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert document["status"] == answer.status_code
    assert document["code"] not in {"", "route_not_found"}
    assert "Traceback" not in answer.text
    return 400 <= answer.status_code < 500


@pytest.mark.parametrize(("method", "path"), GUARDED)
@pytest.mark.parametrize("key", [None, "Bearer wrong", "Bearer sk_aaaaaaaa_" + "b" * 40, "Basic abc", "Bearer x"])
def test_a_missing_or_wrong_key_is_refused(keyless: httpx.Client, method: str, path: str, key: str | None) -> None:
    headers = {"authorization": key} if key else {}
    answer = keyless.request(method, filled(path), headers=headers, content="{}")
    assert answer.status_code == 401
    assert is_problem(answer)


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
@pytest.mark.parametrize(
    "body",
    [
        "{",
        "[",
        '"text"',
        "[]",
        "null",
        "1",
        '{"a": NaN}',
        '{"unknown_field": 1}',
        "\ufeff{}",
        LONE_SURROGATE,
        NUL,
        MANY_DIGITS,
    ],
)
def test_a_malformed_body_is_refused(http: httpx.Client, method: str, path: str, body: str) -> None:
    answer = http.request(method, filled(path), content=body.encode(), headers={"content-type": "application/json"})
    assert is_problem(answer)


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
def test_a_body_of_two_mebibytes_is_refused(http: httpx.Client, method: str, path: str) -> None:
    answer = http.request(method, filled(path), content=json.dumps({"a": "x" * 2**21}).encode())
    assert answer.status_code == 413
    assert is_problem(answer)


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
@pytest.mark.parametrize("content", [b"\xff\xfe{}", b'{"a": "\xc3\x28"}'])
def test_bytes_that_are_not_utf8_are_refused(http: httpx.Client, method: str, path: str, content: bytes) -> None:
    assert is_problem(http.request(method, filled(path), content=content))


@pytest.mark.parametrize(("method", "path"), WITH_ID)
@pytest.mark.parametrize("value", [TOO_LONG, "a\x00b", "a\nb", "\x7f"])
def test_ids_that_cannot_be_ids_are_refused(http: httpx.Client, method: str, path: str, value: str) -> None:
    assert is_problem(http.request(method, filled(path, value), content="{}"))


@pytest.mark.parametrize(("method", "path"), [route for route in WITH_ID if route != MAKES_SESSIONS])
def test_what_is_not_there_is_not_found(http: httpx.Client, method: str, path: str) -> None:
    content = b"" if method in {"GET", "DELETE"} else json.dumps(minimal(method, path)).encode()
    assert is_problem(http.request(method, filled(path), content=content))


def minimal(method: str, path: str) -> dict[str, object]:
    """The smallest body that a route accepts."""
    if path.endswith("/messages"):
        return {"user_id": "u", "messages": [{"role": "user", "content": "x"}]}
    if path.endswith("/working"):
        return {"values": {}}
    if path.endswith("/memories"):
        return {"memory_type": "user_preference", "content": "x"}
    if path.endswith("/rollback"):
        return {"version": 1}
    return {"content": "x"} if method == "PATCH" else {}


@pytest.mark.parametrize("number", [2**63, 10**30, "9" * 5_000])
def test_numbers_that_no_column_holds_are_refused(admin: MemoryClient, number: int | str) -> None:
    admin.call("PUT", "/v1/collections/numbers", {})
    path = "/v1/collections/numbers/memories"
    kept = admin.insert_memory("numbers", "user_preference", "User likes tea").memory_id
    session = "/v1/sessions/numbers/messages"
    admin.call("POST", session, minimal("POST", session))
    headers = {"authorization": _key(admin)}
    with httpx.Client(base_url=admin.endpoint, headers=headers, timeout=30) as client:
        answers = [
            client.get(f"{path}/{kept}/reads", params={"version": number}),
            client.get(f"{path}/{kept}/impact", params={"version": number}),
            client.get(session, params={"before": number}),
            client.get("/v1/events", params={"before": number}),
            client.patch(f"{path}/{kept}", content=f'{{"content": "x", "expected_version": {number}}}'),
            client.post(f"{path}/{kept}/rollback", content=f'{{"version": {number}}}'),
        ]
    assert [answer.status_code for answer in answers] == [422] * len(answers)
    assert all(map(is_problem, answers))


@pytest.mark.parametrize("content", ["", " \n ", "\u200b\ufeff", "。。。", "?!", "\u2060 … \u00ad", "——"])
def test_a_memory_that_says_nothing_is_refused(admin: MemoryClient, http: httpx.Client, content: str) -> None:
    path = "/v1/collections/user%3Anobody/memories"
    assert http.post(path, json={"memory_type": "user_preference", "content": content}).status_code == 422
    kept = admin.insert_memory("user:nobody", "user_preference", "用户喜欢喝茶").memory_id
    assert http.patch(f"{path}/{kept}", json={"content": content}).status_code == 422
    assert [one.content for one in admin.memories("user:nobody")] == ["用户喜欢喝茶"]


WRONG_TYPES = [
    {"user_id": 1, "messages": [{"role": "user", "content": "x"}]},
    {"user_id": "u", "messages": []},
    {"user_id": "u", "messages": [{"role": "user", "content": "x"}] * 101},
    {"user_id": "u", "messages": [{"role": "robot", "content": "x"}]},
    {"user_id": "u", "messages": [{"role": "user", "content": 5}]},
    {"user_id": "u", "messages": [{"role": "user"}]},
    {"user_id": "u", "messages": [{"role": "user", "content": "x", "said_at": "2026-01-01T00:00:00"}]},
    {"user_id": "u", "messages": [{"role": "user", "content": "x", "said_at": "0001-01-01T00:00:00+14:00"}]},
    {"user_id": "u", "messages": [{"role": "user", "content": "x", "said_at": "9999-12-31T23:59:59-12:00"}]},
    {"user_id": "u", "messages": [{"role": "user", "content": "x", "said_at": 1_700_000_000}]},
    {"user_id": "u", "messages": [{"role": "user", "content": "x", "said_at": "1700000000000"}]},
    {"user_id": "u", "messages": [{"role": "user", "content": "x", "metadata": []}]},
    {"user_id": "u", "messages": [{"role": "user", "content": "x"}], "zone": "Mars/Olympus"},
    {"user_id": "u" * 129, "messages": [{"role": "user", "content": "x"}]},
    {"user_id": "", "messages": [{"role": "user", "content": "x"}]},
    {"messages": [{"role": "user", "content": "x"}]},
]


@pytest.mark.parametrize("body", WRONG_TYPES)
def test_nothing_of_a_refused_append_is_stored(http: httpx.Client, body: dict[str, object]) -> None:
    answer = http.post("/v1/sessions/refused/messages", json=body)
    assert answer.status_code == 422
    assert is_problem(answer)
    assert http.get("/v1/sessions/refused").status_code == 404


@pytest.mark.parametrize(("session", "body"), [("half", LONE_SURROGATE), ("nul", NUL)])
def test_text_that_cannot_be_stored_is_refused_and_the_session_goes_on(
    http: httpx.Client, session: str, body: str
) -> None:
    path = f"/v1/sessions/{session}/messages"
    assert http.post(path, content=body.encode()).status_code == 422
    assert http.post(path, json=minimal("POST", path)).status_code == 200
    assert http.get(f"/v1/sessions/{session}").json()["messages"] == 1


def test_another_users_session_is_not_there(agent_client: NewClient) -> None:
    owner, stranger = agent_client("owner"), agent_client("stranger")
    owner.append("private", "alice", [{"role": "user", "content": "PURPLE"}])
    with httpx.Client(base_url=stranger.endpoint, headers={"authorization": _key(stranger)}) as other:
        body = {"user_id": "bob", "messages": [{"role": "user", "content": "x"}]}
        answers = [
            other.get("/v1/sessions/private"),
            other.get("/v1/sessions/private/messages"),
            other.get("/v1/sessions/private/working"),
            other.post("/v1/sessions/private/messages", json=body),
            other.post("/v1/sessions/private/end", json={}),
            other.post("/v1/sessions/private/resume"),
            other.put("/v1/sessions/private/participants/stranger"),
            other.post("/v1/context", json={"session_id": "private", "user_id": "bob", "message": "?"}),
        ]
    assert {answer.status_code for answer in answers} == {404}
    assert not any("PURPLE" in answer.text for answer in answers)
    assert owner.session("private")["messages"] == 1


def test_the_owner_cannot_append_for_another_user(http: httpx.Client) -> None:
    path = "/v1/sessions/of-one-user/messages"
    assert http.post(path, json=minimal("POST", path)).status_code == 200
    other = http.post(path, json={**minimal("POST", path), "user_id": "somebody-else"})
    assert other.status_code == 404


def test_unknown_routes_and_methods_are_problems(http: httpx.Client) -> None:
    assert http.get("/v1/nothing").status_code == 404
    assert http.delete("/v1/context").status_code in {404, 405}


def _key(client: MemoryClient) -> str:
    return client._http.headers["authorization"]
