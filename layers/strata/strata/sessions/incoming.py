"""What is checked and computed of a message before it is stored: once, here, for every store and reader."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence

from strata import config
from strata.errors import ValidationError
from strata.model.messages import Kind, NewMessage, Skipped
from strata.model.sessions import SessionKey
from strata.policy.names import checked_id
from strata.ports import Counted
from strata.tokens.counter import TokenCounter


def check_request(key: SessionKey, user_id: str, messages: Sequence[NewMessage], settings: config.Session) -> None:
    """Raise ValidationError unless the ids can be stored and the number of messages is allowed."""
    checked_id(key.session_id, "session_id")
    checked_id(user_id, "user_id")
    if not 1 <= len(messages) <= settings.max_messages_per_append:
        raise ValidationError(f"An append has 1 to {settings.max_messages_per_append} messages.")


def sorted_out(key: SessionKey, messages: Sequence[NewMessage]) -> tuple[tuple[NewMessage, ...], tuple[Skipped, ...]]:
    """Return what is to be stored, and what is not and why: a sub-agent's session keeps chat only."""
    if not key.is_virtual:
        return tuple(messages), ()
    kept = tuple(message for message in messages if message.kind is Kind.CHAT)
    skipped = tuple(
        Skipped(index=index, reason=f"kind={message.kind.value} is not stored in an agent: session")
        for index, message in enumerate(messages)
        if message.kind is not Kind.CHAT
    )
    return kept, skipped


def counted(message: NewMessage, counter: TokenCounter) -> Counted:
    """Return a message with its tokens and digest. Raises ValidationError if it cannot be stored as it is."""
    _check(message)
    return Counted(message=message, tokens=counter.count_message(message), digest=digest(message))


def digest(message: NewMessage) -> str:
    """Return the hex MD5 of ``role:content``; parts, and the calls of a message without text, count as compact JSON."""
    content = message.content
    if not isinstance(content, str):
        told = content if content is not None else message.tool_calls
        content = json.dumps(told, ensure_ascii=False, separators=(",", ":")) if told else ""
    return hashlib.md5(f"{message.role.value}:{content}".encode(), usedforsecurity=False).hexdigest()


def _check(message: NewMessage) -> None:
    for field in ("message_id", "name", "tool_call_id"):
        value = getattr(message, field)
        if value is not None:
            checked_id(value, field)
    if message.content is None and not message.tool_calls:
        raise ValidationError("content may be null only beside tool_calls.", fields={"field": "content"})
    for field in ("content", "tool_calls", "metadata"):
        refuse_unstorable(getattr(message, field), field)


def refuse_unstorable(value: object, field: str) -> None:
    """Raise ValidationError for what is not JSON, or what no store keeps: NUL, half of a surrogate pair."""
    match value:
        case str():
            _refuse_unstorable_text(value, field)
        case None | bool() | int():
            pass
        case float() if math.isfinite(value):
            pass
        case Mapping():
            for name, inner in value.items():
                refuse_unstorable(name, field)
                refuse_unstorable(inner, field)
        case list() | tuple():
            for inner in value:
                refuse_unstorable(inner, field)
        case _:
            raise ValidationError(f"{field} holds something that is not JSON.", fields={"field": field})


def _refuse_unstorable_text(text: str, field: str) -> None:
    if "\x00" in text:
        raise ValidationError(f"{field} must not hold NUL.", fields={"field": field})
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValidationError(f"{field} holds half of a surrogate pair.", fields={"field": field}) from None
