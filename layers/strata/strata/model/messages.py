"""Messages of a session and what is read back of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from strata.model.sessions import Session

JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object as parsed; never mutated."""


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Kind(StrEnum):
    """What sort of entry a message is."""

    CHAT = "chat"
    TOOL = "tool"
    EVENT = "event"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message as a client sends it, validated, not yet numbered."""

    role: Role
    content: str | tuple[JsonObject, ...] | None
    kind: Kind = Kind.CHAT
    message_id: str | None = None
    name: str | None = None
    tool_calls: tuple[JsonObject, ...] = ()
    tool_call_id: str | None = None
    metadata: JsonObject = field(default_factory=dict)
    said_at: datetime | None = None
    """When it was said, if the client knows better than the arrival time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A stored message. ``seq`` starts at 1 and is gapless in its session."""

    seq: int
    role: Role
    content: str | tuple[JsonObject, ...] | None
    kind: Kind
    message_id: str
    """The client's id, or one that the service made."""
    agent_id: str
    """The agent that appended it."""
    tokens: int
    digest: str
    """Lower-case hex MD5 of ``role:content``, computed once at append."""
    created_at: datetime
    said_at: datetime
    name: str | None = None
    tool_calls: tuple[JsonObject, ...] = ()
    tool_call_id: str | None = None
    metadata: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A message of an append that is not stored, by its position in the request, and why."""

    index: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """The answer to an append: the stored messages in request order (replayed ones as first stored)."""

    session_id: str
    messages: tuple[Message, ...]
    replayed: int
    """How many of them were already there under the same message_id."""
    skipped: tuple[Skipped, ...] = ()
    last_seq: int = 0
    cached: bool = True
    """False if the cache could not be written; nothing is lost by that."""
    session: "Session | None" = None
    """The session as the append left it; None if nothing of the request was to be stored."""
