"""A user's data in portions of one fixed order: an export may stop behind any of them and go on there later.

The order is that of the parts and, inside each, of keys that never change. So what is there all the while comes once,
whatever is written or removed in between. An entry that has steps (a session its messages, a memory its versions) is
given with those it had when it was reached.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any

from strata.clock import Clock
from strata.errors import ValidationError
from strata.maintenance.copies import told_by_providers
from strata.model.agents import ProviderName
from strata.model.memories import Memory
from strata.model.messages import JsonObject
from strata.model.sessions import Session
from strata.ports import Archive, MessageLog, Provider, SessionStore, UserStore

PARTS = ("sessions", "memories", "quarantined", "provider_copies")
STEPS = {"sessions": "messages", "memories": "history"}
"""Parts whose entries have steps, and the name of those."""
MESSAGES = 1_000
HISTORIES = 100
"""How many are read at once."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an export stands: behind an entry, or within one, behind a step of those up to ``upto``."""

    part: str = PARTS[0]
    key: tuple[str, ...] = ()
    step: int = 0
    upto: int = 0

    def entered(self, key: tuple[str, ...], upto: int = 0) -> "Place | None":
        """Return where to begin with an entry; None if it is behind us."""
        if key > self.key:
            return Place(self.part, key, 0, upto)
        return self if key == self.key and self.step < self.upto else None

    def cursor(self) -> str:
        """Return the place as a caller sends it back."""
        text = json.dumps([self.part, self.key, self.step, self.upto], ensure_ascii=False, separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def place_of(cursor: str) -> Place:
    """Return the place of a cursor; the beginning for an empty one. Raises ValidationError."""
    if not cursor:
        return Place()
    try:
        part, key, step, upto = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError, RecursionError):
        raise _no_cursor() from None
    keyed = isinstance(key, list) and all(isinstance(name, str) for name in key)
    counted = type(step) is int and type(upto) is int and 0 <= step <= upto
    if part not in PARTS or not keyed or not counted:
        raise _no_cursor()
    return Place(part, tuple(key), step, upto)


@dataclass(frozen=True, slots=True)
class Portion:
    """The least that is given out: an entry without its steps, or one step of it."""

    place: Place
    entry: JsonObject
    step: JsonObject | None = None


class Portions:
    """Reads what is kept of a user."""

    def __init__(
        self,
        users: UserStore,
        sessions: SessionStore,
        messages: MessageLog,
        archive: Archive,
        providers: Mapping[ProviderName, Provider],
        clock: Clock,
    ) -> None:
        self._clock = clock
        self._users = users
        self._sessions = sessions
        self._messages = messages
        self._archive = archive
        self._providers = providers

    def __call__(self, tenant: str, user_id: str, after: Place, pending: list[str]) -> Iterator[Portion]:
        """Yield what comes behind a place; what providers did not tell is added to ``pending``."""
        parts = {"sessions": self._of_sessions, "memories": self._of_memories, "quarantined": self._of_quarantine}
        for name in PARTS[PARTS.index(after.part) :]:
            begin = after if name == after.part else Place(name)
            if name in parts:
                yield from parts[name](tenant, user_id, begin)
            else:
                yield from self._of_copies(tenant, user_id, begin, pending)

    def _of_sessions(self, tenant: str, user_id: str, after: Place) -> Iterator[Portion]:
        for session in sorted(self._sessions.of_user(tenant, user_id), key=_session_key):
            place = after.entered(_session_key(session), session.last_seq)
            if place is not None:
                entry = {**plain(asdict(session)), "messages": []}
                yield from _stepped(entry, self._messages_of(session, place), place, is_new=place is not after)

    def _messages_of(self, session: Session, place: Place) -> Iterator[tuple[int, JsonObject]]:
        seq = place.step
        while found := self._messages.between(session.key, seq, place.upto, limit=MESSAGES):
            yield from ((message.seq, plain(asdict(message))) for message in found)
            seq = found[-1].seq

    def _of_memories(self, tenant: str, user_id: str, after: Place) -> Iterator[Portion]:
        """What has run out is gone for every reader at once; what was deleted is still kept."""
        found = sorted(self._users.memories(tenant, user_id), key=lambda memory: memory.memory_id)
        now = self._clock.now()
        kept = (memory for memory in found if memory.expires_at is None or memory.expires_at > now)
        places = ((memory, after.entered((memory.memory_id,), memory.version)) for memory in kept)
        ahead = ((memory, place) for memory, place in places if place is not None)
        while batch := list(islice(ahead, HISTORIES)):
            histories = self._archive.histories(tenant, [memory.memory_id for memory, _place in batch])
            for memory, place in batch:
                versions = [one for one in histories[memory.memory_id] if place.step < one.version <= place.upto]
                steps = [(one.version, plain(asdict(one))) for one in versions]
                yield from _stepped(_memory(memory), steps, place, is_new=place is not after)

    def _of_quarantine(self, tenant: str, user_id: str, after: Place) -> Iterator[Portion]:
        texts = self._users.quarantined(tenant, user_id)
        yield from _unstepped(after, [((text.quarantine_id,), plain(asdict(text))) for text in texts])

    def _of_copies(self, tenant: str, user_id: str, after: Place, pending: list[str]) -> Iterator[Portion]:
        told, unheard = told_by_providers(self._users.copies(tenant, user_id), self._providers, tenant, user_id)
        pending.extend(unheard)
        yield from _unstepped(after, [(_copy_key(copy), copy) for copy in told])


def plain(value: Any) -> Any:  # noqa: ANN401 any JSON value
    """Return a value as JSON has it."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _stepped(
    entry: JsonObject, steps: Iterable[tuple[int, JsonObject]], place: Place, *, is_new: bool
) -> Iterator[Portion]:
    if is_new:
        yield Portion(place, entry)
    for number, step in steps:
        yield Portion(replace(place, step=number), entry, step)


def _unstepped(after: Place, entries: Sequence[tuple[tuple[str, ...], JsonObject]]) -> Iterator[Portion]:
    for key, entry in sorted(entries, key=lambda keyed: keyed[0]):
        place = after.entered(key)
        if place is not None:
            yield Portion(place, entry)


def _session_key(session: Session) -> tuple[str, ...]:
    return plain(session.created_at), session.key.session_id


def _copy_key(copy: JsonObject) -> tuple[str, ...]:
    return tuple(str(copy[name]) for name in ("provider", "collection", "memory_id", "external_id"))


def _memory(memory: Memory) -> JsonObject:
    fields: dict[str, Any] = {**plain(asdict(memory)), "history": []}
    del fields["embedding"]
    return fields


def _no_cursor() -> ValidationError:
    return ValidationError("This is not where an export stopped.", fields={"field": "after"})
