"""Appending in one statement (MySQL): the transaction of one round trip.

    INSERT INTO messages SELECT <number>, <newest seq> + place, … FROM sessions JOIN <the messages> WHERE … FOR UPDATE

The session's row is locked while the newest seq is looked up, so that numbers are gapless whoever else appends. The
condition is everything this process remembers of the session: if it is no longer so, nothing is inserted. MySQL has no
RETURNING; ``LAST_INSERT_ID(n)`` brings the newest number back with the acknowledgement.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy.engine import Connection

from strata.model.sessions import SessionState
from strata.storage.append_request import Append, Outcome, grown
from strata.storage.message_rows import WRITTEN, Draft
from strata.storage.session_rows import SessionRow

_TOLD = WRITTEN[2:]
_PLACE = "place"
_NEWEST = "COALESCE((SELECT MAX(m.seq) FROM messages m WHERE m.session_no = s.session_no), 0)"
_CONDITIONS = ("session_no", "tenant", "session_id", "participants", "summary_upto_seq", "state")


def stored(connection: Connection, row: SessionRow, request: Append) -> Outcome | None:
    """Store a request in a session as remembered; None if it is not so any more, or does not admit the request.

    Raises the driver's IntegrityError if one of the messages is there already.
    """
    if not request.is_admitted_to(row.session):
        return None
    drafts = tuple(request.drafts.values())
    cursor = connection.connection.cursor()
    cursor.execute(_statement(len(drafts)), _arguments(row, drafts))
    if cursor.rowcount != len(drafts):
        return None
    return grown(row, int(cursor.lastrowid) - len(drafts), drafts, request.now)


@lru_cache(maxsize=128)  # one text for each number of messages
def _statement(count: int) -> str:
    """Return the statement for so many messages. A single one needs no joining, which saves the server a fifth."""
    one = ["%s"] * len(_TOLD)
    if count == 1:
        place, told, joined = "1", ", ".join(one), ""
    else:
        named = ", ".join(f"%s AS {name}" for name in (_PLACE, *_TOLD))
        further = f" UNION ALL SELECT {', '.join(['%s', *one])}" * (count - 1)
        place, told = f"v.{_PLACE}", ", ".join(f"v.{name}" for name in _TOLD)
        joined = f" JOIN (SELECT {named}{further}) v"
    condition = " AND ".join(f"s.{name} = %s" for name in _CONDITIONS)
    return (  # only names of our own columns and a number are put in
        f"INSERT INTO messages ({', '.join(WRITTEN)}) "  # noqa: S608
        f"SELECT s.session_no, LAST_INSERT_ID({_NEWEST} + {count}) - {count} + {place}, {told} "
        f"FROM sessions s{joined} WHERE {condition} FOR UPDATE"
    )


def _arguments(row: SessionRow, drafts: Sequence[Draft]) -> list[Any]:
    values: list[Any] = []
    alone = len(drafts) == 1
    for place, draft in enumerate(drafts, 1):
        new = draft.counted.message
        arrived = _naive(draft.now)
        values += () if alone else (place,)
        values += (draft.message_id.encode(), draft.agent_id.encode(), new.role.value, new.kind.value)
        values += (draft.body, draft.counted.tokens, draft.counted.digest, draft.request_digest)
        values += (_naive(new.said_at) if new.said_at else arrived, arrived)
    session = row.session
    values += (row.number, session.key.tenant.encode(), session.key.session_id.encode())
    values += (json.dumps(session.participants, ensure_ascii=False, separators=(",", ":")),)
    values += (session.summary.upto_seq if session.summary else 0, SessionState.OPEN.value)
    return values


def _naive(instant: datetime) -> str:
    return instant.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
