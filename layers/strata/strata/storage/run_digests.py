"""Which messages a run may call new, decided and claimed in one transaction.

A row of ``message_digests`` says: this occurrence of this text in this session belongs to this run. The session's row
is locked meanwhile, so that two runs of one session cannot claim the same occurrence.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.engine import Connection

from strata.dedup.resent import resent
from strata.model.messages import Message
from strata.model.runs import Run
from strata.storage.tables import message_digests as digests
from strata.storage.tables import sessions

HISTORY = 10_000
"""Latest processed messages of a session that a re-sent transcript is looked for in."""
_CHUNK = 500
T = TypeVar("T")


def claim(
    connection: Connection, session_no: int, run: Run, messages: Sequence[Message], *, since: datetime, now: datetime
) -> list[Message]:
    """Claim and return the messages of a run that no run has processed; the same again on every later call."""
    connection.execute(select(sessions.c.session_no).where(sessions.c.session_no == session_no).with_for_update())
    own = _own(connection, session_no, run.run_id)
    if own:
        return [message for message in messages if message.seq in own]
    free = _not_taken(connection, session_no, messages)
    history = _history(connection, session_no, run.from_seq)
    if not history or history[-1].claimed_at < since:
        history = []  # the transcript rested long enough: what comes now is said anew
    repeats = resent([row.digest for row in history], [message.digest for message in free])
    _keep_warm(connection, session_no, [history[place].seq for place in repeats if place is not None], now)
    new = [message for message, place in zip(free, repeats, strict=True) if place is None]
    _insert(connection, session_no, run.run_id, new, now)
    return new


def settle(connection: Connection, run_id: str) -> None:
    """Make a run's claims lasting."""
    connection.execute(update(digests).where(digests.c.run_id == run_id).values(settled=True))


def free(connection: Connection, run_id: str) -> None:
    """Give a run's unsettled claims back."""
    connection.execute(delete(digests).where(digests.c.run_id == run_id, digests.c.settled.is_(False)))


def _own(connection: Connection, session_no: int, run_id: str) -> set[int]:
    mine = select(digests.c.seq).where(digests.c.session_no == session_no, digests.c.run_id == run_id)
    return set(connection.scalars(mine))


def _not_taken(connection: Connection, session_no: int, messages: Sequence[Message]) -> list[Message]:
    """Leave out what another run over an overlapping range has already."""
    if not messages:
        return []
    span = digests.c.seq.between(messages[0].seq, messages[-1].seq)
    taken = set(connection.scalars(select(digests.c.seq).where(digests.c.session_no == session_no, span)))
    return [message for message in messages if message.seq not in taken]


class _Processed(NamedTuple):
    """A message that a run has processed."""

    seq: int
    digest: str
    claimed_at: datetime


def _history(connection: Connection, session_no: int, from_seq: int) -> list[_Processed]:
    """The processed messages before a run's range, oldest first."""
    latest = (
        select(digests.c.seq, digests.c.digest, digests.c.claimed_at)
        .where(digests.c.session_no == session_no, digests.c.seq < from_seq)
        .order_by(digests.c.seq.desc())
        .limit(HISTORY)
    )
    return [_Processed(*row) for row in connection.execute(latest)][::-1]


def _keep_warm(connection: Connection, session_no: int, seqs: Sequence[int], now: datetime) -> None:
    """A transcript that is sent again every day stays known, also after a week."""
    for chunk in _chunks(seqs):
        touched = (digests.c.session_no == session_no) & digests.c.seq.in_(chunk)
        connection.execute(update(digests).where(touched).values(claimed_at=now))


def _insert(connection: Connection, session_no: int, run_id: str, new: Sequence[Message], now: datetime) -> None:
    if not new:
        return
    seen = _occurrences(connection, session_no, {message.digest for message in new})
    rows = []
    for message in new:
        seen[message.digest] += 1
        rows.append(
            {
                "session_no": session_no,
                "digest": message.digest,
                "occurrence": seen[message.digest],
                "seq": message.seq,
                "run_id": run_id,
                "settled": False,
                "claimed_at": now,
            }
        )
    connection.execute(insert(digests), rows)


def _occurrences(connection: Connection, session_no: int, wanted: Iterable[str]) -> Counter[str]:
    seen: Counter[str] = Counter()
    for chunk in _chunks(sorted(wanted)):
        highest = (
            select(digests.c.digest, func.max(digests.c.occurrence))
            .where(digests.c.session_no == session_no, digests.c.digest.in_(chunk))
            .group_by(digests.c.digest)
        )
        seen.update({row[0]: row[1] for row in connection.execute(highest)})
    return seen


def _chunks(items: Sequence[T]) -> Iterable[Sequence[T]]:
    return (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
