"""Session memory: the durable log, the sessions, the disposable copy."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from strata.model.messages import Appended, JsonObject, Message, NewMessage
from strata.model.runs import Run
from strata.model.sessions import Session, SessionKey, Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A new message with what is computed once, at append: its token count and its digest."""

    message: NewMessage
    tokens: int
    digest: str


class MessageLog(Protocol):
    """The durable, ordered messages of sessions."""

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
        """Number and store messages in one transaction; open or resume the session.

        Raises:
            NotFoundError: the session is another user's, or the agent is neither owner nor participant.
            MessageConflictError: a ``message_id`` was used for other content; nothing is stored.
            StatementTooLargeError: a message is larger than the database takes.
            StorageUnavailableError: the database cannot be reached; nothing is stored.
        """
        ...

    def snapshot(self, key: SessionKey, limit: int) -> tuple[Session, list[Message]] | None:
        """Return a session and its newest ``limit`` messages, oldest first, as of one instant, or None."""
        ...

    def tail(self, key: SessionKey, limit: int, *, before_seq: int | None = None) -> list[Message]:
        """Return the newest ``limit`` messages (below ``before_seq``), oldest first."""
        ...

    def between(self, key: SessionKey, after_seq: int, upto_seq: int, *, limit: int = 10_000) -> list[Message]:
        """Return messages with ``after_seq < seq <= upto_seq``, oldest first."""
        ...


class SessionStore(Protocol):
    """The sessions themselves."""

    def get(self, key: SessionKey) -> Session | None:
        """Return the session, or None."""
        ...

    def set_participants(self, key: SessionKey, participants: Sequence[str], *, now: datetime) -> Session:
        """Replace the declared participants, with an audit event if they are others. Raises NotFoundError."""
        ...

    def resume(self, key: SessionKey, *, now: datetime) -> Session:
        """Open an ended session again. Raises NotFoundError."""
        ...

    def end(self, key: SessionKey, *, run_id: str, now: datetime) -> Run:
        """Mark ended and create, in the same transaction, the run over everything not yet given to one.

        If no message is new since the last run, that run is returned and nothing is created. Raises NotFoundError.
        """
        ...

    def save_summary(self, key: SessionKey, summary: Summary, *, expected_upto_seq: int) -> bool:
        """Store a summary if the stored one still covers ``expected_upto_seq``; tell whether it was stored."""
        ...

    def of_user(self, tenant: str, user_id: str) -> list[Session]:
        """Return all sessions of a user."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedSession:
    """What one round trip to the cache tells of a session."""

    session: Session | None
    """With its summary. None if it is not there, or not complete for the range that was asked."""
    messages: tuple[Message, ...] = ()
    """Oldest first; complete for the range that was asked."""
    fresh: bool = False
    """False if it was not written or checked for a while: compare ``last_seq`` with the database before use."""
    working: JsonObject = field(default_factory=dict)


class SessionCache(Protocol):
    """The disposable copy of sessions. Every method raises CacheUnavailableError.

    Only the scratch lives nowhere else; for all the rest the flows go to the database instead.
    """

    def load(self, key: SessionKey, limit: int) -> CachedSession:
        """Return session, newest ``limit`` messages, summary and scratch in one round trip."""
        ...

    def push(self, session: Session, messages: Sequence[Message]) -> None:
        """Add new messages behind the newest, in one round trip; a gap or a repeat leaves the list true or gone."""
        ...

    def refill(self, session: Session, messages: Sequence[Message]) -> None:
        """Replace the list by what the database gave, unless something newer was pushed meanwhile.

        Without messages, only what is known of the session is renewed, and the list stays if it is still the newest.
        """
        ...

    def drop(self, key: SessionKey) -> None:
        """Forget everything of a session, also what is still on its way."""
        ...

    def put_summary(self, key: SessionKey, summary: Summary) -> None:
        """Cache a summary."""
        ...

    def get_working(self, key: SessionKey) -> JsonObject | None:
        """Return the scratch, or None."""
        ...

    def put_working(self, key: SessionKey, values: JsonObject, ttl_seconds: int) -> None:
        """Replace the scratch."""
        ...

    def delete_working(self, key: SessionKey) -> None:
        """Remove the scratch."""
        ...

    def lock(self, key: SessionKey, token: str, seconds: int) -> bool:
        """Take the session's consolidation lock; False if another token holds it."""
        ...

    def unlock(self, key: SessionKey, token: str) -> None:
        """Release the lock if the token still holds it (compare and delete)."""
        ...

    def known_digests(self, key: SessionKey, digests: Sequence[str]) -> set[str]:
        """Return those of the digests that are cached as settled; an empty set is no proof."""
        ...

    def remember_digests(self, key: SessionKey, digests: Sequence[str], seconds: int) -> None:
        """Cache digests as settled."""
        ...
