"""Appending to the log: one transaction, numbers without gaps, a repeat recognised.

An append holds its session's row, so that appends to one session come one after the other, and takes the next numbers
from it. A process that has seen the session before needs four round trips: BEGIN, one UPDATE that takes the numbers if
the session is still as remembered, one INSERT, COMMIT. Otherwise the row is read under lock first. Whether a message is
there already is not asked beforehand: the INSERT fails on the unique id, and only then what is stored is compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, func, insert, null, select, text, update
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from strata.errors import NotFoundError, StatementTooLargeError
from strata.model.messages import Message
from strata.model.sessions import Session, SessionKey, SessionState
from strata.storage import message_rows, session_rows
from strata.storage.engine import Database
from strata.storage.message_rows import Draft
from strata.storage.session_rows import SessionRow
from strata.storage.statements import Insert, Statement
from strata.storage.tables import messages, sessions

STATEMENT_BYTES = 900_000
"""An INSERT is split beyond this; a single message beyond it is held against the server's packet limit."""
MAX_REMEMBERED = 1_000
_COLUMN_BYTES = 2**24 - 1
_OTHER_BYTES = 8_192
"""More than everything beside the body takes."""
_ESCAPED = ('"', "'", "\\")

_INSERT = Insert(messages, message_rows.WRITTEN, ready=("body",))
_OPENED: dict[str, Any] = {"state": SessionState.OPEN.value, "ended_at": null(), "updated_at": bindparam("at")}
_NUMBERED = Statement(
    update(sessions).where(sessions.c.session_no == bindparam("number")).values(last_seq=bindparam("newest"), **_OPENED)
)
_AS_REMEMBERED = and_(
    sessions.c.session_no == bindparam("number"),
    session_rows.THIS,
    sessions.c.user_id == bindparam("user"),
    sessions.c.participants == bindparam("admitted"),
    sessions.c.summary_upto_seq == bindparam("summarised"),
)
_NUMBERS_TAKEN = Statement(
    update(sessions)
    .where(_AS_REMEMBERED)
    .values(last_seq=func.last_insert_id(sessions.c.last_seq + bindparam("count")), **_OPENED)
)
"""Its LAST_INSERT_ID is the new ``last_seq``, which so comes back with the acknowledgement; MySQL has no RETURNING."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Append:
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

    @property
    def fits_one_statement(self) -> bool:
        """Tell whether all of it may go into one INSERT."""
        return sum(draft.size for draft in self.asked) <= STATEMENT_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The session after an append, and the messages of the request by id."""

    row: SessionRow
    messages: dict[str, Message]
    fresh: int
    """How many were stored by it."""


class Appender:
    """Stores requests; remembers the sessions it has seen lately."""

    def __init__(self, database: Database) -> None:
        driver: Any = database.engine.dialect.loaded_dbapi
        self._database = database
        self._taken = (driver.IntegrityError, IntegrityError)
        self._remembered: dict[SessionKey, SessionRow] = {}

    def stored(self, request: Append) -> Outcome:
        """Store a request. Raises as ``MessageLog.append`` does."""
        outcome = self._into_existing(request)
        if outcome is None:
            try:
                outcome = self._database.write(lambda connection: self._into_new(connection, request))
            except self._taken:  # another has opened it meanwhile
                outcome = self._into_existing(request)
        if outcome is None:
            raise NotFoundError
        self._remember(outcome.row)
        return outcome

    def _into_existing(self, request: Append) -> Outcome | None:
        remembered = self._remembered.get(request.key)
        if self._database.dialect == "mysql" and remembered is not None and request.fits_one_statement:
            try:
                return self._database.write(lambda connection: self._into_remembered(connection, request, remembered))
            except self._taken:
                pass  # a message is there already: what follows compares
        return self._database.write(lambda connection: self._into_known(connection, request))

    def _into_remembered(self, connection: Connection, request: Append, row: SessionRow) -> Outcome | None:
        drafts = tuple(request.drafts.values())
        newest = _numbers_taken(connection, request, row.session, row.number) if _admits(row, request) else None
        if newest is None:
            return self._into_known(connection, request)
        _insert(connection, row.number, newest - len(drafts), drafts)
        return _outcome(row, newest - len(drafts), drafts, request.now)

    def _into_known(self, connection: Connection, request: Append) -> Outcome | None:
        row = session_rows.locked(connection, request.key)
        if row is None:
            return None
        if not _admits(row, request):
            raise NotFoundError
        return self._numbered(connection, row, request)

    def _into_new(self, connection: Connection, request: Append) -> Outcome:
        """Open the session in a transaction of its own: the lock on an absent row would make openers deadlock."""
        session = _opened(request)
        number = connection.execute(insert(sessions).values(**_values(session))).lastrowid
        return self._numbered(connection, SessionRow(number=number, settled_seq=0, session=session), request)

    def _numbered(self, connection: Connection, row: SessionRow, request: Append) -> Outcome:
        """Store what is not there yet. Only one statement is tried without asking: several could fail half-way."""
        drafts, last_seq = request.drafts, row.session.last_seq
        fresh = tuple(drafts.values())
        replayed: dict[str, Message] = {}
        if not (request.fits_one_statement and self._inserted(connection, row, fresh)):
            replayed = _already_there(connection, row.number, drafts)
            fresh = tuple(draft for name, draft in drafts.items() if name not in replayed)
            _insert(connection, row.number, last_seq, fresh)
        outcome = _outcome(row, last_seq, fresh, request.now, replayed)
        if fresh:
            _NUMBERED.run(connection, number=row.number, newest=outcome.row.session.last_seq, at=request.now)
        return outcome

    def _inserted(self, connection: Connection, row: SessionRow, fresh: Sequence[Draft]) -> bool:
        try:
            _insert(connection, row.number, row.session.last_seq, fresh)
        except self._taken:
            return False
        return True

    def _remember(self, row: SessionRow) -> None:
        self._remembered.pop(row.session.key, None)
        if len(self._remembered) >= MAX_REMEMBERED:
            self._remembered.pop(next(iter(self._remembered)), None)
        self._remembered[row.session.key] = row


def _admits(row: SessionRow, request: Append) -> bool:
    return row.session.user_id == request.user_id and row.session.admits(request.agent_id)


def _numbers_taken(connection: Connection, request: Append, session: Session, number: int) -> int | None:
    """Return the new ``last_seq``; None if the session is not as remembered."""
    met, newest = _NUMBERS_TAKEN.run(
        connection,
        number=number,
        tenant=request.key.tenant,
        session_id=request.key.session_id,
        user=request.user_id,
        admitted=session.participants,
        summarised=session.summary.upto_seq if session.summary else 0,
        count=len(request.drafts),
        at=request.now,
    )
    return newest if met == 1 else None


def _outcome(
    row: SessionRow, after: int, fresh: Sequence[Draft], now: datetime, replayed: dict[str, Message] | None = None
) -> Outcome:
    """Return what an append leaves: ``fresh`` got the numbers that follow ``after``."""
    there = dict(replayed or {})
    if not fresh:
        return Outcome(row=row, messages=there, fresh=0)
    there |= {draft.message_id: draft.stored(seq) for seq, draft in enumerate(fresh, after + 1)}
    grown = replace(row.session, last_seq=after + len(fresh), state=SessionState.OPEN, ended_at=None, updated_at=now)
    return Outcome(row=replace(row, session=grown), messages=there, fresh=len(fresh))


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
        message = message_rows.from_columns(tuple(row))
        message_rows.refuse_other_content(request_digest, drafts[message.message_id])
        there[message.message_id] = message
    return there


def _opened(request: Append) -> Session:
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


def _values(session: Session) -> dict[str, Any]:
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
