"""Collections: their policies, set by administrators."""

from collections.abc import Sequence

from strata.clock import Clock
from strata.errors import ForbiddenError, NotFoundError, UnknownMemoryTypeError, ValidationError
from strata.model.memories import Collection, CollectionKind, ConflictPolicy, collection_kind
from strata.policy.names import agent_layer, checked_collection, checked_id
from strata.ports import Access, CollectionStore, TypeStore


class Collections:
    """Policies of collections. A collection that an agent may not use looks like one that is not there."""

    def __init__(self, collections: CollectionStore, types: TypeStore, clock: Clock) -> None:
        self._collections = collections
        self._types = types
        self._clock = clock

    def put(
        self,
        access: Access,
        name: str,
        *,
        read_agents: Sequence[str] | None = None,
        write_agents: Sequence[str] | None = None,
        memory_types: Sequence[str] | None = None,
        conflict_policy: ConflictPolicy = ConflictPolicy.LAST_WRITER_WINS,
    ) -> Collection:
        """Create a collection or change its policy; ``None`` = every agent, every type.

        Raises:
            ForbiddenError: administrators only.
            ValidationError: a name that is none, or another agent in an agent's own layer.
            UnknownMemoryTypeError: no such type.
        """
        _require_admin(access)
        collection = Collection(
            tenant=access.tenant,
            name=checked_collection(name),
            kind=collection_kind(name),
            read_agents=_checked_agents(name, read_agents, "read_agents"),
            write_agents=_checked_agents(name, write_agents, "write_agents"),
            memory_types=self._checked_types(memory_types),
            conflict_policy=conflict_policy,
        )
        return self._collections.put(collection, actor=access.agent_id, now=self._clock.now())

    def get(self, access: Access, name: str) -> Collection:
        """Return a collection to an administrator, or to an agent that has a right there. Raises NotFoundError."""
        collection = self._collections.get(access.tenant, checked_collection(name))
        if collection is None or not self._is_known_to(access, name):
            raise NotFoundError
        return collection

    def page(self, access: Access, *, limit: int, after: str = "") -> list[Collection]:
        """Return the tenant's collections in the order of their names. Raises ForbiddenError."""
        _require_admin(access)
        return self._collections.page(access.tenant, limit=limit, after=after)

    def delete(self, access: Access, name: str) -> None:
        """Delete a collection without live memories. Raises ForbiddenError, NotFoundError, ConflictError."""
        _require_admin(access)
        if not self._collections.delete(access.tenant, name, actor=access.agent_id, now=self._clock.now()):
            raise NotFoundError

    def _is_known_to(self, access: Access, name: str) -> bool:
        if access.admin or access.system:
            return True
        now = self._clock.now()
        return self._collections.registration(access.tenant, name, access.agent_id, now=now) is not None

    def _checked_types(self, names: Sequence[str] | None) -> tuple[str, ...] | None:
        if names is None:
            return None
        unknown = [name for name in names if self._types.named(name) is None]
        if unknown:
            raise UnknownMemoryTypeError(fields={"memory_types": unknown})
        return tuple(dict.fromkeys(names))


def _checked_agents(name: str, agents: Sequence[str] | None, field: str) -> tuple[str, ...] | None:
    if agents is None:
        return None
    checked = tuple(dict.fromkeys(checked_id(agent, field) for agent in agents))
    if collection_kind(name) is CollectionKind.AGENT and any(agent_layer(agent) != name for agent in checked):
        raise ValidationError("An agent's layer is open to that agent alone.", fields={"field": field})
    return checked


def _require_admin(access: Access) -> None:
    if not (access.admin or access.system):
        raise ForbiddenError
