"""What a registration and a collection's policy allow together. Pure; SQL repeats it in ``storage.rights``.

An agent's right is its registration, cut by the policy of the collection, cut by the policy of the memory. A personal
layer needs no registration: ``user:`` is open to the tenant's agents, ``agent:`` to its own agent alone. A
registration made there all the same takes the place of that default.
"""

from dataclasses import replace
from datetime import datetime

from strata.model.memories import Collection, CollectionKind, Registration, collection_kind
from strata.policy.names import agent_layer


def exceeds(wanted: Registration, collection: Collection) -> bool:
    """Tell whether a registration asks for more than the policy allows: then all of it is refused."""
    return (
        (wanted.read and not may_register(wanted.agent_id, collection, collection.read_agents))
        or (wanted.write and not may_register(wanted.agent_id, collection, collection.write_agents))
        or not _within(wanted.memory_types, collection.memory_types)
    )


def effective(registration: Registration | None, collection: Collection, agent_id: str, now: datetime) -> Registration:
    """Return what holds at ``now``: not revoked, not expired, cut to the present policy."""
    declared = registration or implicit(collection, agent_id)
    live = declared.revoked_at is None and (declared.expires_at is None or declared.expires_at > now)
    return replace(
        declared,
        read=live and declared.read and may_register(agent_id, collection, collection.read_agents),
        write=live and declared.write and may_register(agent_id, collection, collection.write_agents),
        memory_types=_cut(declared.memory_types, collection.memory_types),
    )


def implicit(collection: Collection, agent_id: str) -> Registration:
    """Return what an agent has without registering: everything on a personal layer that it may use, else nothing."""
    open_to_all = collection.kind is CollectionKind.USER
    granted = open_to_all or collection.name == agent_layer(agent_id)
    return Registration(
        tenant=collection.tenant, collection=collection.name, agent_id=agent_id, read=granted, write=granted
    )


def default_collection(tenant: str, name: str) -> Collection | None:
    """Return a personal layer that nobody has set a policy for; None for a shared name: those are created."""
    kind = collection_kind(name)
    return None if kind is CollectionKind.SHARED else Collection(tenant=tenant, name=name, kind=kind)


def may_register(agent_id: str, collection: Collection, allowed: tuple[str, ...] | None) -> bool:
    """Tell whether the policy lets an agent in; an agent's layer never lets in another."""
    if collection.kind is CollectionKind.AGENT and collection.name != agent_layer(agent_id):
        return False
    return allowed is None or agent_id in allowed


def _within(wanted: tuple[str, ...] | None, allowed: tuple[str, ...] | None) -> bool:
    return wanted is None or allowed is None or set(wanted) <= set(allowed)


def _cut(wanted: tuple[str, ...] | None, allowed: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if wanted is None or allowed is None:
        return wanted if allowed is None else allowed
    return tuple(name for name in wanted if name in allowed)
