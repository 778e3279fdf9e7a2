"""Appending in one statement (MySQL): the transaction of one round trip.

    INSERT INTO messages SELECT s.session_no, <the next number>, … FROM sessions s WHERE … FOR UPDATE

The condition is everything this process remembers of the session: if it is no longer so, nothing is inserted. The
session's row is locked while the message goes in, as an end of the session locks it. The number follows the newest
that is remembered. Whoever was faster has taken it, and the primary key says so: never a gap, never a number twice.

Nothing has to come back from the server but the acknowledgement. That matters behind RDS Proxy, where asking for
``LAST_INSERT_ID`` may bind a connection of the database to this process for good.

The text is put together here: the driver takes longer over twenty parameters than over all the rest. Ids go in as hex,
numbers and digests as what they are, and text only through the driver's own quoting.
"""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from sqlalchemy.engine import Connection

from strata.model.sessions import SessionState
from strata.storage.append_request import Append, Outcome, grown
from strata.storage.message_rows import WRITTEN, Draft
from strata.storage.session_rows import SessionRow

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_VALUES = WRITTEN[1:]
_INTO = f"INSERT INTO messages ({', '.join(WRITTEN)}) SELECT s.session_no, "
Quote = Callable[[str], str]


def stored(connection: Connection, row: SessionRow, request: Append) -> Outcome | None:
    """Store a request in a session as remembered; None if it is not so any more, or does not admit the request.

    Raises the driver's IntegrityError if a number is taken, or one of the messages is there already.
    """
    if not request.is_admitted_to(row.session) or row.session.state is not SessionState.OPEN:
        return None
    drafts = tuple(request.drafts.values())
    driver = connection.connection
    cursor = driver.cursor()
    cursor.execute(statement(row, drafts, driver.escape))
    if cursor.rowcount != len(drafts):
        return None
    return grown(row, row.session.last_seq, drafts, request.now)


def statement(row: SessionRow, drafts: Sequence[Draft], quote: Quote) -> str:
    """Return the whole statement. A single message needs no joining, which saves the server a fifth."""
    values = [_values(draft, seq, quote) for seq, draft in enumerate(drafts, row.session.last_seq + 1)]
    if len(values) == 1:
        return f"{_INTO}{', '.join(values[0])} FROM sessions s WHERE {_as_remembered(row, quote)} FOR UPDATE"
    named = ", ".join(f"{value} AS {name}" for value, name in zip(values[0], _VALUES, strict=True))
    further = "".join(f" UNION ALL SELECT {', '.join(one)}" for one in values[1:])
    told = ", ".join(f"v.{name}" for name in _VALUES)
    joined = f"JOIN (SELECT {named}{further}) v"
    return f"{_INTO}{told} FROM sessions s {joined} WHERE {_as_remembered(row, quote)} FOR UPDATE"


def _values(draft: Draft, seq: int, quote: Quote) -> tuple[str, ...]:
    counted = draft.counted
    new = counted.message
    arrived = _instant(draft.now)
    return (
        str(seq),
        _hex(draft.message_id),
        _hex(draft.agent_id),
        f"'{new.role.value}'",
        f"'{new.kind.value}'",
        quote(draft.body),
        str(counted.tokens),
        f"'{counted.digest}'",
        f"'{draft.request_digest}'",
        _instant(draft.said_at),
        arrived,
    )


def _as_remembered(row: SessionRow, quote: Quote) -> str:
    session = row.session
    participants = _compact(session.participants) if session.participants else "[]"
    return (
        f"s.session_no = {row.number} AND s.tenant = {_hex(session.key.tenant)} "
        f"AND s.session_id = {_hex(session.key.session_id)} AND s.participants = {quote(participants)} "
        f"AND s.summary_upto_seq = {session.summary.upto_seq if session.summary else 0} "
        f"AND s.state = '{SessionState.OPEN.value}'"
    )


def _hex(text: str) -> str:
    return f"x'{text.encode().hex()}'"


def _instant(instant: datetime) -> str:
    if instant.tzinfo is not UTC:
        instant = instant.astimezone(UTC)
    return f"'{instant.replace(tzinfo=None).isoformat(' ')}'"
