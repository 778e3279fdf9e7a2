"""A session and its newest messages: from the cache in one round trip where it is known to be true, else the database.

A cached list that was not written for a while is compared with the database first: a push may have been lost. A miss
refills the cache. Whatever the cache does, the answer is right.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from strata.errors import CacheUnavailableError
from strata.model.context import Degraded
from strata.model.messages import JsonObject, Message
from strata.model.sessions import Session, SessionKey
from strata.observability import count, logger
from strata.ports import CachedSession, MessageLog, SessionCache, SessionStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What a reader gets; ``session`` is None if there is none."""

    session: Session | None
    messages: tuple[Message, ...] = ()
    working: JsonObject = field(default_factory=dict)
    degraded: tuple[Degraded, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshots:
    """Takes snapshots of sessions."""

    log: MessageLog
    sessions: SessionStore
    cache: SessionCache
    list_length: int
    """Messages the cache keeps of a session; more are always read from the database."""

    def take(self, key: SessionKey, limit: int) -> Snapshot:
        """Return the session with its newest ``limit`` messages (at least 1), oldest first, and its scratch.

        Raises:
            StorageUnavailableError: the database is needed and cannot be reached.
        """
        try:
            cached = self.cache.load(key, min(limit, self.list_length))
        except CacheUnavailableError as error:
            return self._without_cache(key, limit, error)
        if cached.session is None or limit > self.list_length:
            return self._read(key, limit, cached.working)
        if not cached.fresh:
            return self._compared(key, limit, cached, cached.session)
        return Snapshot(session=cached.session, messages=cached.messages, working=cached.working)

    def _compared(self, key: SessionKey, limit: int, cached: CachedSession, known: Session) -> Snapshot:
        session = self.sessions.get(key)
        if session is None or (session.last_seq, session.created_at) != (known.last_seq, known.created_at):
            return self._read(key, limit, cached.working)
        self._refill(session, ())
        return Snapshot(session=session, messages=cached.messages, working=cached.working)

    def _read(self, key: SessionKey, limit: int, working: JsonObject) -> Snapshot:
        snapshot = self._from_database(key, limit)
        if snapshot.session is not None:
            self._refill(snapshot.session, snapshot.messages)
        return replace(snapshot, working=working)

    def _without_cache(self, key: SessionKey, limit: int, error: CacheUnavailableError) -> Snapshot:
        logger.warning("cache.load_failed", extra={"reason": error.message, **error.fields})
        count("CacheReadFailed")
        lost = Degraded(part="working", code=error.code, detail=error.message)
        return replace(self._from_database(key, limit), degraded=(lost,))

    def _from_database(self, key: SessionKey, limit: int) -> Snapshot:
        found = self.log.snapshot(key, limit)
        if found is None:
            return Snapshot(session=None)
        session, messages = found
        return Snapshot(session=session, messages=tuple(messages))

    def _refill(self, session: Session, messages: Sequence[Message]) -> None:
        try:
            self.cache.refill(session, messages)
        except CacheUnavailableError as error:
            logger.warning("cache.refill_failed", extra={"reason": error.message, **error.fields})
            count("CacheWriteFailed")
