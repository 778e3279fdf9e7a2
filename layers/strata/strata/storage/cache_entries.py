"""What the cache holds, as compact UTF-8 JSON: messages as arrays, the session's header, its summary."""

import json
from collections.abc import Sequence
from datetime import datetime
from json.encoder import encode_basestring
from typing import Any

from strata.model.messages import Kind, Message, Role
from strata.model.sessions import Session, SessionKey, SessionState, Summary

_ROLES = {role.value: role for role in Role}
_KINDS = {kind.value: kind for kind in Kind}
_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_quoted = encode_basestring
_read = datetime.fromisoformat
_NOTHING_MORE: tuple[None, tuple[()], None, dict[str, Any]] = (None, (), None, {})


def lines(stored: Sequence[Message]) -> str:
    """Return messages as list entries, one to a line, in the order given."""
    return "\n".join(map(_entry, stored))


def messages(entries: bytes) -> list[Message]:
    """Return the messages of list entries (newest first, commas between), oldest first."""
    return [_message(fields) for fields in reversed(json.loads(b"[%b]" % entries))]


def header(session: Session) -> str:
    """Return a session without its summary's text and without ``last_seq``, which the header's field has."""
    participants = _dumps(session.participants) if session.participants else "[]"
    ended_at = f'"{session.ended_at.isoformat()}"' if session.ended_at else "null"
    return (
        f'[{_quoted(session.user_id)},{_quoted(session.agent_id)},{participants},"{session.state.value}",'
        f'{_quoted(session.zone)},"{session.created_at.isoformat()}","{session.updated_at.isoformat()}",'
        f"{ended_at},{session.summary.upto_seq if session.summary else 0}]"
    )


def session(key: SessionKey, last_seq: int, text: bytes, summary_text: bytes | None) -> tuple[Session, bool]:
    """Return the session of a header, and whether its summary is with it, if it has one."""
    user_id, agent_id, participants, state, zone, created_at, updated_at, ended_at, summary_upto = json.loads(text)
    known = summary(summary_text) if summary_text else None
    read = Session(
        key=key,
        user_id=user_id,
        agent_id=agent_id,
        participants=tuple(participants),
        state=SessionState(state),
        last_seq=last_seq,
        created_at=_read(created_at),
        updated_at=_read(updated_at),
        ended_at=_read(ended_at) if ended_at else None,
        summary=known,
        zone=zone,
    )
    return read, summary_upto <= (known.upto_seq if known else 0)


def born(session: Session) -> str:
    """Return the instant a session was opened, so written that a later one sorts behind."""
    return f"{session.created_at.timestamp():020.6f}"


def summary_entry(summary: Summary) -> str:
    """Return a summary; the seq it covers stands in front, where a script finds it."""
    fields = [summary.text, summary.tokens, summary.created_at.isoformat(), summary.model]
    return f"{summary.upto_seq} {_dumps(fields)}"


def summary(text: bytes) -> Summary:
    """Return the summary of an entry."""
    upto_seq, _, fields = text.partition(b" ")
    content, tokens, created_at, model = json.loads(fields)
    return Summary(text=content, tokens=tokens, upto_seq=int(upto_seq), created_at=_read(created_at), model=model)


def _entry(message: Message) -> str:
    """Return a message as a JSON array; what most messages do not have is left off at its end."""
    content = message.content
    told = _quoted(content) if isinstance(content, str) else _dumps(content)
    created = message.created_at.isoformat()
    said = created if message.said_at is message.created_at else message.said_at.isoformat()
    fields = (
        f'{message.seq},"{message.role.value}","{message.kind.value}",{told},{_quoted(message.message_id)},'
        f'{_quoted(message.agent_id)},{message.tokens},"{message.digest}","{created}","{said}"'
    )
    if message.name or message.tool_calls or message.tool_call_id or message.metadata:
        more = (message.name, message.tool_calls, message.tool_call_id, dict(message.metadata))
        fields += f",{_dumps(more)[1:-1]}"
    return f"[{fields}]"


def _message(fields: Sequence[Any]) -> Message:
    seq, role, kind, content, message_id, agent_id, tokens, digest, created_at, said_at, *more = fields
    created = _read(created_at)
    name, tool_calls, tool_call_id, metadata = more or _NOTHING_MORE
    return Message(
        seq=seq,
        role=_ROLES[role],
        content=tuple(content) if isinstance(content, list) else content,
        kind=_KINDS[kind],
        message_id=message_id,
        agent_id=agent_id,
        tokens=tokens,
        digest=digest,
        created_at=created,
        said_at=created if said_at == created_at else _read(said_at),
        name=name,
        tool_calls=tuple(tool_calls),
        tool_call_id=tool_call_id,
        metadata=metadata,
    )
