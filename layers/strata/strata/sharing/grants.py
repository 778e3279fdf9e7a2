"""Grants: what an agent may do in a collection. It registers itself within the policy, or an administrator does."""

from collections.abc import Sequence
from datetime import datetime

from strata.clock import Clock
from strata.errors import NotFoundError, UnknownMemoryTypeError, ValidationError
from strata.model.events import NewEvent
from strata.model.memories import Registration
from strata.policy.access import exceeds
from strata.policy.names import checked_collection, checked_id
from strata.policy.retention import checked_instant
from strata.ports import Access, CollectionStore, EventLog, TypeStore


class Grants:
    """Registrations of agents."""

    def __init__(self, collections: CollectionStore, types: TypeStore, events: EventLog, clock: Clock) -> None:
        self._collections = collections
        self._types = types
        self._events = events
        self._clock = clock

    def register(
        self,
        access: Access,
        collection: str,
        agent_id: str,
        *,
        read: bool,
        write: bool,
        memory_types: Sequence[str] | None = None,
        expires_at: str | datetime | None = None,
    ) -> Registration:
        """Register an agent, and return what holds.

        Raises:
            NotFoundError: no such collection, more than its policy allows, or another agent's registration.
            ValidationError: an administrator asks for more than the policy allows; or an end that has passed.
            UnknownMemoryTypeError: no such type.
        """
        wanted = Registration(
            tenant=access.tenant,
            collection=checked_collection(collection),
            agent_id=checked_id(agent_id, "agent_id"),
            read=read,
            write=write,
            memory_types=self._checked_types(memory_types),
            expires_at=self._checked_end(expires_at),
        )
        self._require_own(access, collection, agent_id, "register")
        self._explain_to_admin(access, wanted)
        self._collections.register(wanted, actor=access.agent_id, now=self._clock.now())
        return self.get(access, collection, agent_id)

    def get(self, access: Access, collection: str, agent_id: str) -> Registration:
        """Return what an agent may do at this moment. Raises NotFoundError."""
        self._require_own(access, collection, agent_id, "registration")
        held = self._collections.registration(access.tenant, collection, agent_id, now=self._clock.now())
        if held is None:
            raise NotFoundError
        return held

    def revoke(self, access: Access, collection: str, agent_id: str) -> None:
        """Revoke with effect on the next statement. Raises NotFoundError."""
        self._require_own(access, collection, agent_id, "revoke")
        now = self._clock.now()
        if not self._collections.revoke(access.tenant, collection, agent_id, actor=access.agent_id, now=now):
            raise NotFoundError

    def _require_own(self, access: Access, collection: str, agent_id: str, operation: str) -> None:
        """Another agent's registrations do not exist for an agent; asking is a refusal."""
        if access.admin or access.system or access.agent_id == agent_id:
            return
        refusal = NewEvent(
            kind="access.refused",
            actor=access.agent_id,
            collection=collection,
            detail={"operation": operation, "agent_id": agent_id},
        )
        self._events.record(access.tenant, refusal, now=self._clock.now())
        raise NotFoundError

    def _explain_to_admin(self, access: Access, wanted: Registration) -> None:
        present = self._collections.get(wanted.tenant, wanted.collection) if access.admin or access.system else None
        if present is not None and exceeds(wanted, present):
            raise ValidationError("This is more than the collection's policy allows.", hint="Change the policy first.")

    def _checked_types(self, names: Sequence[str] | None) -> tuple[str, ...] | None:
        if names is None:
            return None
        unknown = [name for name in names if self._types.named(name) is None]
        if unknown:
            raise UnknownMemoryTypeError(fields={"memory_types": unknown})
        return tuple(dict.fromkeys(names))

    def _checked_end(self, value: str | datetime | None) -> datetime | None:
        if value is None:
            return None
        ends = checked_instant(value, "expires_at")
        if ends <= self._clock.now():
            raise ValidationError("expires_at has passed.", fields={"field": "expires_at"})
        return ends
