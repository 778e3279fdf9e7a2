"""The message log in SQL: numbered without gaps, once, in order. Writing is in ``appending``."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, literal_column, select, union_all
from sqlalchemy.engine import Connection

from strata.model.messages import Appended, Message
from strata.model.sessions import Session, SessionKey
from strata.ports import Counted
from strata.storage import message_rows, session_rows
from strata.storage.append_request import Append
from strata.storage.appending import Appender
from strata.storage.engine import Database
from strata.storage.statements import Statement
from strata.storage.tables import messages, sessions

_NO_LIMIT = 2**62
_OF_SESSION = messages.c.session_no == (select(sessions.c.session_no).where(session_rows.THIS).scalar_subquery())
_NEWEST_FIRST = messages.c.seq.desc()
_TAIL = message_rows.reading(
    lambda wanted: (
        wanted.where(_OF_SESSION, messages.c.seq < bindparam("before_seq"))
        .order_by(_NEWEST_FIRST)
        .limit(bindparam("most"))
    )
)
_BETWEEN = message_rows.reading(
    lambda wanted: (
        wanted.where(_OF_SESSION, messages.c.seq > bindparam("after_seq"), messages.c.seq <= bindparam("upto_seq"))
        .order_by(messages.c.seq)
        .limit(bindparam("most"))
    )
)
_SNAPSHOT = Statement(
    union_all(
        select(literal_column("1"), session_rows.PACKED).where(session_rows.THIS),
        select(literal_column("0"), message_rows.PACKED)
        .where(_OF_SESSION)
        .order_by(_NEWEST_FIRST)
        .limit(bindparam("most")),
    )
)
"""A session and its newest messages in one statement: one round trip, one instant."""


class SqlMessageLog:
    """Implements ``strata.ports.MessageLog``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._appender = Appender(database)

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
        request = Append(key=key, user_id=user_id, agent_id=agent_id, zone=zone, now=now, asked=asked)
        outcome = self._appender.stored(request)
        return Appended(
            session_id=key.session_id,
            messages=tuple(outcome.messages[draft.message_id] for draft in asked),
            replayed=len(asked) - outcome.fresh,
            last_seq=outcome.row.session.last_seq,
            session=outcome.row.session,
        )

    def tail(self, key: SessionKey, limit: int, *, before_seq: int | None = None) -> list[Message]:
        """Return the newest ``limit`` messages (below ``before_seq``), oldest first."""
        before = _NO_LIMIT if before_seq is None else before_seq
        newest = self._database.read(
            lambda connection: _TAIL.all(
                connection, tenant=key.tenant, session_id=key.session_id, before_seq=before, most=limit
            )
        )
        return newest[::-1]

    def between(self, key: SessionKey, after_seq: int, upto_seq: int, *, limit: int = 10_000) -> list[Message]:
        """Return messages with ``after_seq < seq <= upto_seq``, oldest first."""
        span = {"after_seq": after_seq, "upto_seq": upto_seq, "most": limit}
        return self._database.read(
            lambda connection: _BETWEEN.all(connection, tenant=key.tenant, session_id=key.session_id, **span)
        )

    def snapshot(self, key: SessionKey, limit: int) -> tuple[Session, list[Message]] | None:
        """Return a session and its newest ``limit`` messages, oldest first, as of one instant, or None."""
        take = _together if self._database.dialect == "mysql" else _one_by_one
        return self._database.read(lambda connection: take(connection, key, limit))


def _together(connection: Connection, key: SessionKey, limit: int) -> tuple[Session, list[Message]] | None:
    rows = _SNAPSHOT.rows(connection, tenant=key.tenant, session_id=key.session_id, most=limit)
    found = session_rows.from_packed([row for row in rows if row[0]])
    if not found:
        return None
    newest = message_rows.from_packed([row for row in rows if not row[0]])
    return found[0].session, sorted(newest, key=lambda message: message.seq)


def _one_by_one(connection: Connection, key: SessionKey, limit: int) -> tuple[Session, list[Message]] | None:
    """Read the session first: messages up to its ``last_seq`` never change, so that both are of its instant."""
    row = session_rows.found(connection, key)
    if row is None:
        return None
    newest = _TAIL.all(
        connection, tenant=key.tenant, session_id=key.session_id, before_seq=row.session.last_seq + 1, most=limit
    )
    return row.session, newest[::-1]
