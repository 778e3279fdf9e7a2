"""Everything that is stored about a user, with a manifest: one document, or several where one would be too large."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strata.clock import Clock
from strata.errors import ForbiddenError
from strata.maintenance.portions import PARTS, STEPS, Place, Portion, Portions, place_of
from strata.model.agents import ProviderName
from strata.model.messages import JsonObject
from strata.policy.names import checked_id
from strata.ports import Access, Archive, MessageLog, Provider, SessionStore, UserStore


@dataclass(slots=True)
class Sheet:
    """One document in the making."""

    most_bytes: int | None
    parts: dict[str, list[JsonObject]] = field(default_factory=lambda: {name: [] for name in PARTS})
    last: Place | None = None
    weight: int = 0

    def takes(self, portion: Portion) -> bool:
        """Write a portion down and tell so; or leave it, if it is too much. The first is never too much."""
        is_new = self.last is None or (self.last.part, self.last.key) != (portion.place.part, portion.place.key)
        weight = self.weight + (weight_of(portion.entry) if is_new else 0) + weight_of(portion.step)
        if self.last is not None and self.most_bytes is not None and weight > self.most_bytes:
            return False
        self.last, self.weight = portion.place, weight
        self._write(portion, is_new=is_new)
        return True

    def _write(self, portion: Portion, *, is_new: bool) -> None:
        entries, steps = self.parts[portion.place.part], STEPS.get(portion.place.part, "")
        if is_new:
            entries.append({**portion.entry, steps: []} if steps else portion.entry)
        if portion.step is not None:
            entries[-1][steps].append(portion.step)


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
        self._portions = Portions(users, sessions, messages, archive, providers, clock)
        self._clock = clock

    def export(self, access: Access, user_id: str, *, after: str = "", most_bytes: int | None = None) -> dict[str, Any]:
        """Return ``sessions``, ``memories`` with history, ``quarantined``, ``provider_copies``, and the ``manifest``.

        Memories that have run out are left out. The manifest counts each part and has its SHA-256; ``pending`` names
        the copies whose text could not be had from their provider. Where all would weigh more than ``most_bytes``, it
        is not ``complete``, and ``next`` is what the following call gives as ``after``: an entry that was begun goes on
        there with its further steps.

        Raises ForbiddenError, ValidationError.
        """
        if not (access.admin or access.system):
            raise ForbiddenError
        checked_id(user_id, "user_id")
        pending: list[str] = []
        sheet = Sheet(most_bytes)
        portions = self._portions(access.tenant, user_id, place_of(after), pending)
        complete = all(sheet.takes(portion) for portion in portions)
        manifest = {
            "user_id": user_id,
            "made_at": self._clock.now().isoformat(),
            "complete": complete,
            "pending": pending,
            "parts": {name: {"count": len(part), "sha256": _digest(part)} for name, part in sheet.parts.items()},
        }
        following = None if complete or sheet.last is None else sheet.last.cursor()
        return {"manifest": manifest, **sheet.parts, "next": following}


def weight_of(value: JsonObject | None) -> int:
    """Return the bytes that a value takes in an answer, at most: as JSON inside of JSON, in ASCII."""
    return 0 if value is None else len(json.dumps(json.dumps(value, ensure_ascii=False, separators=(",", ":"))))


def _digest(part: Sequence[Any]) -> str:
    text = json.dumps(part, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
