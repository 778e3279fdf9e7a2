"""The disposable copy of sessions in Redis or Valkey: one server, a cluster, or inside this process.

What may be served is decided by the scripts (``cache_scripts``). Here: which keys, what goes in and comes out, and that
after a write that may have been lost this process asks the database until the list was refilled.
"""

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from redis.exceptions import ResponseError

from strata import config
from strata.clock import Clock
from strata.errors import CacheUnavailableError
from strata.model.messages import JsonObject, Message
from strata.model.sessions import Session, SessionKey, Summary
from strata.ports import CachedSession
from strata.storage import cache_entries as entries
from strata.storage import cache_scripts as scripts
from strata.storage.cache_clients import connector
from strata.storage.cache_link import CacheLink

SHUT_MS = 10_000
"""After an erasure nothing is stored for so long: whatever was under way has arrived by then."""
PATIENCE = 0.8
"""A write run later than this share of the timeout after it was sent counts as given up; clocks differ by less."""
MAX_DISTRUSTED = 10_000
WRONG_TYPE = "WRONGTYPE"


def open_cache(settings: config.Cache, clock: Clock, summary_seconds: int = 3_600) -> "RedisSessionCache":
    """Make the cache; no connection is opened before the first call.

    Raises:
        ConfigurationError: the URL is of no known kind, or ``memory://`` lacks its package.
    """
    link = CacheLink(connector(settings), settings, clock)
    return RedisSessionCache(link, settings, clock, summary_seconds=summary_seconds)


class RedisSessionCache:
    """Implements ``strata.ports.SessionCache``."""

    def __init__(self, link: CacheLink, settings: config.Cache, clock: Clock, *, summary_seconds: int = 3_600) -> None:
        self._link = link
        self._settings = settings
        self._clock = clock
        self._summary_seconds = summary_seconds
        self._verify_ms = int(settings.verify_seconds * 1000)
        self._patience_ms = int(settings.timeout_seconds * PATIENCE * 1000)
        self._distrusted: dict[str, None] = {}

    # --- messages

    def load(self, key: SessionKey, limit: int) -> CachedSession:
        """Return session, newest ``limit`` messages, summary and scratch in one round trip."""
        keys = _Keys(key)
        found = self._run(scripts.LOAD, (keys.header, keys.messages, keys.summary, keys.working), limit)
        working = json.loads(found[0]) if found and found[0] else {}
        if len(found) <= 1 or keys.header in self._distrusted:
            return CachedSession(session=None, working=working)
        _, last, header, fresh, summary, items = found
        session, is_whole = entries.session(key, int(last), header, summary)
        messages = tuple(entries.messages(items))
        if messages and messages[-1].seq != session.last_seq:
            return CachedSession(session=None, working=working)
        return CachedSession(session=session, messages=messages, fresh=bool(fresh) and is_whole, working=working)

    def push(self, session: Session, messages: Sequence[Message]) -> None:
        """Add new messages behind the newest, in one round trip; a gap or a repeat leaves the list true or gone."""
        keys = _Keys(session.key)
        newest = messages[-self._settings.list_length :]
        about = (entries.born(session), newest[0].seq, entries.header(session), self._settings.ttl_seconds)
        limits = (self._settings.list_length, self._now_ms(), self._verify_ms)
        try:
            self._run(
                scripts.PUSH, (keys.header, keys.messages), *about, *limits, entries.lines(newest), self._patience_ms
            )
        except CacheUnavailableError as error:
            self._distrust(keys, error)
            raise

    def refill(self, session: Session, messages: Sequence[Message]) -> None:
        """Replace the list by what the database gave, unless something newer was pushed meanwhile."""
        keys = _Keys(session.key)
        about = (entries.born(session), session.last_seq, entries.header(session), self._settings.ttl_seconds)
        limits = (self._now_ms(), self._verify_ms)
        summary = (entries.summary_entry(session.summary), session.summary.upto_seq) if session.summary else ("", 0)
        newest_first = entries.lines(messages[: -self._settings.list_length - 1 : -1])
        arguments = (*about, *limits, *summary, self._summary_seconds, newest_first, self._patience_ms)
        self._run(scripts.REFILL, (keys.header, keys.messages, keys.summary), *arguments)
        if messages:
            self._distrusted.pop(keys.header, None)

    def drop(self, key: SessionKey) -> None:
        """Forget everything of a session, also what is still on its way."""
        keys = _Keys(key)
        self._run(scripts.DROP, keys.content, SHUT_MS, -(-SHUT_MS // 1000))

    def put_summary(self, key: SessionKey, summary: Summary) -> None:
        """Cache a summary, unless one that covers more is there."""
        arguments = (entries.summary_entry(summary), summary.upto_seq, self._summary_seconds)
        self._run(scripts.PUT_SUMMARY, (_Keys(key).summary,), *arguments)

    # --- the scratch

    def get_working(self, key: SessionKey) -> JsonObject | None:
        """Return the scratch, or None."""
        text = self._link.call(lambda client: client.get(_Keys(key).working))
        return None if text is None else dict(json.loads(text))

    def put_working(self, key: SessionKey, values: JsonObject, ttl_seconds: int) -> None:
        """Replace the scratch."""
        text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
        self._link.call(lambda client: client.set(_Keys(key).working, text, ex=ttl_seconds))

    def delete_working(self, key: SessionKey) -> None:
        """Remove the scratch."""
        self._link.call(lambda client: client.delete(_Keys(key).working))

    # --- consolidation

    def lock(self, key: SessionKey, token: str, seconds: int) -> bool:
        """Take the session's consolidation lock, or prolong it; False if another token holds it."""
        return bool(self._link.run(scripts.LOCK, (_Keys(key).lock,), token, seconds))

    def unlock(self, key: SessionKey, token: str) -> None:
        """Release the lock if the token still holds it."""
        self._link.run(scripts.UNLOCK, (_Keys(key).lock,), token)

    def known_digests(self, key: SessionKey, digests: Sequence[str]) -> set[str]:
        """Return those of the digests that are cached as settled; an empty set is no proof."""
        if not digests:
            return set()
        scores = self._link.call(lambda client: client.zmscore(_Keys(key).digests, list(digests)))
        now = self._clock.now().timestamp()
        return {digest for digest, score in zip(digests, scores, strict=True) if score is not None and score > now}

    def remember_digests(self, key: SessionKey, digests: Sequence[str], seconds: int) -> None:
        """Cache digests as settled."""
        if digests:
            now = int(self._clock.now().timestamp())
            self._link.run(scripts.REMEMBER, (_Keys(key).digests,), now, now + seconds, seconds, *digests)

    def close(self) -> None:
        """Close the connections."""
        self._link.close()

    def _run(self, script: str, keys: Sequence[str], *arguments: Any) -> Any:  # noqa: ANN401 as the script has it
        """Run a script; if something else has taken one of its keys, clear them and run it again."""
        try:
            return self._link.run(script, keys, *arguments)
        except CacheUnavailableError as error:
            if WRONG_TYPE not in str(error.__cause__):
                raise
        self._link.call(lambda client: client.delete(*keys))
        return self._link.run(script, keys, *arguments)

    def _distrust(self, keys: "_Keys", error: CacheUnavailableError) -> None:
        """Use the list no more until it was refilled. A server that only refused to write may still delete."""
        if len(self._distrusted) >= MAX_DISTRUSTED:
            self._distrusted.pop(next(iter(self._distrusted)), None)
        self._distrusted[keys.header] = None
        if isinstance(error.__cause__, ResponseError):
            with suppress(CacheUnavailableError):
                self._link.call(lambda client: client.delete(keys.header, keys.messages))

    def _now_ms(self) -> int:
        return int(self._clock.now().timestamp() * 1000)


class _Keys:
    """The keys of one session. They share a hash tag, so that a cluster keeps them in one slot.

    The tag is a hash: ids of any characters can neither break it nor be mistaken for each other when joined.
    """

    def __init__(self, key: SessionKey) -> None:
        tenant = key.tenant.encode()
        joined = b"%d:%b%b" % (len(tenant), tenant, key.session_id.encode())
        tag = f"strata:{{{hashlib.sha256(joined).hexdigest()[:32]}}}"
        self.header = f"{tag}:header"
        self.messages = f"{tag}:messages"
        self.summary = f"{tag}:summary"
        self.working = f"{tag}:working"
        self.digests = f"{tag}:digests"
        self.lock = f"{tag}:lock"

    @property
    def content(self) -> tuple[str, ...]:
        """The header, and everything else that says something of the session."""
        return self.header, self.messages, self.summary, self.working, self.digests
