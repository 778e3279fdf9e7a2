"""API Gateway's part: HTTP to a payload 2.0 event, the handler's answer back to HTTP.

Its own answers (no such route, too large, failed, timed out) are the product's problem documents, with API Gateway's
``message`` beside them.
"""

import json
import uuid
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from strata.clock import Clock
from strata.edge import problems
from strata.errors import (
    DeadlineExceededError,
    InputError,
    MethodNotAllowedError,
    PayloadTooLargeError,
    StrataError,
)
from strata.local.deployment import Deployment
from strata.local.events import HttpRequest, decoded_base64, http_event
from strata.local.function import FunctionFailed, FunctionTimedOut, LocalFunction, PayloadTooLarge
from strata.local.http_server import HttpResponse
from strata.local.routing import Router
from strata.observability import logger

MAX_BODY_BYTES = 10 * 1024 * 1024
MAX_HEAD_BYTES = 10_240


class AnswerUnusable(Exception):
    """A handler's answer is not what API Gateway takes."""


class Gateway:
    """The HTTP API of a deployment."""

    def __init__(self, deployment: Deployment, functions: Mapping[str, LocalFunction], clock: Clock) -> None:
        self._router = Router(deployment.routes)
        self._functions = functions
        self._clock = clock

    def respond(self, request: HttpRequest) -> HttpResponse:
        """Return the response to a request, whatever happens behind it."""
        request_id = str(uuid.uuid4())
        try:
            return self._invoke(request, request_id)
        except StrataError as error:
            return _problem(error, request_id)

    def _invoke(self, request: HttpRequest, request_id: str) -> HttpResponse:
        if _head_bytes(request) > MAX_HEAD_BYTES:
            raise _of_status(InputError("The headers are too large."), HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        route, matched = self._router.match(request.method, request.path)
        event = http_event(request, matched, request_id=request_id, now=self._clock.now())
        try:
            return response_of(self._functions[route.function].invoke(event, request_id))
        except PayloadTooLarge:
            raise PayloadTooLargeError from None
        except FunctionTimedOut:
            raise DeadlineExceededError from None
        except FunctionFailed:
            raise StrataError from None
        except AnswerUnusable as error:
            logger.error("gateway.answer_unusable", extra={"route": route.key, "reason": str(error)})
            raise StrataError from None


def response_of(result: Any) -> HttpResponse:  # noqa: ANN401 whatever a handler answers
    """Return the HTTP response a handler's answer stands for; without ``statusCode`` it is the body of a 200.

    Raises:
        AnswerUnusable: a field has the wrong type.
    """
    if not isinstance(result, dict) or "statusCode" not in result:
        return HttpResponse(status=200, body=_json(result), headers=[("Content-Type", "application/json")])
    headers = list(_headers(result))
    if not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", "text/plain; charset=utf-8"))
    return HttpResponse(status=_status(result["statusCode"]), body=_body(result), headers=headers)


_REFUSALS: Mapping[int, type[StrataError]] = {
    HTTPStatus.METHOD_NOT_ALLOWED: MethodNotAllowedError,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: PayloadTooLargeError,
}


def refusal(status: int, detail: str = "") -> HttpResponse:
    """Return the answer to what is not a proper HTTP request."""
    known = _REFUSALS.get(status)
    return _problem(known() if known else _of_status(InputError(detail), HTTPStatus(status)), "")


def _of_status(error: StrataError, status: HTTPStatus) -> StrataError:
    error.status = status
    return error


def _problem(error: StrataError, request_id: str) -> HttpResponse:
    document = {**problems.problem(error, request_id), "message": HTTPStatus(error.status).phrase}
    headers = [("Content-Type", problems.MEDIA_TYPE), *problems.headers(error).items()]
    if "allow" in error.fields:
        headers.append(("Allow", str(error.fields["allow"])))
    return HttpResponse(status=error.status, body=_json(document), headers=headers)


def _head_bytes(request: HttpRequest) -> int:
    line = len(request.method) + len(request.path) + len(request.query)
    return line + sum(len(name) + len(value) for name, value in request.headers)


def _status(value: object) -> int:
    text = str(value)
    if isinstance(value, bool) or not (text.isascii() and text.isdigit() and 100 <= int(text) <= 599):  # noqa: PLR2004
        raise AnswerUnusable(f"statusCode is {value!r}")
    return int(text)


def _headers(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    headers, cookies = result.get("headers") or {}, result.get("cookies") or []
    if not isinstance(headers, dict) or not isinstance(cookies, list):
        raise AnswerUnusable("headers must be an object and cookies a list")
    for name, value in headers.items():
        for one in value if isinstance(value, list) else [value]:
            if name.lower() not in {"content-length", "connection", "transfer-encoding"}:
                yield name, _header_text(one)
    for cookie in cookies:
        yield "Set-Cookie", _header_text(cookie)


def _header_text(value: object) -> str:
    text = str(value)
    if not text.isascii() or not text.isprintable():
        raise AnswerUnusable("a header holds characters that no header may hold")
    return text


def _body(result: Mapping[str, Any]) -> bytes:
    body = result.get("body")
    if body is None:
        return b""
    if not isinstance(body, str):
        raise AnswerUnusable("body is not a string")
    try:
        return decoded_base64(body) if result.get("isBase64Encoded") else body.encode()
    except ValueError as error:
        raise AnswerUnusable(str(error)) from None


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
