"""Appending to the log: numbers without gaps, all or nothing, a repeat recognised.

A session that this process has seen before takes one statement (``append_at_once``). If another has appended meanwhile,
that is read and the statement sent once more. Everything else goes through a transaction that reads the session's row
under lock first: a resumed session, one that has changed, messages that are stored already. Whether a message is there
is not asked beforehand: the INSERT fails on the unique id, and only then is what is stored compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, insert, null, select, text, update
from sqlalchemy.engine import Connection

from strata.errors import NotFoundError, StatementTooLargeError
from strata.model.messages import Message
from strata.model.sessions import Session, SessionKey, SessionState
from strata.storage import append_at_once, message_rows, session_rows
from strata.storage.append_request import STATEMENT_BYTES, Append, Outcome, grown
from strata.storage.engine import Database
from strata.storage.message_rows import Draft
from strata.storage.session_rows import SessionRow
from strata.storage.statements import Insert, Statement
from strata.storage.tables import messages, sessions

MAX_REMEMBERED = 1_000
_COLUMN_BYTES = 2**24 - 1
_OTHER_BYTES = 8_192
"""More than everything beside the body takes."""
_ESCAPED = ('"', "'", "\\")

_INSERT = Insert(messages, message_rows.WRITTEN, ready=("body",))
_RESUMED = Statement(
    update(sessions)
    .where(sessions.c.session_no == bindparam("number"))
    .values(state=SessionState.OPEN.value, ended_at=null(), updated_at=bindparam("at"))
)


class Appender:
    """Stores requests; remembers the sessions it has seen lately."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._remembered: dict[SessionKey, SessionRow] = {}
        self._era = database.era

    def stored(self, request: Append) -> Outcome:
        """Store a request. Raises as ``MessageLog.append`` does."""
        outcome = self._at_once(request) or self._into_known(request)
        if outcome is None:
            try:
                outcome = self._database.write(lambda connection: self._into_new(connection, request))
            except self._database.taken:  # another has opened it meanwhile
                outcome = self._into_known(request)
        if outcome is None:
            raise NotFoundError
        self._remember(outcome.row)
        return outcome

    def _at_once(self, request: Append) -> Outcome | None:
        """Store in a remembered session; if it has grown meanwhile, once more behind what is there now."""
        row = self._recalled(request.key)
        if row is None or self._database.dialect != "mysql" or not request.fits_one_statement:
            return None
        outcome = self._tried(row, request)
        if outcome is not None:
            return outcome
        now = self._database.read(lambda connection: session_rows.found(connection, request.key))
        if now is None or now.session.last_seq == row.session.last_seq:
            return None
        return self._tried(now, request)

    def _tried(self, row: SessionRow, request: Append) -> Outcome | None:
        era = self._era

        def work(connection: Connection) -> Outcome | None:
            return append_at_once.stored(connection, row, request) if self._database.era == era else None

        try:
            return self._database.read(work)
        except self._database.taken:
            return None  # the number, or the message itself: what follows tells

    def _recalled(self, key: SessionKey) -> SessionRow | None:
        """Return what is remembered of a session, unless the server was gone since: it may be another one now."""
        if self._era != self._database.era:
            self._era = self._database.era
            self._remembered.clear()
        return self._remembered.get(key)

    def _into_known(self, request: Append) -> Outcome | None:
        return self._database.write(lambda connection: self._locked(connection, request))

    def _locked(self, connection: Connection, request: Append) -> Outcome | None:
        row = session_rows.locked(connection, request.key)
        if row is None:
            return None
        if not request.is_admitted_to(row.session):
            raise NotFoundError
        return self._numbered(connection, row, request)

    def _into_new(self, connection: Connection, request: Append) -> Outcome:
        """Open the session in a transaction of its own: the lock on an absent row would make openers deadlock."""
        session = request.opened()
        number = connection.execute(insert(sessions).values(**_values(session))).lastrowid
        return self._numbered(connection, SessionRow(number=number, settled_seq=0, session=session), request)

    def _numbered(self, connection: Connection, row: SessionRow, request: Append) -> Outcome:
        """Store what is not there yet. Only one statement is tried without asking: several could fail half-way."""
        fresh = tuple(request.drafts.values())
        replayed: dict[str, Message] = {}
        if not (request.fits_one_statement and self._inserted(connection, row, fresh)):
            replayed = _already_there(connection, row.number, request.drafts)
            fresh = tuple(draft for draft in fresh if draft.message_id not in replayed)
            _insert(connection, row, fresh)
        if not fresh:
            return Outcome(row=row, messages=replayed, fresh=0)
        if row.session.state is not SessionState.OPEN:
            _RESUMED.run(connection, number=row.number, at=request.now)
        outcome = grown(row, row.session.last_seq, fresh, request.now)
        return replace(outcome, messages={**replayed, **outcome.messages})

    def _inserted(self, connection: Connection, row: SessionRow, fresh: Sequence[Draft]) -> bool:
        try:
            _insert(connection, row, fresh)
        except self._database.taken:
            return False
        return True

    def _remember(self, row: SessionRow) -> None:
        self._remembered.pop(row.session.key, None)
        if len(self._remembered) >= MAX_REMEMBERED:
            self._remembered.pop(next(iter(self._remembered)), None)
        self._remembered[row.session.key] = row


def _insert(connection: Connection, row: SessionRow, fresh: Sequence[Draft]) -> None:
    rows: list[tuple[Any, ...]] = []
    size = 0
    for seq, draft in enumerate(fresh, row.session.last_seq + 1):
        if rows and size + draft.size > STATEMENT_BYTES:
            _INSERT.run(connection, rows)
            rows, size = [], 0
        if draft.size > STATEMENT_BYTES:
            _refuse_beyond_packet(connection, draft)
        rows.append(draft.row(row.number, seq))
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


def _already_there(connection: Connection, number: int, drafts: Mapping[str, Draft]) -> dict[str, Message]:
    """Return the stored messages that have an id of the drafts. Raises MessageConflictError."""
    columns = select(messages.c.request_digest, *message_rows.READ)
    rows = connection.execute(columns.where(messages.c.session_no == number, messages.c.message_id.in_(drafts)))
    there: dict[str, Message] = {}
    for request_digest, *row in rows:
        message = message_rows.from_columns(tuple(row))
        message_rows.refuse_other_content(request_digest, drafts[message.message_id])
        there[message.message_id] = message
    return there


def _values(session: Session) -> dict[str, Any]:
    return {
        "tenant": session.key.tenant,
        "session_id": session.key.session_id,
        "user_id": session.user_id,
        "agent_id": session.agent_id,
        "participants": list(session.participants),
        "state": session.state.value,
        "zone": session.zone,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
    }
