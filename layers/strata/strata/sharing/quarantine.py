"""Texts that tell a model what to do: set aside instead of written, until a person has read them.

A release goes the normal way, with the rights of the agent the text came from: looked for first, inserted with its
session and run, or applied to the memory it was to change. The decision and what it writes are one transaction with
one event: nothing comes in that another reviewer has just rejected, and nothing is released that is not there.
"""

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from strata.clock import Clock
from strata.errors import ConflictError, ForbiddenError, InputError, NotFoundError, QuarantinedError
from strata.model.memories import AccessPolicy, Source
from strata.model.messages import JsonObject
from strata.model.quarantine import Quarantined, Review, ReviewState
from strata.policy.names import derived_id
from strata.ports import Access, CollectionStore, QuarantineStore
from strata.sharing.library import Library
from strata.sharing.screening import Proposed
from strata.sharing.units import SESSION_TAG, USER_TAG, NewUnit, UnitChange

INSTRUCTS = "instructs"
BY_ADMIN = "by_admin"
_OWN: dict[type[NewUnit | UnitChange], frozenset[str]] = {
    NewUnit: frozenset({"memory_type", "content", "memory_id"}),
    UnitChange: frozenset({"content", "expected_version", "key", "reason"}),
}
"""Fields of a unit or a change that the text in quarantine holds itself, or that mean nothing later."""


class Screening:
    """The library's screen: keeps a text that gives orders for review, and refuses it."""

    def __init__(self, store: QuarantineStore, instructs: Callable[[str], bool], clock: Clock) -> None:
        self._store = store
        self._instructs = instructs
        self._clock = clock

    def __call__(self, access: Access, proposed: Proposed) -> None:
        """Let a text pass.

        Raises:
            QuarantinedError: it tells a model what to do; it is kept for review, once.
            NotFoundError: it does, and the agent may not write there.
        """
        if not self._instructs(proposed.content):
            return
        item = set_aside(access, proposed, self._clock.now())
        self._store.keep(access, item, now=item.created_at)
        raise QuarantinedError(fields={"quarantine_id": item.quarantine_id})


class Reviews:
    """What administrators do with the quarantine."""

    def __init__(self, store: QuarantineStore, library: Library, collections: CollectionStore, clock: Clock) -> None:
        self._store = store
        self._library = library
        self._collections = collections
        self._clock = clock

    def page(
        self, access: Access, *, limit: int, state: ReviewState | None = None, before: str = ""
    ) -> list[Quarantined]:
        """Return texts, newest first. Raises ForbiddenError."""
        _require_admin(access)
        return self._store.page(access.tenant, limit=limit, state=state, before=before)

    def get(self, access: Access, quarantine_id: str) -> Quarantined:
        """Return one text. Raises ForbiddenError, NotFoundError."""
        _require_admin(access)
        item = self._store.get(access.tenant, quarantine_id)
        if item is None:
            raise NotFoundError
        return item

    def release(self, access: Access, quarantine_id: str) -> Quarantined:
        """Write a text after all, as its author; repeating it changes nothing.

        Raises:
            ForbiddenError, NotFoundError.
            ConflictError: it was rejected, its author may not write there (any more), or what it was to change is gone.
        """
        item = self.get(access, quarantine_id)
        if item.state is ReviewState.WAITING:
            self._let_in(access, item)
            item = self.get(access, quarantine_id)
        if item.state is not ReviewState.RELEASED:
            raise ConflictError(f"The text was {item.state.value} by {item.decided_by}.")
        return item

    def reject(self, access: Access, quarantine_id: str) -> Quarantined:
        """Keep a text out for good. Raises ForbiddenError, NotFoundError; ConflictError if it was released."""
        _require_admin(access)
        return self._store.decide(
            access.tenant, quarantine_id, ReviewState.REJECTED, actor=access.agent_id, now=self._clock.now()
        )

    def _let_in(self, access: Access, item: Quarantined) -> None:
        """Write a waiting text and decide about it in one; nothing, if another reviewer decided in the meantime."""
        if not self._may_write(item):
            raise ConflictError("The agent may not write there.", hint="Grant it the right, then release again.")
        try:
            self._write(item, Review(quarantine_id=item.quarantine_id, reviewer=access.agent_id))
        except (NotFoundError, InputError, ConflictError) as error:
            if self.get(access, item.quarantine_id).state is not ReviewState.WAITING:
                return
            if isinstance(error, ConflictError):
                raise
            raise ConflictError("The text can no longer be written there.") from None

    def _may_write(self, item: Quarantined) -> bool:
        if item.unit.get(BY_ADMIN):
            return True
        now = self._clock.now()
        held = self._collections.registration(item.tenant, item.collection, item.agent_id, now=now)
        return held is not None and held.write and (held.memory_types is None or item.memory_type in held.memory_types)

    def _write(self, item: Quarantined, review: Review) -> None:
        author = Access(tenant=item.tenant, agent_id=item.agent_id, admin=bool(item.unit.get(BY_ADMIN)))
        if item.unit.get("changes"):
            change = self._made_on_the_present(author, item)
            self._library.update(author, item.collection, item.memory_id, change, review=review)
        else:
            self._library.insert(author, item.collection, unit_of(item), review=review)

    def _made_on_the_present(self, author: Access, item: Quarantined) -> UnitChange:
        """Return the change with the version that the memory has by now: where blind changes are refused, this is none.

        Raises NotFoundError.
        """
        present = self._library.get(author, item.collection, item.memory_id)
        return replace(change_of(item), expected_version=present.version)


def set_aside(access: Access, proposed: Proposed, now: datetime) -> Quarantined:
    """Return what is kept of a text that an agent wanted to write."""
    unit = proposed.unit
    tags = unit.metadata or {}
    place = (access.agent_id, proposed.collection, proposed.memory_type, proposed.memory_id)
    return Quarantined(
        tenant=access.tenant,
        quarantine_id=derived_id(*place, proposed.content),
        collection=proposed.collection,
        memory_type=proposed.memory_type,
        content=proposed.content,
        reason=INSTRUCTS,
        agent_id=access.agent_id,
        session_id=str(tags.get(SESSION_TAG) or ""),
        user_id=proposed.user_id or str(tags.get(USER_TAG) or ""),
        memory_id=proposed.memory_id,
        unit={**noted(unit), **({BY_ADMIN: True} if access.admin else {})},
        created_at=now,
    )


def noted(unit: NewUnit | UnitChange) -> JsonObject:
    """Return, as JSON, what a unit or a change holds besides its text."""
    given = {one.name: getattr(unit, one.name) for one in fields(unit) if one.name not in _OWN[type(unit)]}
    values = {name: _plain(value) for name, value in given.items() if value is not None}
    return values | ({"changes": True} if isinstance(unit, UnitChange) else {})


def unit_of(item: Quarantined) -> NewUnit:
    """Return the unit of a released text."""
    return NewUnit(
        memory_type=item.memory_type,
        content=item.content,
        memory_id=item.memory_id or None,
        **_given(NewUnit, item.unit),
    )


def change_of(item: Quarantined) -> UnitChange:
    """Return the change of a released text."""
    return UnitChange(content=item.content, reason="released from quarantine", **_given(UnitChange, item.unit))


def _given(kind: type[NewUnit] | type[UnitChange], unit: JsonObject) -> dict[str, Any]:
    names = {one.name for one in fields(kind)} - _OWN[kind]
    return {name: _restored(name, value) for name, value in unit.items() if name in names}


def _plain(value: object) -> object:
    if isinstance(value, AccessPolicy):
        return {"read_agents": value.read_agents, "write_agents": value.write_agents}
    return value.isoformat() if isinstance(value, datetime) else value


def _restored(name: str, value: Any) -> object:  # noqa: ANN401 any JSON value
    if name == "policy":
        return AccessPolicy(**{key: None if names is None else tuple(names) for key, names in value.items()})
    if name == "sources":
        return tuple(Source(session_id=session_id, seq=seq) for session_id, seq in value)
    return datetime.fromisoformat(value) if name == "said_at" else value


def _require_admin(access: Access) -> None:
    if not (access.admin or access.system):
        raise ForbiddenError
