"""Messages to rows and back.

``body`` holds what has no column of its own, without what is empty. ``request_digest`` tells a retry of a message from
another message under the same id.
"""

import hashlib
import json
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from json.encoder import encode_basestring
from typing import Any

from sqlalchemy import Select, select

from strata.errors import MessageConflictError
from strata.model.messages import JsonObject, Kind, Message, NewMessage, Role
from strata.ports import Counted
from strata.storage.packing import Reading, document, instant, packed, parts
from strata.storage.statements import Statement
from strata.storage.tables import messages

READ = (
    messages.c.seq,
    messages.c.role,
    messages.c.kind,
    messages.c.message_id,
    messages.c.agent_id,
    messages.c.tokens,
    messages.c.digest,
    messages.c.created_at,
    messages.c.said_at,
    messages.c.body,
)
PACKED = packed(*READ)
WRITTEN = (
    "session_no",
    "seq",
    "message_id",
    "agent_id",
    "role",
    "kind",
    "body",
    "tokens",
    "digest",
    "request_digest",
    "said_at",
    "created_at",
)
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_quoted = encode_basestring
_ROLES = {role.value: role for role in Role}
_KINDS = {kind.value: kind for kind in Kind}


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A message ready to be numbered; its id was made before the transaction, so that a repeat of it is recognised."""

    counted: Counted
    message_id: str
    agent_id: str
    body: str
    size: int
    """UTF-8 bytes of ``body``."""
    request_digest: str
    now: datetime

    @property
    def said_at(self) -> datetime:
        """When it was said; what claims to be said after it came, by a clock that is fast, was said when it came.

        Otherwise nothing said later could ever replace it.
        """
        said_at = self.counted.message.said_at
        return self.now if said_at is None or said_at > self.now else said_at

    def row(self, session_no: int, seq: int) -> tuple[Any, ...]:
        """Return the values of ``WRITTEN``."""
        new = self.counted.message
        return (
            session_no,
            seq,
            self.message_id,
            self.agent_id,
            new.role.value,
            new.kind.value,
            self.body,
            self.counted.tokens,
            self.counted.digest,
            self.request_digest,
            self.said_at,
            self.now,
        )

    def stored(self, seq: int) -> Message:
        """Return the message as it is read back."""
        new = self.counted.message
        return Message(
            seq=seq,
            role=new.role,
            content=new.content,
            kind=new.kind,
            message_id=self.message_id,
            agent_id=self.agent_id,
            tokens=self.counted.tokens,
            digest=self.counted.digest,
            created_at=self.now,
            said_at=self.said_at,
            name=new.name,
            tool_calls=new.tool_calls,
            tool_call_id=new.tool_call_id,
            metadata=new.metadata,
        )


def drafts(counted: Sequence[Counted], agent_id: str, now: datetime) -> tuple[Draft, ...]:
    """Return the messages of a request, in its order.

    Raises:
        MessageConflictError: two of them have one id and different content.
    """
    made: dict[str, Draft] = {}
    asked = tuple(_draft(one, agent_id, now) for one in counted)
    for draft in asked:
        refuse_other_content(made.setdefault(draft.message_id, draft).request_digest, draft)
    return asked


def refuse_other_content(stored_digest: str, draft: Draft) -> None:
    """Raise MessageConflictError unless a draft has the content that its id already stands for."""
    if stored_digest != draft.request_digest:
        raise MessageConflictError(fields={"message_id": draft.message_id})


def from_columns(row: tuple[Any, ...]) -> Message:
    """Return the message of a row of ``READ``."""
    seq, role, kind, message_id, agent_id, tokens, digest, created_at, said_at, body = row
    content = body.get("content")
    return Message(
        seq=seq,
        role=_ROLES[role],
        content=tuple(content) if isinstance(content, list) else content,
        kind=_KINDS[kind],
        message_id=message_id,
        agent_id=agent_id,
        tokens=tokens,
        digest=digest,
        created_at=created_at,
        said_at=said_at,
        name=body.get("name"),
        tool_calls=tuple(body.get("tool_calls", ())),
        tool_call_id=body.get("tool_call_id"),
        metadata=body.get("metadata", {}),
    )


def from_packed(rows: Sequence[tuple[Any, ...]]) -> list[Message]:
    """Return the messages of packed rows. Their bodies are parsed together: one call takes less than sixty."""
    fields = [parts(row, len(READ)) for row in rows]
    bodies = document(f"[{','.join([one[-1] for one in fields])}]")
    return [_from_texts(texts, body) for texts, body in zip(fields, bodies, strict=True)]


def _from_texts(texts: Sequence[str], body: JsonObject) -> Message:
    seq, role, kind, message_id, agent_id, tokens, digest, created_at, said_at, _ = texts
    created = instant(created_at)
    said = created if said_at == created_at else instant(said_at)
    return from_columns((int(seq), role, kind, message_id, agent_id, int(tokens), digest, created, said, body))


def reading(narrowed: Callable[[Select[Any]], Select[Any]]) -> Reading[Message]:
    """Return a query for messages."""
    columns, together = Statement(narrowed(select(*READ))), Statement(narrowed(select(PACKED)))
    return Reading(columns, from_columns, together, from_packed)


def _draft(counted: Counted, agent_id: str, now: datetime) -> Draft:
    body, asked = _told(counted.message)
    return Draft(
        counted=counted,
        message_id=counted.message.message_id or uuid.uuid4().hex,
        agent_id=agent_id,
        body=body,
        size=len(body.encode()),
        request_digest=hashlib.sha256(asked.encode()).hexdigest(),
        now=now,
    )


def _told(new: NewMessage) -> tuple[str, str]:
    """Return the body, and the canonical text that tells a retry from another message. Most messages are mere text."""
    said_at = new.said_at.timestamp() if new.said_at else None
    if isinstance(new.content, str) and not (new.name or new.tool_calls or new.tool_call_id or new.metadata):
        text = _quoted(new.content)
        moment = "null" if said_at is None else repr(said_at)
        return f'{{"content":{text}}}', f'["{new.role.value}", "{new.kind.value}", {moment}, {{"content": {text}}}]'
    fields = _fields(new)
    return _compact(fields), _canonical([new.role.value, new.kind.value, said_at, fields])


def _fields(new: NewMessage) -> JsonObject:
    fields = {
        "content": list(new.content) if isinstance(new.content, tuple) else new.content,
        "name": new.name,
        "tool_calls": list(new.tool_calls),
        "tool_call_id": new.tool_call_id,
        "metadata": dict(new.metadata),
    }
    return {name: value for name, value in fields.items() if value or value == ""}
