"""HTTP becomes the event API Gateway would send, and the handler's answer becomes HTTP."""

import base64
import http.client
import json
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from typing import Any

import pytest

from strata.clock import FakeClock
from strata.local.deployment import Deployment, Route
from strata.local.gateway import MAX_BODY_BYTES, AnswerUnusable, Gateway, refusal, response_of
from strata.local.http_server import HttpServer
from tests.local.parts import function

Serve = Callable[[Callable[..., object]], HttpServer]


def echo(event: dict[str, Any], _: object) -> dict[str, Any]:
    return {"statusCode": 200, "headers": {"Content-Type": "application/json"}, "body": json.dumps(event)}


@pytest.fixture
def serve(clock: FakeClock) -> Iterator[Serve]:
    """Start a server whose functions are all this handler."""
    servers: list[HttpServer] = []

    def start(handler: Callable[..., object], timeout_seconds: float = 5.0) -> HttpServer:
        routes = (
            Route(method="GET", path="/v1/things/{thing}", function="door"),
            Route(method="POST", path="/v1/things", function="door"),
        )
        deployment = Deployment(functions={}, routes=routes, queues={}, subscriptions=(), schedules={})
        functions = {"door": function(handler, timeout_seconds=timeout_seconds, clock=clock)}
        gateway = Gateway(deployment, functions, clock)
        server = HttpServer(0, gateway.respond, refusal, max_body_bytes=MAX_BODY_BYTES)
        server.start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()


def call(
    server: HttpServer, method: str, target: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.request(method, target, body, headers or {})
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


def event_of(server: HttpServer, *request: Any) -> dict[str, Any]:
    status, _, body = call(server, *request)
    assert status == 200
    event: dict[str, Any] = json.loads(body)
    return event


def raw(server: HttpServer, request: bytes) -> bytes:
    """Send bytes as they are; return everything that comes back until the server hangs up."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def test_a_request_becomes_a_version_two_event(serve: Serve, clock: FakeClock) -> None:
    event = event_of(
        serve(echo),
        "GET",
        "/v1/things/user%3A%E5%AE%B6?tag=a%20b&tag=c&empty=",
        None,
        {"X-Thing": "One", "Cookie": "a=1; b=2", "User-Agent": "tests"},
    )

    context = event.pop("requestContext")
    headers = event.pop("headers")
    assert event == {
        "version": "2.0",
        "routeKey": "GET /v1/things/{thing}",
        "rawPath": "/v1/things/user:家",
        "rawQueryString": "tag=a%20b&tag=c&empty=",
        "queryStringParameters": {"tag": "a b,c", "empty": ""},
        "pathParameters": {"thing": "user:家"},
        "cookies": ["a=1", "b=2"],
        "isBase64Encoded": False,
    }
    assert headers["x-thing"] == "One"
    assert "cookie" not in headers
    assert context["http"] == {
        "method": "GET",
        "path": "/v1/things/user:家",
        "protocol": "HTTP/1.1",
        "sourceIp": "127.0.0.1",
        "userAgent": "tests",
    }
    assert (context["stage"], context["timeEpoch"]) == ("$default", int(clock.now().timestamp() * 1000))
    assert context["time"] == "10/Mar/2026:08:00:00 +0000"
    assert context["routeKey"] == "GET /v1/things/{thing}"


@pytest.mark.parametrize(
    ("content_type", "is_text"),
    [
        ("application/json", True),
        ("application/json; charset=utf-8", True),
        ("application/problem+json", True),
        ("text/plain", True),
        ("application/octet-stream", False),
        ("application/x-www-form-urlencoded", False),
        ("", False),
    ],
)
def test_only_text_travels_as_text(serve: Serve, content_type: str, is_text: bool) -> None:
    event = event_of(serve(echo), "POST", "/v1/things", '{"菜": 1}'.encode(), {"Content-Type": content_type})

    assert event["isBase64Encoded"] is not is_text
    text = event["body"] if is_text else base64.b64decode(event["body"]).decode()
    assert text == '{"菜": 1}'


def test_json_that_is_not_utf_8_travels_as_base64(serve: Serve) -> None:
    event = event_of(serve(echo), "POST", "/v1/things", b"\xff\xfe{}", {"Content-Type": "application/json"})

    assert (event["isBase64Encoded"], base64.b64decode(event["body"])) == (True, b"\xff\xfe{}")


def test_repeated_headers_are_joined(serve: Serve) -> None:
    answer = raw(serve(echo), b"GET /v1/things/x HTTP/1.1\r\nX-A: 1\r\nx-a: 2\r\nConnection: close\r\n\r\n")

    assert json.loads(answer.partition(b"\r\n\r\n")[2])["headers"]["x-a"] == "1,2"


def test_a_chunked_body_arrives_whole(serve: Serve) -> None:
    server = serve(echo)
    chunks = b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: 1\r\n\r\n"
    head = b"POST /v1/things HTTP/1.1\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n"

    answer = raw(server, head + b"Connection: close\r\n\r\n" + chunks)

    assert json.loads(answer.partition(b"\r\n\r\n")[2])["body"] == "hello world"


def test_an_absolute_target_is_understood(serve: Serve) -> None:
    answer = raw(serve(echo), b"GET http://localhost/v1/things/x?a=1 HTTP/1.1\r\nConnection: close\r\n\r\n")

    assert json.loads(answer.partition(b"\r\n\r\n")[2])["rawQueryString"] == "a=1"


def test_one_connection_serves_many_requests(serve: Serve) -> None:
    server = serve(echo)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    sockets = set()
    for number in range(3):
        connection.request("GET", f"/v1/things/{number}")
        sockets.add(connection.sock)
        assert json.loads(connection.getresponse().read())["pathParameters"] == {"thing": str(number)}
    connection.close()

    assert len(sockets) == 1


def test_requests_run_side_by_side(serve: Serve) -> None:
    meeting = Barrier(4)
    server = serve(lambda *_: meeting.wait(5) >= 0)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda number: call(server, "GET", f"/v1/things/{number}"), range(4)))

    assert [status for status, _, _ in answers] == [200] * 4


@pytest.mark.parametrize(
    ("method", "path", "status", "code", "message"),
    [
        ("GET", "/v1/nothing", 404, "route_not_found", "Not Found"),
        ("DELETE", "/v1/things", 405, "method_not_allowed", "Method Not Allowed"),
        ("GET", "/v1/things/%FF", 400, "invalid_request", "Bad Request"),
    ],
)
def test_what_has_no_route_is_a_problem_of_the_gateway(
    serve: Serve, method: str, path: str, status: int, code: str, message: str
) -> None:
    answer, headers, body = call(serve(echo), method, path)
    document = json.loads(body)

    assert (answer, document["status"], document["code"], document["message"]) == (status, status, code, message)
    assert headers["content-type"] == "application/problem+json"
    assert headers.get("allow") == ("POST" if status == 405 else None)


@pytest.mark.parametrize(
    "handler",
    [
        lambda *_: 1 / 0,
        lambda *_: {"statusCode": "no"},
        lambda *_: {"statusCode": 200, "body": {"not": "text"}},
        lambda *_: {"statusCode": 200, "headers": [1]},
        lambda *_: {"statusCode": 200, "headers": {"X": "a\r\nSet-Cookie: b"}},
        lambda *_: {"statusCode": 200, "isBase64Encoded": True, "body": "%"},
        lambda *_: {1, 2},
    ],
)
def test_a_handler_that_fails_or_answers_nonsense_is_a_500_without_its_words(
    serve: Serve, handler: Callable[..., object]
) -> None:
    status, headers, body = call(serve(handler), "GET", "/v1/things/x")

    assert (status, headers["content-type"]) == (500, "application/problem+json")
    assert json.loads(body)["message"] == "Internal Server Error"
    assert b"ZeroDivision" not in body


def test_a_handler_that_takes_too_long_is_a_503_to_be_repeated(serve: Callable[..., HttpServer]) -> None:
    release = Event()
    server = serve(lambda *_: release.wait(5), timeout_seconds=0.05)

    status, headers, body = call(server, "GET", "/v1/things/x")
    release.set()

    assert (status, json.loads(body)["code"], headers["retry-after"]) == (503, "deadline_exceeded", "1")


def test_a_body_over_ten_megabytes_is_refused(serve: Serve) -> None:
    status, headers, body = call(
        serve(echo), "POST", "/v1/things", b"x" * (MAX_BODY_BYTES + 1), {"Content-Type": "text/plain"}
    )

    assert (status, json.loads(body)["code"], headers["connection"]) == (413, "payload_too_large", "close")


def test_an_event_over_lambda_s_limit_is_refused(serve: Serve) -> None:
    status, _, body = call(serve(echo), "POST", "/v1/things", b"x" * 7_000_000, {"Content-Type": "text/plain"})

    assert (status, json.loads(body)["code"]) == (413, "payload_too_large")


def test_headers_over_ten_kilobytes_are_refused(serve: Serve) -> None:
    assert call(serve(echo), "GET", "/v1/things/x", None, {"Authorization": "x" * 10_300})[0] == 431


@pytest.mark.parametrize("method", ["TRACE", "BREW"])
def test_a_method_that_nobody_serves_is_the_caller_s_mistake(serve: Serve, method: str) -> None:
    status, _, body = call(serve(echo), method, "/v1/things")

    assert (status, json.loads(body)["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize(
    "request_text",
    [
        b"GET /v1/things/x HTTP/9.1\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"POST /v1/things HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"POST /v1/things HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/things HTTP/1.1\r\nContent-Length: 9\r\n\r\nshort",
        b"POST /v1/things HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/things HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_not_http_is_a_400_and_the_end_of_the_connection(serve: Serve, request_text: bytes) -> None:
    head, _, body = raw(serve(echo), request_text).partition(b"\r\n\r\n")

    assert b" 400 " in head.splitlines()[0]
    assert json.loads(body)["code"] == "invalid_request"


def test_an_answer_is_sent_as_the_handler_wrote_it() -> None:
    response = response_of(
        {
            "statusCode": 201,
            "headers": {"X-One": "1", "X-Many": ["2", "3"], "Content-Length": "999"},
            "cookies": ["a=1", "b=2"],
            "body": base64.b64encode(b"\x00\xff").decode(),
            "isBase64Encoded": True,
        }
    )

    assert (response.status, response.body) == (201, b"\x00\xff")
    assert list(response.headers) == [
        ("X-One", "1"),
        ("X-Many", "2"),
        ("X-Many", "3"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
        ("Content-Type", "text/plain; charset=utf-8"),
    ]


def test_an_answer_without_a_status_is_the_body_of_a_200() -> None:
    response = response_of({"家": 1})

    assert (response.status, json.loads(response.body)) == (200, {"家": 1})
    assert response.headers == [("Content-Type", "application/json")]


@pytest.mark.parametrize("status", [True, None, 99, 600, "²", 200.5])
def test_a_status_that_is_none_is_refused(status: object) -> None:
    with pytest.raises(AnswerUnusable, match="statusCode"):
        response_of({"statusCode": status})
