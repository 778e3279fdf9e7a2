"""The message log in SQL: numbered without gaps, once, in order.

An append locks its session's row, so that appends to one session come one after the other, and takes the next numbers
from it. Five round trips: BEGIN, the locked row, one INSERT, the new last number, COMMIT. Whether a message is there
already is not asked beforehand: the INSERT fails on the unique id, and only then what is stored is compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, insert, null, select, text, update
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from strata.errors import NotFoundError, StatementTooLargeError
from strata.model.messages import Appended, Message
from strata.model.sessions import Session, SessionKey, SessionState
from strata.ports import Counted
from strata.storage import message_rows, session_rows
from strata.storage.engine import Database
from strata.storage.message_rows import Draft
from strata.storage.statements import Insert, Statement
from strata.storage.tables import messages, sessions

STATEMENT_BYTES = 900_000
"""An INSERT is split beyond this; a single message beyond it is held against the server's packet limit."""
_COLUMN_BYTES = 2**24 - 1
_OTHER_BYTES = 8_192
"""More than everything beside the body takes."""
_ESCAPED = ('"', "'", "\\")
_NO_LIMIT = 2**62

_OF_SESSION = messages.c.session_no == (select(sessions.c.session_no).where(session_rows.THIS).scalar_subquery())
_TAIL = Statement(
    select(*message_rows.READ)
    .where(_OF_SESSION, messages.c.seq < bindparam("before_seq"))
    .order_by(messages.c.seq.desc())
    .limit(bindparam("most"))
)
_BETWEEN = Statement(
    select(*message_rows.READ)
    .where(_OF_SESSION, messages.c.seq > bindparam("after_seq"), messages.c.seq <= bindparam("upto_seq"))
    .order_by(messages.c.seq)
    .limit(bindparam("most"))
)
_INSERT = Insert(messages, message_rows.WRITTEN, ready=("body",))
_NUMBERED = Statement(
    update(sessions)
    .where(sessions.c.session_no == bindparam("number"))
    .values(last_seq=bindparam("newest"), state=SessionState.OPEN.value, ended_at=null(), updated_at=bindparam("at"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Append:
    """One request, complete before the first statement: running it again gives the same result."""

    key: SessionKey
    user_id: str
    agent_id: str
    zone: str
    now: datetime
    asked: tuple[Draft, ...]

    @property
    def drafts(self) -> dict[str, Draft]:
        """The messages by id; one that is asked for twice is there once."""
        return {draft.message_id: draft for draft in self.asked}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    session: Session
    messages: dict[str, Message]
    fresh: int


class SqlMessageLog:
    """Implements ``strata.ports.MessageLog``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        driver: Any = database.engine.dialect.loaded_dbapi
        self._taken = (driver.IntegrityError, IntegrityError)

    def append(
        self,
        key: SessionKey,
        user_id: str,
        agent_id: str,
        messages: Sequence[Counted],
        *,
        now: datetime,
        zone: str = "UTC",
    ) -> Appended:
        """Number and store messages in one transaction; open or resume the session."""
        asked = message_rows.drafts(messages, agent_id, now)
        request = _Append(key=key, user_id=user_id, agent_id=agent_id, zone=zone, now=now, asked=asked)
        outcome = self._stored(request)
        return Appended(
            session_id=key.session_id,
            messages=tuple(outcome.messages[draft.message_id] for draft in asked),
            replayed=len(asked) - outcome.fresh,
            last_seq=outcome.session.last_seq,
            session=outcome.session,
        )

    def tail(self, key: SessionKey, limit: int, *, before_seq: int | None = None) -> list[Message]:
        """Return the newest ``limit`` messages (below ``before_seq``), oldest first."""
        before = _NO_LIMIT if before_seq is None else before_seq
        rows = self._database.read(
            lambda connection: _TAIL.rows(
                connection, tenant=key.tenant, session_id=key.session_id, before_seq=before, most=limit
            )
        )
        return [message_rows.message_from(row) for row in reversed(rows)]

    def between(self, key: SessionKey, after_seq: int, upto_seq: int, *, limit: int = 10_000) -> list[Message]:
        """Return messages with ``after_seq < seq <= upto_seq``, oldest first."""
        rows = self._database.read(
            lambda connection: _BETWEEN.rows(
                connection,
                tenant=key.tenant,
                session_id=key.session_id,
                after_seq=after_seq,
                upto_seq=upto_seq,
                most=limit,
            )
        )
        return [message_rows.message_from(row) for row in rows]

    def _stored(self, request: _Append) -> _Outcome:
        """Store into the session, or open it; whoever loses the race to open it finds it open."""
        known = self._database.write(lambda connection: self._into_known(connection, request))
        if known is None:
            try:
                return self._database.write(lambda connection: self._into_new(connection, request))
            except self._taken:
                known = self._database.write(lambda connection: self._into_known(connection, request))
        if known is None:
            raise NotFoundError
        return known

    def _into_known(self, connection: Connection, request: _Append) -> _Outcome | None:
        row = session_rows.locked(connection, request.key)
        if row is None:
            return None
        session = session_rows.session_from(row)
        if session.user_id != request.user_id or not session.admits(request.agent_id):
            raise NotFoundError
        return self._numbered(connection, row[session_rows.NUMBER], session, request)

    def _into_new(self, connection: Connection, request: _Append) -> _Outcome:
        """Open the session in a transaction of its own: the lock on an absent row would make openers deadlock."""
        session = _opened(request)
        inserted = connection.execute(insert(sessions).values(**_row(session)))
        return self._numbered(connection, inserted.lastrowid, session, request)

    def _numbered(self, connection: Connection, number: int, session: Session, request: _Append) -> _Outcome:
        drafts = request.drafts
        replayed = self._insert_unless_there(connection, number, session.last_seq, drafts)
        fresh = [draft for name, draft in drafts.items() if name not in replayed]
        if not fresh:
            return _Outcome(session=session, messages=replayed, fresh=0)
        stored = {draft.message_id: draft.stored(seq) for seq, draft in enumerate(fresh, session.last_seq + 1)}
        session = replace(
            session,
            last_seq=session.last_seq + len(fresh),
            state=SessionState.OPEN,
            ended_at=None,
            updated_at=request.now,
        )
        _NUMBERED.run(connection, number=number, newest=session.last_seq, at=request.now)
        return _Outcome(session=session, messages=replayed | stored, fresh=len(fresh))

    def _insert_unless_there(
        self, connection: Connection, number: int, last_seq: int, drafts: dict[str, Draft]
    ) -> dict[str, Message]:
        """Insert the drafts that are not stored yet; return the messages that are.

        What fits one statement is tried at once. Several statements could fail half-way, so there it is asked first.
        """
        if sum(draft.size for draft in drafts.values()) <= STATEMENT_BYTES:
            try:
                _insert(connection, number, last_seq, list(drafts.values()))
            except self._taken:
                pass
            else:
                return {}
        replayed = _already_there(connection, number, drafts)
        _insert(connection, number, last_seq, [draft for name, draft in drafts.items() if name not in replayed])
        return replayed


def _insert(connection: Connection, number: int, last_seq: int, fresh: Sequence[Draft]) -> None:
    rows: list[tuple[Any, ...]] = []
    size = 0
    for seq, draft in enumerate(fresh, last_seq + 1):
        if rows and size + draft.size > STATEMENT_BYTES:
            _INSERT.run(connection, rows)
            rows, size = [], 0
        if draft.size > STATEMENT_BYTES:
            _refuse_beyond_packet(connection, draft)
        rows.append(draft.row(number, seq))
        size += draft.size
    if rows:
        _INSERT.run(connection, rows)


def _refuse_beyond_packet(connection: Connection, draft: Draft) -> None:
    """Ask before sending: a server that gets too large a packet hangs up instead of answering."""
    if connection.dialect.name != "mysql":
        return
    packet = int(connection.execute(text("SELECT @@max_allowed_packet")).scalar_one())
    if draft.size + sum(map(draft.body.count, _ESCAPED)) + _OTHER_BYTES > min(packet, _COLUMN_BYTES):
        raise StatementTooLargeError


def _already_there(connection: Connection, number: int, drafts: dict[str, Draft]) -> dict[str, Message]:
    """Return the stored messages that have an id of the drafts. Raises MessageConflictError."""
    columns = select(messages.c.request_digest, *message_rows.READ)
    rows = connection.execute(columns.where(messages.c.session_no == number, messages.c.message_id.in_(drafts)))
    there: dict[str, Message] = {}
    for request_digest, *row in rows:
        message = message_rows.message_from(tuple(row))
        message_rows.refuse_other_content(request_digest, drafts[message.message_id])
        there[message.message_id] = message
    return there


def _opened(request: _Append) -> Session:
    return Session(
        key=request.key,
        user_id=request.user_id,
        agent_id=request.agent_id,
        participants=(),
        state=SessionState.OPEN,
        last_seq=0,
        created_at=request.now,
        updated_at=request.now,
        zone=request.zone,
    )


def _row(session: Session) -> dict[str, Any]:
    return {
        "tenant": session.key.tenant,
        "session_id": session.key.session_id,
        "user_id": session.user_id,
        "agent_id": session.agent_id,
        "participants": list(session.participants),
        "state": session.state.value,
        "zone": session.zone,
        "last_seq": session.last_seq,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
    }
