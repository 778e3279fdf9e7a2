"""Ids in paths and bodies: at most 128 characters of any UTF-8, without NUL and control characters."""

import unicodedata
from collections.abc import Iterable
from typing import Annotated, Any
from urllib.parse import unquote

from aws_lambda_powertools.event_handler.openapi.params import Path
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints

MAX_ID_CHARS = 128
LAYERS = frozenset({"user", "agent"})
MAX_NUMBER = 2**63 - 1
"""What a version, a seq or any other number of a row can be at most: the databases' BIGINT."""


class _Unquoted(BaseModel):
    """Says nothing of its content: the HTTP library writes down what it calls a route with, even if no log takes it."""

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Return nothing: no log may hold what people said, and a megabyte takes milliseconds to write down."""
        return ()


class Model(_Unquoted):
    """A request: unknown fields are refused, nothing is changed after validation."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(_Unquoted):
    """An answer."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


def checked_id(value: str) -> str:
    """Return an id that may be stored and compared byte for byte.

    Raises:
        ValueError: empty, longer than 128 characters, or with control characters or half a surrogate pair in it.
    """
    if not value:
        message = "an id must not be empty"
        raise ValueError(message)
    if len(value) > MAX_ID_CHARS:
        message = f"an id has at most {MAX_ID_CHARS} characters"
        raise ValueError(message)
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in value):
        message = "an id must not contain control characters"
        raise ValueError(message)
    return value


def checked_collection(value: str) -> str:
    """Return a collection's name: an id, or ``user:`` or ``agent:`` before one. Raises ValueError."""
    layer, _, owner = value.partition(":")
    checked_id(owner if layer in LAYERS else value)
    return value


def _plain(value: Any) -> Any:  # noqa: ANN401 before validation
    return unquote(value, errors="surrogateescape") if isinstance(value, str) else value


Id = Annotated[str, AfterValidator(checked_id), StringConstraints(max_length=MAX_ID_CHARS)]
PathId = Annotated[
    str,
    BeforeValidator(_plain),
    AfterValidator(checked_id),
    Path(description="Percent-encoded; at most 128 characters of any UTF-8."),
]
PathCollection = Annotated[
    str,
    BeforeValidator(_plain),
    AfterValidator(checked_collection),
    Path(description="Percent-encoded; an id, or user: or agent: before one."),
]
