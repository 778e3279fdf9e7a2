"""The per-session scratch: the current question, the last step's result. In the cache only, never consolidated."""

import json
from dataclasses import dataclass

from strata import config
from strata.errors import CacheUnavailableError, PayloadTooLargeError
from strata.model.messages import JsonObject
from strata.model.sessions import SessionKey
from strata.ports import SessionCache
from strata.sessions.admission import admitted
from strata.sessions.incoming import refuse_unstorable
from strata.sessions.snapshot import Snapshot, Snapshots


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingMemory:
    """Reads and replaces the scratch. Every method raises NotFoundError, and CacheUnavailableError: it has no copy."""

    snapshots: Snapshots
    cache: SessionCache
    settings: config.Session

    def get(self, key: SessionKey, agent_id: str, *, user_id: str | None = None) -> JsonObject:
        """Return the scratch; empty if there is none, or its time is over."""
        snapshot = self._entered(key, agent_id, user_id)
        if snapshot.degraded:
            raise CacheUnavailableError
        return snapshot.working

    def put(
        self,
        key: SessionKey,
        agent_id: str,
        values: JsonObject,
        *,
        ttl_seconds: int | None = None,
        user_id: str | None = None,
    ) -> JsonObject:
        """Replace the scratch for ``ttl_seconds`` (default: the configured life).

        Raises:
            PayloadTooLargeError: larger than allowed, as JSON in UTF-8.
            ValidationError: it holds something that cannot be stored.
        """
        refuse_unstorable(values, "values")
        size = len(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode())
        if size > self.settings.working_max_bytes:
            raise PayloadTooLargeError(f"The scratch has {size} bytes; {self.settings.working_max_bytes} are allowed.")
        self._entered(key, agent_id, user_id)
        self.cache.put_working(key, values, ttl_seconds or self.settings.working_ttl_seconds)
        return values

    def delete(self, key: SessionKey, agent_id: str, *, user_id: str | None = None) -> None:
        """Remove the scratch."""
        self._entered(key, agent_id, user_id)
        self.cache.delete_working(key)

    def _entered(self, key: SessionKey, agent_id: str, user_id: str | None) -> Snapshot:
        snapshot = self.snapshots.take(key, 1)
        admitted(snapshot.session, agent_id, user_id)
        return snapshot
