"""The rolling summary: made when a session has ended, from the one before and what was said since.

Each portion of messages is one model call and one step forward: the new summary is stored with the seq it reaches, if
the stored one is still the one it continues. A failed, blank or oversized answer changes nothing; the next end tries
again from there. Messages are never removed because they were summarised.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from strata import config
from strata.clock import Clock
from strata.errors import CacheUnavailableError, TransientError
from strata.model.messages import Message
from strata.model.sessions import Session, SessionKey, Summary
from strata.observability import count, logger
from strata.ports import Chat, MessageLog, SessionCache, SessionStore
from strata.sessions import folding
from strata.sessions.answered import summary_of
from strata.tokens.counter import TokenCounter

MAX_CALLS = 4
"""Model calls after one end; a longer backlog is worked off at later ends."""
MAX_MESSAGES = 1_000
MIN_SECONDS = 1.0
"""With less time left, no further call is begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummariseSession:
    """Brings a session's summary up to date, if that is due. Nothing of it may hold up what it follows."""

    log: MessageLog
    sessions: SessionStore
    cache: SessionCache
    chat: Chat
    counter: TokenCounter
    settings: config.Session
    window: config.Window
    timeout_seconds: float
    """For all model calls after one end together."""
    clock: Clock

    def __call__(self, key: SessionKey) -> Summary | None:
        """Return the new summary; None if none was due, or none could be made. Raises nothing."""
        try:
            session = self.sessions.get(key)
            return self._brought_up(session) if session and self._is_due(session) else None
        except TransientError as error:
            _note_failure(error.code)
        return None

    def _is_due(self, session: Session) -> bool:
        uncovered = session.last_seq - _reach(session.summary)
        return bool(self.chat.model) and uncovered >= self.settings.summary_min_messages

    def _brought_up(self, session: Session) -> Summary | None:
        summary, made = session.summary, None
        messages = self.log.between(session.key, _reach(summary), session.last_seq, limit=MAX_MESSAGES)
        give_up_at = self.clock.monotonic() + self.timeout_seconds
        for portion in islice(folding.portions(messages), MAX_CALLS):
            left = give_up_at - self.clock.monotonic()
            folded = self._folded(summary, portion, left) if left >= MIN_SECONDS else None
            if folded is None or not self._stored(session.key, summary, folded):
                break
            summary = made = folded
        return made

    def _folded(self, before: Summary | None, portion: Sequence[Message], seconds: float) -> Summary | None:
        try:
            reply = self.chat.complete(
                folding.request(before, portion, self.counter),
                max_tokens=self.window.summary_tokens,
                timeout_seconds=seconds,
            )
        except TransientError as error:
            _note_failure(error.code)
            return None
        text = summary_of(reply)
        tokens = self.counter.count(text)
        if not text or tokens > self.window.summary_tokens:
            _note_failure("unusable")
            return None
        return Summary(
            text=text, tokens=tokens, upto_seq=portion[-1].seq, created_at=self.clock.now(), model=reply.model
        )

    def _stored(self, key: SessionKey, before: Summary | None, summary: Summary) -> bool:
        if not self.sessions.save_summary(key, summary, expected_upto_seq=_reach(before)):
            return False
        try:
            self.cache.put_summary(key, summary)
        except CacheUnavailableError as error:
            logger.warning("cache.summary_failed", extra={"reason": error.message})
        return True


def _reach(summary: Summary | None) -> int:
    return summary.upto_seq if summary else 0


def _note_failure(code: str) -> None:
    logger.warning("summary.failed", extra={"code": code})
    count("SummaryFailed")
