"""Agents and their keys; an agent reads its own profile, everything else is for admins."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata.edge.answers import answers
from strata.edge.callers import CallerOf, RuntimeOf
from strata.edge.schemas.agents import AgentIn, AgentOut, AgentsOut, KeyIn, KeyInfoOut, KeyOut, KeysOut
from strata.edge.schemas.ids import PathId
from strata.model.agents import AgentProfile, AgentRole, ProviderName

router = APIGatewayHttpRouter()
AGENT = "/v1/agents/<agent_id>"


@router.put(AGENT, summary="Create or change an agent", responses=answers(AgentOut, also=(403,)), tags=["agents"])
def put(agent_id: PathId, body: AgentIn, caller: CallerOf, runtime: RuntimeOf) -> AgentOut:
    """Create or replace a profile."""
    profile = AgentProfile(
        tenant=caller.tenant,
        agent_id=agent_id,
        target_id=body.target_id,
        long_memory_provider=ProviderName(body.long_memory_provider),
        open_long_memory=body.open_long_memory,
        context_rounds=body.context_rounds,
        role=AgentRole(body.role),
        display_name=body.display_name,
    )
    return shown(runtime.agents.put(caller, profile))


@router.get(AGENT, summary="One agent", responses=answers(AgentOut, also=(403,)), tags=["agents"])
def get(agent_id: PathId, caller: CallerOf, runtime: RuntimeOf) -> AgentOut:
    """Return a profile."""
    return shown(runtime.agents.get(caller, agent_id))


@router.get("/v1/agents", summary="List agents", responses=answers(AgentsOut, also=(403,)), tags=["agents"])
def listed(
    caller: CallerOf,
    runtime: RuntimeOf,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    after: Annotated[str, Query(max_length=128)] = "",
) -> AgentsOut:
    """Return profiles in the order of their ids."""
    found = runtime.agents.page(caller, limit=limit, after=after)
    more = found[-1].agent_id if len(found) == limit else None
    return AgentsOut(agents=[shown(profile) for profile in found], after=more)


@router.post(
    f"{AGENT}/keys", status_code=201, summary="Make a key", responses=answers(KeyOut, 201, also=(403,)), tags=["agents"]
)
def add_key(agent_id: PathId, caller: CallerOf, runtime: RuntimeOf, body: KeyIn | None = None) -> KeyOut:
    """Make a key; its secret is in this answer and nowhere else."""
    role = AgentRole(body.role) if body and body.role else None
    made = runtime.agents.create_key(caller, agent_id, role=role)
    return KeyOut(
        key_id=made.key.key_id,
        agent_id=agent_id,
        role=made.key.role.value,
        key=made.secret,
        created_at=made.key.created_at,
    )


@router.get(f"{AGENT}/keys", summary="List keys", responses=answers(KeysOut, also=(403,)), tags=["agents"])
def list_keys(agent_id: PathId, caller: CallerOf, runtime: RuntimeOf) -> KeysOut:
    """Return an agent's keys without their secrets."""
    keys = runtime.agents.keys(caller, agent_id)
    return KeysOut(keys=[KeyInfoOut.model_validate(key) for key in keys])


@router.delete(
    f"{AGENT}/keys/<key_id>", summary="Revoke a key", responses=answers(KeysOut, also=(403,)), tags=["agents"]
)
def revoke_key(agent_id: PathId, key_id: PathId, caller: CallerOf, runtime: RuntimeOf) -> KeysOut:
    """Revoke; the key is refused within 30 seconds."""
    runtime.agents.revoke_key(caller, agent_id, key_id)
    return list_keys(agent_id, caller, runtime)


def shown(profile: AgentProfile) -> AgentOut:
    """Return a profile as the API shows it."""
    return AgentOut(
        agent_id=profile.agent_id,
        target_id=profile.target_id,
        long_memory_provider=profile.long_memory_provider.value,
        open_long_memory=profile.open_long_memory,
        context_rounds=profile.context_rounds,
        role=profile.role.value,
        display_name=profile.display_name,
    )
