"""Everything that is stored about a user, as one document with a manifest."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from strata.clock import Clock
from strata.errors import ForbiddenError
from strata.maintenance.copies import told_by_providers
from strata.model.agents import ProviderName
from strata.model.memories import Memory
from strata.model.sessions import Session
from strata.policy.names import checked_id
from strata.ports import Access, Archive, MessageLog, Provider, SessionStore, UserStore

PAGE = 1_000


class Export:
    """Gives a user's data out; for administrators."""

    def __init__(
        self,
        users: UserStore,
        sessions: SessionStore,
        messages: MessageLog,
        archive: Archive,
        providers: Mapping[ProviderName, Provider],
        clock: Clock,
    ) -> None:
        self._users = users
        self._sessions = sessions
        self._messages = messages
        self._archive = archive
        self._providers = providers
        self._clock = clock

    def export(self, access: Access, user_id: str) -> dict[str, Any]:
        """Return ``sessions``, ``memories`` with history, ``quarantined``, ``provider_copies``, and the ``manifest``.

        The manifest counts each part and has its SHA-256; ``pending`` names the copies whose text could not be had
        from their provider. Raises ForbiddenError, ValidationError.
        """
        if not (access.admin or access.system):
            raise ForbiddenError
        checked_id(user_id, "user_id")
        kept = self._users.copies(access.tenant, user_id)
        copies, pending = told_by_providers(kept, self._providers, access.tenant, user_id)
        parts: dict[str, list[Any]] = {
            "sessions": [self._session(session) for session in self._sessions.of_user(access.tenant, user_id)],
            "memories": self._memories(access.tenant, self._users.memories(access.tenant, user_id)),
            "quarantined": [_plain(asdict(text)) for text in self._users.quarantined(access.tenant, user_id)],
            "provider_copies": copies,
        }
        manifest = {
            "user_id": user_id,
            "made_at": self._clock.now().isoformat(),
            "pending": pending,
            "parts": {name: {"count": len(part), "sha256": _digest(part)} for name, part in parts.items()},
        }
        return {"manifest": manifest, **parts}

    def _session(self, session: Session) -> dict[str, Any]:
        described: dict[str, Any] = _plain(asdict(session))
        after, found = 0, self._messages.between(session.key, 0, session.last_seq, limit=PAGE)
        described["messages"] = []
        while found:
            described["messages"] += [_plain(asdict(message)) for message in found]
            after = found[-1].seq
            found = self._messages.between(session.key, after, session.last_seq, limit=PAGE)
        return described

    def _memories(self, tenant: str, memories: Sequence[Memory]) -> list[Any]:
        histories = self._archive.histories(tenant, [memory.memory_id for memory in memories])
        return [
            {**_memory(memory), "history": [_plain(asdict(step)) for step in histories[memory.memory_id]]}
            for memory in memories
        ]


def _memory(memory: Memory) -> dict[str, Any]:
    fields: dict[str, Any] = _plain(asdict(memory))
    del fields["embedding"]
    return fields


def _plain(value: Any) -> Any:  # noqa: ANN401 any JSON value
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _digest(part: Sequence[Any]) -> str:
    text = json.dumps(part, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
