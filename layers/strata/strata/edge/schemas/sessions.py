"""Requests and answers about sessions and their messages."""

from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Literal
from zoneinfo import available_timezones

from pydantic import AfterValidator, Field, field_validator, model_validator

from strata.edge.schemas.ids import Answer, Id, Model

Role = Literal["system", "user", "assistant", "tool"]
MAX_MESSAGES = 100


@cache
def _zones() -> set[str]:
    """Return the names of all zones; finding them reads hundreds of files."""
    return available_timezones()


def _known_zone(value: str) -> str:
    if value not in _zones():
        message = "not an IANA time zone"
        raise ValueError(message)
    return value


Zone = Annotated[str, AfterValidator(_known_zone)]


class MessageIn(Model):
    """One message as a client sends it, in the shape chat models use."""

    role: Role
    content: str | list[dict[str, Any]] | None = Field(
        default=None, description="Text, or parts such as {type: text, text: …} and {type: image_url, …}."
    )
    kind: Literal["chat", "tool", "event"] = "chat"
    message_id: Id | None = Field(default=None, description="Makes a repeat of this append harmless.")
    name: Id | None = None
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    tool_call_id: Id | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    said_at: datetime | None = Field(default=None, description="When it was said; the arrival time if absent or later.")

    @field_validator("content")
    @classmethod
    def _no_nul(cls, value: object) -> object:
        if isinstance(value, str) and "\x00" in value:
            message = "text must not contain NUL"
            raise ValueError(message)
        return value

    @field_validator("said_at", mode="before")
    @classmethod
    def _written(cls, value: object) -> object:
        if value is not None and (not isinstance(value, str) or value.strip().lstrip("+-").replace(".", "").isdigit()):
            message = "an instant is written in ISO 8601; a number could be seconds or milliseconds"
            raise ValueError(message)
        return value

    @field_validator("said_at")
    @classmethod
    def _aware(cls, value: datetime | None) -> datetime | None:
        if value is not None and value.tzinfo is None:
            message = "an instant needs an offset, e.g. 2026-03-10T08:00:00+08:00"
            raise ValueError(message)
        try:
            return value if value is None else value.astimezone(UTC)
        except OverflowError:
            message = "the instant is outside the calendar"
            raise ValueError(message) from None

    @model_validator(mode="after")
    def _something(self) -> "MessageIn":
        if self.content is None and not self.tool_calls:
            message = "content may be null only beside tool_calls"
            raise ValueError(message)
        return self


class AppendIn(Model):
    """1–100 messages of one user's session."""

    user_id: Id
    messages: list[MessageIn] = Field(min_length=1, max_length=MAX_MESSAGES)
    zone: Zone = Field(default="UTC", description="IANA zone of the user; relative dates are resolved in it.")


class MessageOut(Answer):
    """A stored message."""

    seq: int
    message_id: str
    role: str
    kind: str
    content: str | list[dict[str, Any]] | None
    name: str | None = None
    tool_calls: list[dict[str, Any]] = []
    tool_call_id: str | None = None
    metadata: dict[str, Any] = {}
    agent_id: str
    tokens: int
    digest: str
    said_at: datetime
    created_at: datetime


class StoredOut(Answer):
    """Where one message of an append was stored."""

    message_id: str
    seq: int
    tokens: int


class SkippedOut(Answer):
    """A message that was not stored, by its position in the request."""

    index: int
    reason: str


class AppendOut(Answer):
    """The answer to an append."""

    session_id: str
    messages: list[StoredOut]
    skipped: list[SkippedOut]
    replayed: int
    last_seq: int


class MessagesOut(Answer):
    """One page of messages, oldest first; ``before`` is the seq to ask for the page before, if there is one."""

    session_id: str
    messages: list[MessageOut]
    before: int | None


class SummaryOut(Answer):
    """A session's rolling summary and the seq it covers."""

    text: str
    tokens: int
    upto_seq: int
    created_at: datetime


class SessionOut(Answer):
    """A session without its messages."""

    session_id: str
    user_id: str
    agent_id: str
    participants: list[str]
    state: str
    messages: int
    zone: str
    summary: SummaryOut | None
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None


class UserIn(Model):
    """Names the user a session belongs to; checked when given."""

    user_id: Id | None = None


class WorkingIn(Model):
    """The per-session scratch."""

    values: dict[str, Any]
    ttl_seconds: int | None = Field(default=None, ge=1, le=86_400)


class WorkingOut(Answer):
    """The per-session scratch."""

    session_id: str
    values: dict[str, Any]


class EndOut(Answer):
    """The run that will settle the session."""

    run_id: str
    session_id: str
    state: str
    upto_seq: int
