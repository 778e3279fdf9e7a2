"""Rows of ``sessions`` to objects, and the statements that name one session."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, select
from sqlalchemy.engine import Connection

from strata.errors import NotFoundError
from strata.model.sessions import Session, SessionKey, SessionState, Summary
from strata.storage.packing import UNIT, Reading, document, instant, packed, parts
from strata.storage.statements import Statement
from strata.storage.tables import messages, sessions

_COLUMNS = (
    sessions.c.session_no,
    sessions.c.settled_seq,
    sessions.c.tenant,
    sessions.c.session_id,
    sessions.c.user_id,
    sessions.c.agent_id,
    sessions.c.state,
    sessions.c.zone,
    sessions.c.participants,
    sessions.c.created_at,
    sessions.c.updated_at,
)
_NULLABLE = (sessions.c.ended_at, sessions.c.summary_at, sessions.c.summary)
_SUMMARY = (sessions.c.summary_tokens, sessions.c.summary_upto_seq, sessions.c.summary_model)

THIS = and_(sessions.c.tenant == bindparam("tenant"), sessions.c.session_id == bindparam("session_id"))
"""The condition that names one session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session, with what only the database knows of it."""

    number: int
    settled_seq: int
    """Up to where messages were given to a run."""
    session: Session


def _newest(wanted: ColumnElement[Any], *, lock: bool) -> ColumnElement[Any]:
    """Tell something of a session's newest message. Under a lock, the newest at all, whatever the snapshot shows."""
    query = select(wanted).where(messages.c.session_no == sessions.c.session_no).correlate(sessions)
    query = query.order_by(messages.c.seq.desc()).limit(1)
    return (query.with_for_update(read=True) if lock else query).scalar_subquery()


def _packed(*, lock: bool = False) -> ColumnElement[str]:
    newest = _newest(packed(messages.c.seq, messages.c.created_at), lock=lock)
    maybe = (func.coalesce(column, "") for column in _NULLABLE)
    return packed(*_COLUMNS, func.coalesce(newest, f"0{UNIT}"), *_SUMMARY, *maybe)


PACKED = _packed()


def from_columns(row: tuple[Any, ...]) -> SessionRow:
    """Return the session of a row of all columns."""
    number, settled_seq, tenant, session_id, user_id, agent_id, state, zone, participants, *rest = row
    created_at, updated_at, last_seq, last_at, tokens, upto_seq, model, ended_at, summary_at, text = rest
    session = Session(
        key=SessionKey(tenant=tenant, session_id=session_id),
        user_id=user_id,
        agent_id=agent_id,
        participants=tuple(participants),
        state=SessionState(state),
        last_seq=last_seq or 0,
        created_at=created_at,
        updated_at=max(updated_at, last_at or updated_at),
        ended_at=ended_at,
        summary=_summary(tokens, upto_seq, model, summary_at, text),
        zone=zone,
    )
    return SessionRow(number=number, settled_seq=settled_seq, session=session)


def from_packed(rows: Sequence[tuple[Any, ...]]) -> list[SessionRow]:
    """Return the sessions of packed rows."""
    return [_from_packed(row) for row in rows]


def _from_packed(row: tuple[Any, ...]) -> SessionRow:
    fields = parts(row, len(_CONVERTERS))
    return from_columns(tuple(convert(field) for convert, field in zip(_CONVERTERS, fields, strict=True)))


def reading(narrowed: Callable[[Select[Any]], Select[Any]], *, lock: bool = False) -> Reading[SessionRow]:
    """Return a query for sessions."""
    newest = (_newest(messages.c.seq, lock=lock), _newest(messages.c.created_at, lock=lock))
    columns = Statement(narrowed(select(*_COLUMNS, *newest, *_SUMMARY, *_NULLABLE)))
    return Reading(columns, from_columns, Statement(narrowed(select(_packed(lock=lock)))), from_packed)


_ONE = reading(lambda wanted: wanted.where(THIS))
_ONE_LOCKED = reading(lambda wanted: wanted.where(THIS).with_for_update(), lock=True)


def found(connection: Connection, key: SessionKey) -> SessionRow | None:
    """Return a session."""
    return next(iter(_ONE.all(connection, tenant=key.tenant, session_id=key.session_id)), None)


def locked(connection: Connection, key: SessionKey) -> SessionRow | None:
    """Return a session and hold its row until the transaction ends (SQLite's transaction holds everything)."""
    return next(iter(_ONE_LOCKED.all(connection, tenant=key.tenant, session_id=key.session_id)), None)


def known(row: SessionRow | None) -> SessionRow:
    """Return a row that must be there. Raises NotFoundError."""
    if row is None:
        raise NotFoundError
    return row


def _summary(tokens: int, upto_seq: int, model: str, at: datetime | None, text: str | None) -> Summary | None:
    if at is None or text is None:
        return None
    return Summary(text=text, tokens=tokens, upto_seq=upto_seq, created_at=at, model=model)


def _instant_or_none(text: str) -> datetime | None:
    return instant(text) if text else None


_CONVERTERS: tuple[Callable[[str], Any], ...] = (
    *(int, int, str, str, str, str, str, str, document, instant, instant),
    *(int, _instant_or_none),  # of the newest message
    *(int, int, str),
    *(_instant_or_none, _instant_or_none, str),
)
"""What makes each packed field into what the column would have been."""
