"""What the trail says of policies and registrations, against what is stored: a right given in SQL alone is found.

A layer that nobody has set a policy for has the open one. Erasing a user removes the user's layer with its policy and
registrations, and the event names nobody: what was told of users' layers before it may be stored, or gone.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from strata.model.events import AuditEvent
from strata.model.memories import Collection, CollectionKind, Registration, collection_kind

_POLICY = ("read_agents", "write_agents", "memory_types", "conflict_policy")
_OPEN = (None, None, None, "last_writer_wins")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is not as the product left it."""

    kind: str
    """``event_changed``, ``event_missing``, ``event_reordered``, ``head_moved``, ``history_replaced``,
    ``memory_changed``, ``memory_missing``, ``memory_unknown``, ``version_changed``, ``version_missing``,
    ``version_unknown``, ``policy_changed``, ``policy_missing``, ``registration_changed``, ``registration_missing``,
    ``registration_unknown``."""
    memory_id: str = ""
    version: int = 0
    seq: int = 0
    collection: str = ""
    agent_id: str = ""


@dataclass(frozen=True, slots=True)
class Right:
    """A registration with what decides about it."""

    read: bool = False
    write: bool = False
    memory_types: tuple[str, ...] | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    decided_by: str = ""


@dataclass(slots=True)
class RightsWitness:
    """What may be stored, going by the events, ``None`` for nothing; what was seen is taken out."""

    policies: dict[str, set[tuple[Any, ...] | None]] = field(default_factory=dict)
    rights: dict[tuple[str, str], set[Right | None]] = field(default_factory=dict)

    def hear(self, event: AuditEvent) -> None:
        """Take one event into account."""
        name, told = event.collection, _told(event)
        if event.kind == "collection.put":
            self.policies[name] = {_terms(told[term] for term in _POLICY)}
        elif event.kind == "collection.deleted":
            self._forget(name)
        elif event.kind == "registration.put":
            self.rights[name, told["agent_id"]] = {_granted(event)}
        elif event.kind == "registration.revoked":
            self._revoke(event)
        elif event.kind == "user.erased":
            self._doubt_layers_of_users()

    def see_policy(self, stored: Collection) -> Finding | None:
        """Compare a stored policy with what was said of it."""
        told = self.policies.pop(stored.name, {None})
        found = _terms(getattr(stored, term) for term in _POLICY)
        if found in told or (found == _OPEN and None in told):
            return None
        return Finding(kind="policy_changed", collection=stored.name)

    def see_registration(self, stored: Registration, decided_by: str) -> Finding | None:
        """Compare a stored registration with what was said of it."""
        told = self.rights.pop((stored.collection, stored.agent_id), None)
        found = Right(stored.read, stored.write, stored.memory_types, stored.expires_at, stored.revoked_at, decided_by)
        if told is not None and found in told:
            return None
        kind = "registration_unknown" if told is None else "registration_changed"
        return Finding(kind=kind, collection=stored.collection, agent_id=stored.agent_id)

    def unseen(self) -> Iterator[Finding]:
        """Yield what was told of and not seen."""
        for name, policies in self.policies.items():
            if None not in policies:
                yield Finding(kind="policy_missing", collection=name)
        for (name, agent_id), rights in self.rights.items():
            if None not in rights:
                yield Finding(kind="registration_missing", collection=name, agent_id=agent_id)

    def _doubt_layers_of_users(self) -> None:
        """One of them has gone; nobody may know which."""
        for name, policies in self.policies.items():
            if collection_kind(name) is CollectionKind.USER:
                policies.add(None)
        for (name, _agent), rights in self.rights.items():
            if collection_kind(name) is CollectionKind.USER:
                rights.add(None)

    def _forget(self, collection: str) -> None:
        self.policies.pop(collection, None)
        self.rights = {place: right for place, right in self.rights.items() if place[0] != collection}

    def _revoke(self, event: AuditEvent) -> None:
        place = (event.collection, _told(event)["agent_id"])
        held = [right or Right() for right in self.rights.get(place, {None})]
        self.rights[place] = {replace(right, revoked_at=event.at, decided_by=event.actor) for right in held}


def _told(event: AuditEvent) -> Mapping[str, Any]:
    return event.detail


def _granted(event: AuditEvent) -> Right:
    told = _told(event)
    return Right(
        told["read"],
        told["write"],
        None if told["memory_types"] is None else tuple(told["memory_types"]),
        told["expires_at"] and datetime.fromisoformat(told["expires_at"]),
        decided_by=event.actor,
    )


def _terms(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)
