"""Append: the database first, in one transaction; then the cache, whose failure neither undoes nor fails anything."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from strata import config
from strata.clock import Clock
from strata.errors import CacheUnavailableError
from strata.model.messages import Appended, Message, NewMessage, Skipped
from strata.model.sessions import SessionKey
from strata.observability import count, logger
from strata.ports import MessageLog, SessionCache, SessionStore
from strata.sessions.admission import admitted
from strata.sessions.incoming import check_request, counted, sorted_out
from strata.tokens.counter import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendMessages:
    """Stores messages of a session; the first append opens it."""

    log: MessageLog
    sessions: SessionStore
    cache: SessionCache
    counter: TokenCounter
    settings: config.Session
    clock: Clock

    def __call__(
        self, key: SessionKey, user_id: str, agent_id: str, messages: Sequence[NewMessage], *, zone: str = "UTC"
    ) -> Appended:
        """Store 1–100 messages in order and return them with their seq.

        A message whose ``message_id`` is stored already with the same content is answered as it was the first time.

        Raises:
            ValidationError: a message cannot be stored as it is; nothing is.
            NotFoundError: the session is another user's, or the agent is neither its owner nor a participant.
            MessageConflictError: a ``message_id`` stands for other content; nothing is stored.
            StatementTooLargeError, StorageUnavailableError: as they say; nothing is stored.
        """
        check_request(key, user_id, messages, self.settings)
        kept, skipped = sorted_out(key, messages)
        ready = [counted(message, self.counter) for message in kept]
        if not ready:
            return self._nothing_stored(key, user_id, agent_id, skipped)
        appended = self.log.append(key, user_id, agent_id, ready, now=self.clock.now(), zone=zone)
        return replace(appended, skipped=skipped, cached=self._cached(appended))

    def _nothing_stored(self, key: SessionKey, user_id: str, agent_id: str, skipped: tuple[Skipped, ...]) -> Appended:
        session = self.sessions.get(key)
        last_seq = admitted(session, agent_id, user_id).last_seq if session else 0
        return Appended(session_id=key.session_id, messages=(), replayed=0, skipped=skipped, last_seq=last_seq)

    def _cached(self, appended: Appended) -> bool:
        run = _newest_run(appended)
        if appended.session is None or not run:
            return True
        try:
            self.cache.push(appended.session, run)
        except CacheUnavailableError as error:
            logger.warning("cache.push_failed", extra={"reason": error.message, **error.fields})
            count("CacheWriteFailed")
            return False
        return True


def _newest_run(appended: Appended) -> list[Message]:
    """Return the messages of an answer that the session ends with: a replayed one may be older, and is not news."""
    by_seq = {message.seq: message for message in appended.messages}
    run: list[Message] = []
    seq = appended.last_seq
    while seq in by_seq:
        run.insert(0, by_seq[seq])
        seq -= 1
    return run
