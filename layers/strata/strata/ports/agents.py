"""Profiles and keys of agents."""

from datetime import datetime
from typing import Protocol

from strata.model.agents import AgentProfile, ApiKey


class AgentStore(Protocol):
    """Profiles and keys."""

    def get(self, tenant: str, agent_id: str) -> AgentProfile | None:
        """Return a profile, or None."""
        ...

    def put(self, profile: AgentProfile, *, now: datetime, actor: str = "") -> AgentProfile:
        """Create or replace a profile."""
        ...

    def page(self, tenant: str, *, limit: int = 500, after: str = "") -> list[AgentProfile]:
        """Return profiles in the order of their ids."""
        ...

    def add_key(self, key: ApiKey, *, actor: str = "", replaces: str = "") -> None:
        """Store a key, and revoke in one with it the agent's key that it ``replaces``.

        Raises NotFoundError: there is no such key, or it is revoked already; nothing is stored.
        """
        ...

    def get_key(self, key_id: str) -> ApiKey | None:
        """Return a key, revoked or not."""
        ...

    def keys(self, tenant: str, agent_id: str) -> list[ApiKey]:
        """Return the keys of an agent."""
        ...

    def revoke_key(self, tenant: str, agent_id: str, key_id: str, *, now: datetime, actor: str = "") -> bool:
        """Revoke; tell whether there was such a key."""
        ...

    def has_admin_key(self, tenant: str) -> bool:
        """Tell whether a live admin key exists (the bootstrap key works only until then)."""
        ...
