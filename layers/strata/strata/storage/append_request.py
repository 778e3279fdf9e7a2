"""What an append asks, and what it leaves behind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from strata.model.messages import Message
from strata.model.sessions import Session, SessionKey, SessionState
from strata.storage.message_rows import Draft
from strata.storage.session_rows import SessionRow

STATEMENT_BYTES = 900_000
"""An INSERT is split beyond this; a single message beyond it is held against the server's packet limit."""


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
        return sum([draft.size for draft in self.asked]) <= STATEMENT_BYTES

    def is_admitted_to(self, session: Session) -> bool:
        """Tell whether it comes from the session's user and an agent that takes part."""
        return session.user_id == self.user_id and session.admits(self.agent_id)

    def opened(self) -> Session:
        """Return the session that it opens, still empty."""
        return Session(
            key=self.key,
            user_id=self.user_id,
            agent_id=self.agent_id,
            participants=(),
            state=SessionState.OPEN,
            last_seq=0,
            created_at=self.now,
            updated_at=self.now,
            zone=self.zone,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The session after an append, and the messages of the request by id."""

    row: SessionRow
    messages: Mapping[str, Message]
    fresh: int
    """How many were stored by it."""


def grown(row: SessionRow, after: int, fresh: Sequence[Draft], now: datetime) -> Outcome:
    """Return what is left when ``fresh`` got the numbers that follow ``after``."""
    stored = {draft.message_id: draft.stored(seq) for seq, draft in enumerate(fresh, after + 1)}
    before = row.session
    session = Session(  # written out: `replace` takes four times as long
        key=before.key,
        user_id=before.user_id,
        agent_id=before.agent_id,
        participants=before.participants,
        state=SessionState.OPEN,
        last_seq=after + len(fresh),
        created_at=before.created_at,
        updated_at=now,
        summary=before.summary,
        zone=before.zone,
    )
    known = SessionRow(number=row.number, settled_seq=row.settled_seq, session=session)
    return Outcome(row=known, messages=stored, fresh=len(fresh))
