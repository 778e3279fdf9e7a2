"""Policies of collections and registrations of agents."""

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata.edge.answers import answers
from strata.edge.callers import AdminOf, CallerOf, RuntimeOf
from strata.edge.schemas.ids import PathCollection, PathId
from strata.edge.schemas.memories import CollectionIn, CollectionOut, RegistrationIn, RegistrationOut
from strata.model.memories import Collection, ConflictPolicy, Registration
from strata.ports import Access

router = APIGatewayHttpRouter()
COLLECTION = "/v1/collections/<collection>"
REGISTRATION = f"{COLLECTION}/registrations/<agent_id>"


@router.put(COLLECTION, summary="Set a policy", responses=answers(CollectionOut, also=(403,)), tags=["collections"])
def put(collection: PathCollection, body: CollectionIn, caller: AdminOf, runtime: RuntimeOf) -> CollectionOut:
    """Create a collection or change its policy, with immediate effect on every registration."""
    made = runtime.collections.put(
        Access.of(caller),
        collection,
        read_agents=body.read_agents,
        write_agents=body.write_agents,
        memory_types=body.memory_types,
        conflict_policy=ConflictPolicy(body.conflict_policy),
    )
    return shown(made)


@router.get(COLLECTION, summary="One collection", responses=answers(CollectionOut), tags=["collections"])
def get(collection: PathCollection, caller: CallerOf, runtime: RuntimeOf) -> CollectionOut:
    """Return a policy to an admin, or to an agent that has a right there."""
    return shown(runtime.collections.get(Access.of(caller), collection))


@router.delete(
    COLLECTION,
    summary="Delete a collection",
    responses=answers(CollectionOut, also=(403, 409)),
    tags=["collections"],
)
def delete(collection: PathCollection, caller: AdminOf, runtime: RuntimeOf) -> CollectionOut:
    """Delete a collection without live memories, and return what it was."""
    was = runtime.collections.get(Access.of(caller), collection)
    runtime.collections.delete(Access.of(caller), collection)
    return shown(was)


@router.put(REGISTRATION, summary="Register an agent", responses=answers(RegistrationOut), tags=["collections"])
def register(
    collection: PathCollection, agent_id: PathId, body: RegistrationIn, caller: CallerOf, runtime: RuntimeOf
) -> RegistrationOut:
    """Declare what an agent needs; what exceeds the policy is refused as if there were no such collection."""
    made = runtime.grants.register(
        Access.of(caller),
        collection,
        agent_id,
        read=body.read,
        write=body.write,
        memory_types=body.memory_types,
        expires_at=body.expires_at,
    )
    return registered(made)


@router.get(REGISTRATION, summary="One registration", responses=answers(RegistrationOut), tags=["collections"])
def registration(collection: PathCollection, agent_id: PathId, caller: CallerOf, runtime: RuntimeOf) -> RegistrationOut:
    """Return what an agent may do at this moment."""
    return registered(runtime.grants.get(Access.of(caller), collection, agent_id))


@router.delete(REGISTRATION, summary="Revoke a registration", responses=answers(RegistrationOut), tags=["collections"])
def unregister(collection: PathCollection, agent_id: PathId, caller: CallerOf, runtime: RuntimeOf) -> RegistrationOut:
    """Revoke with effect on the next statement, and return what it was."""
    was = runtime.grants.get(Access.of(caller), collection, agent_id)
    runtime.grants.revoke(Access.of(caller), collection, agent_id)
    return registered(was)


def shown(item: Collection) -> CollectionOut:
    """Return a policy as the API shows it."""
    return CollectionOut(
        collection=item.name,
        kind=item.kind.value,
        read_agents=_listed(item.read_agents),
        write_agents=_listed(item.write_agents),
        memory_types=_listed(item.memory_types),
        conflict_policy=item.conflict_policy.value,
    )


def registered(item: Registration) -> RegistrationOut:
    """Return a registration as the API shows it."""
    return RegistrationOut(
        collection=item.collection,
        agent_id=item.agent_id,
        read=item.read,
        write=item.write,
        memory_types=_listed(item.memory_types),
        expires_at=item.expires_at,
    )


def _listed(names: tuple[str, ...] | None) -> list[str] | None:
    return None if names is None else list(names)
