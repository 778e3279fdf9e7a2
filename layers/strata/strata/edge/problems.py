"""Errors as ``application/problem+json`` (RFC 9457) with a stable ``code``."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from strata.errors import StrataError

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 1
MAX_FINDING_CHARS = 200


def problem(error: StrataError, request_id: str) -> dict[str, Any]:
    """Return the document of an error; nothing in it comes from a traceback."""
    document: dict[str, Any] = {
        "type": f"urn:strata:problem:{error.code}",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        "code": error.code,
        "detail": error.message,
        "retryable": error.retryable,
        "request_id": request_id,
    }
    if error.hint:
        document["hint"] = error.hint
    if error.fields:
        document["fields"] = dict(error.fields)
    return document


def headers(error: StrataError) -> dict[str, str]:
    """Return the headers that belong to an error."""
    if error.retryable:
        return {"Retry-After": str(RETRY_AFTER_SECONDS)}
    if error.status == HTTPStatus.UNAUTHORIZED:
        return {"WWW-Authenticate": "Bearer"}
    return {}


def findings(errors: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    """Return what a validation found, place by place, without the values that were sent."""
    return {"errors": [{"at": _place(item), "message": _message(item)} for item in errors[:20]]}


def told(errors: Sequence[Mapping[str, Any]]) -> str:
    """Return the first finding in words, for whoever reads only the detail."""
    first = f"{_place(errors[0])}: {_message(errors[0])}"[:MAX_FINDING_CHARS]
    return f"{first.rstrip('.。')} ({len(errors) - 1} more)." if len(errors) > 1 else f"{first.rstrip('.。')}."


def _place(item: Mapping[str, Any]) -> str:
    return ".".join(str(part) for part in item.get("loc", ()))


def _message(item: Mapping[str, Any]) -> str:
    return str(item.get("msg", "not valid")).removeprefix("Value error, ")
