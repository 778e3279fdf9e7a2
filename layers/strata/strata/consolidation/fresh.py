"""Step 2, fresh: the messages that no run has processed, claimed before anybody is asked about them.

The database decides (``RunStore.claim_digests``). The cache stands in front of it for one question only: have all of
these very messages been settled? A yes is exact, because its marks name the message as well as the text; a no, a
flushed or a failing cache means nothing but that the database is asked.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta

from strata.clock import Clock
from strata.config import Consolidation
from strata.consolidation.claim import Hold
from strata.consolidation.conversation import Conversation, conversation
from strata.errors import CacheUnavailableError
from strata.model.messages import Message
from strata.model.runs import Run
from strata.model.sessions import SessionKey
from strata.observability import logger
from strata.ports import MessageLog, RunStore, SessionCache, SessionStore

PAGE = 1_000


class Fresh:
    """Step 2."""

    def __init__(
        self,
        runs: RunStore,
        log: MessageLog,
        sessions: SessionStore,
        cache: SessionCache,
        settings: Consolidation,
        clock: Clock,
        redact: Callable[[str], str],
    ) -> None:
        self._runs = runs
        self._log = log
        self._sessions = sessions
        self._cache = cache
        self._settings = settings
        self._clock = clock
        self._redact = redact

    def __call__(self, hold: Hold) -> Conversation:
        """Return what is to be judged: the run's new messages, within what was said around them."""
        messages = self._messages(hold.run)
        claimed = [] if self._are_settled(hold, messages) else self._claim(hold, messages)
        hold.counts |= {"messages": len(messages), "new": len(claimed)}
        return self._conversation(hold.key, messages, claimed)

    def preview(self, run: Run) -> Conversation:
        """Return the same for all messages of a run, without claiming any."""
        messages = self._messages(run)
        return self._conversation(SessionKey(tenant=run.tenant, session_id=run.session_id), messages, messages)

    def remember(self, hold: Hold, talk: Conversation) -> None:
        """Put the marks of settled messages into the cache, if it can be reached."""
        seconds = self._settings.digest_days * 86_400
        try:
            self._cache.remember_digests(hold.key, [_mark(message) for message in talk.fresh], seconds)
        except CacheUnavailableError:
            logger.warning("fresh.not_cached", extra={"run_id": hold.run.run_id})

    def _claim(self, hold: Hold, messages: Sequence[Message]) -> list[Message]:
        now = self._clock.now()
        since = now - timedelta(days=self._settings.digest_days)
        return self._runs.claim_digests(hold.lease, hold.run, messages, since=since, now=now)

    def _are_settled(self, hold: Hold, messages: Sequence[Message]) -> bool:
        if hold.is_second_judgement:
            return False
        marks = [_mark(message) for message in messages]
        try:
            return self._cache.known_digests(hold.key, marks) >= set(marks)
        except CacheUnavailableError:
            return False

    def _messages(self, run: Run) -> list[Message]:
        key = SessionKey(tenant=run.tenant, session_id=run.session_id)
        found: list[Message] = []
        after = run.from_seq - 1
        while page := self._log.between(key, after, run.upto_seq, limit=PAGE):
            found += page
            after = page[-1].seq
        return found

    def _conversation(self, key: SessionKey, messages: Sequence[Message], claimed: Sequence[Message]) -> Conversation:
        session = self._sessions.get(key)
        before: Sequence[Message] = ()
        if claimed and self._settings.context_messages:
            before = self._log.tail(key, self._settings.context_messages, before_seq=messages[0].seq)
        zone = session.zone if session is not None else "UTC"
        return conversation([*before, *messages], claimed, zone_name=zone, redact=self._redact)


def _mark(message: Message) -> str:
    return f"{message.seq}:{message.digest}"
