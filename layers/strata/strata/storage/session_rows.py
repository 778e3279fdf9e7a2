"""Rows of ``sessions`` to objects, and the statements that name one session."""

from typing import Any

from sqlalchemy import Select, and_, bindparam, select
from sqlalchemy.engine import Connection

from strata.errors import NotFoundError
from strata.model.sessions import Session, SessionKey, SessionState, Summary
from strata.storage.statements import Statement
from strata.storage.tables import sessions

COLUMNS = (
    sessions.c.session_no,
    sessions.c.tenant,
    sessions.c.session_id,
    sessions.c.user_id,
    sessions.c.agent_id,
    sessions.c.participants,
    sessions.c.state,
    sessions.c.zone,
    sessions.c.last_seq,
    sessions.c.settled_seq,
    sessions.c.summary,
    sessions.c.summary_tokens,
    sessions.c.summary_upto_seq,
    sessions.c.summary_model,
    sessions.c.summary_at,
    sessions.c.created_at,
    sessions.c.updated_at,
    sessions.c.ended_at,
)
NUMBER, SETTLED = 0, 9
"""Where ``session_no`` and ``settled_seq`` stand in a row."""

THIS = and_(sessions.c.tenant == bindparam("tenant"), sessions.c.session_id == bindparam("session_id"))
"""The condition that names one session."""


def wanted() -> Select[Any]:
    """Select whole sessions in the order that ``session_from`` reads."""
    return select(*COLUMNS)


_ONE = Statement(wanted().where(THIS))
_ONE_LOCKED = Statement(wanted().where(THIS).with_for_update())


def found(connection: Connection, key: SessionKey) -> tuple[Any, ...] | None:
    """Return the row of a session."""
    return _only(_ONE.rows(connection, tenant=key.tenant, session_id=key.session_id))


def locked(connection: Connection, key: SessionKey) -> tuple[Any, ...] | None:
    """Return the row of a session and hold it until the transaction ends (SQLite's transaction holds everything)."""
    return _only(_ONE_LOCKED.rows(connection, tenant=key.tenant, session_id=key.session_id))


def known(row: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """Return a row that must be there. Raises NotFoundError."""
    if row is None:
        raise NotFoundError
    return row


def session_from(row: tuple[Any, ...]) -> Session:
    """Return the session of a row selected by ``wanted``."""
    _, tenant, session_id, user_id, agent_id, participants, state, zone, last_seq, _, *rest = row
    *summary, created_at, updated_at, ended_at = rest
    return Session(
        key=SessionKey(tenant=tenant, session_id=session_id),
        user_id=user_id,
        agent_id=agent_id,
        participants=tuple(participants),
        state=SessionState(state),
        last_seq=last_seq,
        created_at=created_at,
        updated_at=updated_at,
        ended_at=ended_at,
        summary=_summary(*summary),
        zone=zone,
    )


def _summary(text: str | None, tokens: int, upto_seq: int, model: str, at: Any) -> Summary | None:  # noqa: ANN401
    if text is None:
        return None
    return Summary(text=text, tokens=tokens, upto_seq=upto_seq, created_at=at, model=model)


def _only(rows: list[tuple[Any, ...]]) -> tuple[Any, ...] | None:
    return rows[0] if rows else None
