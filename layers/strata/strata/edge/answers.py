"""What routes declare about their answers, for the OpenAPI document."""

from http import HTTPStatus
from typing import Any

from strata.edge.problems import MEDIA_TYPE
from strata.edge.schemas.ids import Answer

USUAL = (400, 401, 404, 413, 415, 422, 503)


class Problem(Answer):
    """An error (RFC 9457). ``code`` is stable; ``retryable`` tells whether the same call may succeed later."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    retryable: bool
    request_id: str
    hint: str | None = None
    fields: dict[str, Any] | None = None


def answers(model: type[Answer], status: int = 200, *, also: tuple[int, ...] = ()) -> dict[int, Any]:
    """Return the ``responses`` of a route: its success, and the problems it may answer."""
    documented: dict[int, Any] = {
        status: {"description": HTTPStatus(status).phrase, "content": {"application/json": {"model": model}}}
    }
    for code in sorted({*USUAL, *also}):
        documented[code] = {"description": HTTPStatus(code).phrase, "content": {MEDIA_TYPE: {"model": Problem}}}
    return documented
