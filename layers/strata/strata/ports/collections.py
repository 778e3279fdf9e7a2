"""Memory types, collections, and what agents may do there."""

from datetime import datetime
from typing import Protocol

from strata.model.memories import (
    Collection,
    MemoryType,
    Registration,
)


class TypeStore(Protocol):
    """Memory types and their tables."""

    def all(self) -> dict[str, MemoryType]:
        """Return the types by name (kept warm; re-read when an unknown name is asked)."""
        ...

    def named(self, name: str) -> MemoryType | None:
        """Return one type; a name that is not known here is looked up."""
        ...

    def add(self, name: str, ttl_seconds: int, *, now: datetime) -> MemoryType:
        """Create a type and its table; operators only.

        Raises:
            ValidationError: not a name or not a life.
            ConflictError: it exists with another life.
        """
        ...


class CollectionStore(Protocol):
    """Policies of collections and registrations of agents."""

    def get(self, tenant: str, name: str) -> Collection | None:
        """Return a collection.

        Personal layers exist implicitly: ``user:`` open to the tenant's agents, ``agent:`` to its own agent alone.
        """
        ...

    def page(self, tenant: str, *, limit: int = 500, after: str = "") -> list[Collection]:
        """Return the collections that were made or written to, in the order of their names."""
        ...

    def put(self, collection: Collection, *, actor: str, now: datetime) -> Collection:
        """Create or change the policy."""
        ...

    def delete(self, tenant: str, name: str, *, actor: str, now: datetime) -> bool:
        """Delete a collection without live memories; False if there is none. Raises ConflictError."""
        ...

    def register(self, registration: Registration, *, actor: str, now: datetime) -> Registration:
        """Create or change a registration, checked against the collection's policy in the same transaction.

        Raises NotFoundError (also when refused; the refusal is an audit event).
        """
        ...

    def registration(self, tenant: str, name: str, agent_id: str, *, now: datetime) -> Registration | None:
        """Return the effective registration: not revoked, not expired, cut to the present policy."""
        ...

    def registrations(self, tenant: str, name: str, *, agent_id: str | None = None) -> list[Registration]:
        """Return registrations as they were declared, revoked and expired ones too, in the order of agents."""
        ...

    def registrations_after(
        self, tenant: str, name: str, agent_id: str, *, limit: int
    ) -> list[tuple[Registration, str]]:
        """Return declared registrations of every collection with who decided them last, by collection and agent."""
        ...

    def revoke(self, tenant: str, name: str, agent_id: str, *, actor: str, now: datetime) -> bool:
        """Revoke with immediate effect. On a personal layer this shuts out an agent that never registered."""
        ...
