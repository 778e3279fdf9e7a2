"""What is checked of an HTTP event before any route sees it.

API Gateway's HTTP API hands paths over percent-decoded, so that an id with ``?`` or ``/`` in it would be read as
something else; the route key and the path parameters are sound, and the path is rebuilt from them here, encoded. The
body is decoded once: size, encoding, JSON, and characters that cannot be stored (NUL, half of a surrogate pair) are
refused.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn
from urllib.parse import quote

from strata.errors import InputError, PayloadTooLargeError, UnsupportedMediaTypeError, ValidationError

BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})
_SUSPECT = re.compile(r"\\u(?:[dD][89abAB]|[dD][c-fC-F]|0000)")
_PARAMETER = re.compile(r"\{(\w+)\+?\}")


def prepared(event: Mapping[str, Any], max_body_bytes: int) -> dict[str, Any]:
    """Return the event with an encoded path and a plain-text body.

    Raises:
        PayloadTooLargeError, UnsupportedMediaTypeError, InputError, ValidationError: the body cannot be used.
    """
    result = dict(event)
    result["headers"] = {str(name).lower(): value for name, value in (event.get("headers") or {}).items()}
    result["rawPath"] = _encoded_path(event)
    if _method(event) in BODY_METHODS:
        result["body"] = _body(result, max_body_bytes)
        result["headers"]["content-type"] = "application/json"
    else:
        result["body"] = None
    result["isBase64Encoded"] = False
    return result


def parsed(text: str) -> Any:  # noqa: ANN401 any JSON value
    """Parse a JSON body strictly: no NaN, no characters that cannot be stored, bounded nesting and numbers.

    Raises:
        ValidationError: the text is JSON, but holds something that cannot be stored.
        ValueError: the text is not JSON.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        message = "The body is nested too deeply."
        raise ValidationError(message) from None
    except json.JSONDecodeError:
        raise
    except ValueError:  # Python reads no integer of thousands of digits
        message = "The body holds a number with too many digits."
        raise ValidationError(message) from None
    if _SUSPECT.search(text):
        _refuse_unstorable(value)
    return value


def _method(event: Mapping[str, Any]) -> str:
    return str(event.get("requestContext", {}).get("http", {}).get("method", "")).upper()


def _encoded_path(event: Mapping[str, Any]) -> str:
    route = str(event.get("routeKey") or "$default")
    if " " not in route:
        return str(event.get("rawPath") or "/")
    given = event.get("pathParameters") or {}
    pattern = route.split(" ", 1)[1]
    return _PARAMETER.sub(lambda match: quote(str(given.get(match[1], "")), safe="") or "%00", pattern)


def _body(event: Mapping[str, Any], max_body_bytes: int) -> str:
    raw = event.get("body")
    if raw is None or raw == "":
        return ""
    data = _decoded(str(raw)) if event.get("isBase64Encoded") else str(raw).encode("utf-8", "surrogatepass")
    if len(data) > max_body_bytes:
        message = f"The body has {len(data)} bytes; {max_body_bytes} are allowed."
        raise PayloadTooLargeError(message)
    _check_media_type(str(event["headers"].get("content-type") or ""))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnsupportedMediaTypeError from None


def _decoded(raw: str) -> bytes:
    try:
        return base64.b64decode(raw, validate=True)
    except (binascii.Error, ValueError):
        message = "The body is not valid base64."
        raise InputError(message) from None


def _check_media_type(content_type: str) -> None:
    """Accept JSON, and also a missing or generic type, which plain clients send; the body decides then."""
    kind = content_type.split(";", 1)[0].strip().lower()
    if kind in {"", "text/plain", "application/octet-stream", "application/x-www-form-urlencoded"}:
        return
    if kind != "application/json" and not kind.endswith("+json"):
        raise UnsupportedMediaTypeError
    charset = re.search(r"charset\s*=\s*\"?([\w-]+)", content_type, re.IGNORECASE)
    if charset and charset[1].lower() not in {"utf-8", "utf8"}:
        raise UnsupportedMediaTypeError


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise json.JSONDecodeError(message, name, 0)


def _refuse_unstorable(value: object) -> None:
    for text in _texts(value):
        if "\x00" in text:
            message = "The body contains a NUL character."
            raise ValidationError(message)
        if any("\ud800" <= character <= "\udfff" for character in text):
            message = "The body contains half of a surrogate pair, which is not a character."
            raise ValidationError(message)


def _texts(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, keys included."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one
