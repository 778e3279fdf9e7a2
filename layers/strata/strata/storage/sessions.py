"""Sessions in SQL: who may enter, how far they are settled, and their summaries."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, bindparam, insert, select, update
from sqlalchemy.engine import Connection

from strata.model.events import NewEvent
from strata.model.runs import Run, RunState
from strata.model.sessions import Session, SessionKey, SessionState, Summary
from strata.storage import session_rows
from strata.storage.engine import Database
from strata.storage.events import append_event
from strata.storage.run_rows import run_from
from strata.storage.session_rows import SessionRow
from strata.storage.tables import runs, sessions

_OF_USER = session_rows.reading(
    lambda wanted: wanted.where(
        sessions.c.tenant == bindparam("tenant"), sessions.c.user_id == bindparam("user_id")
    ).order_by(sessions.c.session_no)
)


class SqlSessionStore:
    """Implements ``strata.ports.SessionStore``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: SessionKey) -> Session | None:
        """Return the session, or None."""
        row = self._database.read(lambda connection: session_rows.found(connection, key))
        return None if row is None else row.session

    def of_user(self, tenant: str, user_id: str) -> list[Session]:
        """Return all sessions of a user, in the order in which they were opened."""
        rows = self._database.read(lambda connection: _OF_USER.all(connection, tenant=tenant, user_id=user_id))
        return [row.session for row in rows]

    def set_participants(self, key: SessionKey, participants: Sequence[str], *, now: datetime) -> Session:
        """Replace the declared participants, with an event; the same ones change nothing. Raises NotFoundError."""

        def work(connection: Connection) -> Session:
            session = session_rows.known(session_rows.locked(connection, key)).session
            if session.participants == tuple(participants):
                return session
            append_event(connection, key.tenant, _admitted(session, participants), now)
            return _set(connection, key, now, participants=list(participants))

        return self._database.write(work)

    def resume(self, key: SessionKey, *, now: datetime) -> Session:
        """Open an ended session again. Raises NotFoundError."""
        return self._changed(key, now, state=SessionState.OPEN.value, ended_at=None)

    def end(self, key: SessionKey, *, run_id: str, now: datetime) -> Run:
        """Mark ended and create, in the same transaction, the run over everything not yet given to one.

        If nothing is new since the last run, that run is returned. Raises NotFoundError.
        """

        def work(connection: Connection) -> Run:
            row = session_rows.known(session_rows.locked(connection, key))
            session, number = row.session, row.number
            last = _last_run(connection, number) if session.last_seq == row.settled_seq else None
            if last is not None and session.state is SessionState.ENDED:
                return last
            ended = {"state": SessionState.ENDED.value, "ended_at": now, "updated_at": now}
            given = {"settled_seq": session.last_seq}
            connection.execute(update(sessions).where(sessions.c.session_no == number).values(**ended, **given))
            return last or _queued(connection, number, _run_over(row, run_id, now))

        return self._database.write(work)

    def save_summary(self, key: SessionKey, summary: Summary, *, expected_upto_seq: int) -> bool:
        """Store a summary if the stored one still covers ``expected_upto_seq``; tell whether it was stored."""
        statement = (
            update(sessions)
            .where(_is(key), sessions.c.summary_upto_seq == expected_upto_seq)
            .values(
                summary=summary.text,
                summary_tokens=summary.tokens,
                summary_upto_seq=summary.upto_seq,
                summary_model=summary.model,
                summary_at=summary.created_at,
            )
        )
        return self._database.write(lambda connection: connection.execute(statement).rowcount == 1)

    def _changed(self, key: SessionKey, now: datetime, **values: object) -> Session:
        def work(connection: Connection) -> Session:
            session_rows.known(session_rows.locked(connection, key))
            return _set(connection, key, now, **values)

        return self._database.write(work)


def _is(key: SessionKey) -> ColumnElement[bool]:
    return and_(sessions.c.tenant == key.tenant, sessions.c.session_id == key.session_id)


def _set(connection: Connection, key: SessionKey, now: datetime, **values: object) -> Session:
    connection.execute(update(sessions).where(_is(key)).values(updated_at=now, **values))
    return session_rows.known(session_rows.found(connection, key)).session


def _admitted(session: Session, participants: Sequence[str]) -> NewEvent:
    """Only the agent that opened a session says who else takes part."""
    detail = {"session_id": session.key.session_id, "participants": list(participants)}
    return NewEvent(kind="participants.put", actor=session.agent_id, detail=detail)


def _last_run(connection: Connection, number: int) -> Run | None:
    newest = runs.c.upto_seq.desc(), runs.c.created_at.desc()
    row = connection.execute(select(runs).where(runs.c.session_no == number).order_by(*newest).limit(1)).first()
    return None if row is None else run_from(row)


def _run_over(row: SessionRow, run_id: str, now: datetime) -> Run:
    session = row.session
    return Run(
        tenant=session.key.tenant,
        run_id=run_id,
        session_id=session.key.session_id,
        user_id=session.user_id,
        agent_id=session.agent_id,
        state=RunState.QUEUED,
        from_seq=row.settled_seq + 1,
        upto_seq=session.last_seq,
        created_at=now,
    )


def _queued(connection: Connection, number: int, run: Run) -> Run:
    values = {name: getattr(run, name) for name in _RUN_COLUMNS}
    values |= {"session_no": number, "state": run.state.value}
    connection.execute(insert(runs).values(**values, counts={}, timings_ms={}, cost={}))
    return run


_RUN_COLUMNS = (
    "tenant",
    "run_id",
    "session_id",
    "user_id",
    "agent_id",
    "from_seq",
    "upto_seq",
    "attempts",
    "fence",
    "error_code",
    "error_detail",
    "created_at",
)
