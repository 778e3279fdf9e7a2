"""Profiles and keys of agents on SQL. Every change leaves one audit event in its transaction."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, func, insert, select, update

from strata.errors import NotFoundError
from strata.model.agents import AgentProfile, AgentRole, ApiKey, ProviderName
from strata.model.events import NewEvent
from strata.storage.engine import Database
from strata.storage.events import append_event
from strata.storage.inserts import insert_missing
from strata.storage.tables import agents, api_keys

_PROFILE = ("target_id", "open_long_memory", "context_rounds", "display_name")
_KEY = ("key_id", "tenant", "agent_id", "secret_hash", "created_at", "revoked_at")


class SqlAgentStore:
    """The port ``AgentStore``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, tenant: str, agent_id: str) -> AgentProfile | None:
        """Return a profile, or None."""
        query = select(agents).where(agents.c.tenant == tenant, agents.c.agent_id == agent_id)
        row = self._database.read(lambda connection: connection.execute(query).mappings().one_or_none())
        return None if row is None else _profile(row)

    def put(self, profile: AgentProfile, *, now: datetime, actor: str = "") -> AgentProfile:
        """Create or replace a profile."""
        own = and_(agents.c.tenant == profile.tenant, agents.c.agent_id == profile.agent_id)
        values = _profile_values(profile)

        def work(connection: Connection) -> None:
            row = {"tenant": profile.tenant, "agent_id": profile.agent_id, "created_at": now, "updated_at": now}
            insert_missing(connection, agents, [{**row, **values}])
            connection.execute(update(agents).where(own).values(**values, updated_at=now))
            _record(connection, profile.tenant, "agent.put", actor, {"agent_id": profile.agent_id, **values}, now)

        self._database.write(work)
        return profile

    def page(self, tenant: str, *, limit: int = 500, after: str = "") -> list[AgentProfile]:
        """Return profiles in the order of their ids."""
        query = select(agents).where(agents.c.tenant == tenant, agents.c.agent_id > after)
        query = query.order_by(agents.c.agent_id).limit(limit)
        return self._database.read(lambda c: [_profile(row) for row in c.execute(query).mappings()])

    def add_key(self, key: ApiKey, *, actor: str = "", replaces: str = "") -> None:
        """Store a key, and revoke the one that it replaces; the event names both and never a hash.

        Raises NotFoundError: there is none to replace.
        """
        row = {field: getattr(key, field) for field in _KEY} | {"role": key.role.value}

        def work(connection: Connection) -> None:
            connection.execute(insert(api_keys).values(**row))
            detail = {"agent_id": key.agent_id, "key_id": key.key_id, "role": key.role.value}
            if replaces:
                _require_revoked(connection, key, replaces)
                detail["replaces"] = replaces
            _record(connection, key.tenant, "key.rotated" if replaces else "key.created", actor, detail, key.created_at)

        self._database.write(work)

    def get_key(self, key_id: str) -> ApiKey | None:
        """Return a key, revoked or not."""
        query = select(api_keys).where(api_keys.c.key_id == key_id)
        row = self._database.read(lambda connection: connection.execute(query).mappings().one_or_none())
        return None if row is None else _key(row)

    def keys(self, tenant: str, agent_id: str) -> list[ApiKey]:
        """Return the keys of an agent, oldest first."""
        query = select(api_keys).where(api_keys.c.tenant == tenant, api_keys.c.agent_id == agent_id)
        query = query.order_by(api_keys.c.created_at, api_keys.c.key_id)
        return self._database.read(lambda c: [_key(row) for row in c.execute(query).mappings()])

    def revoke_key(self, tenant: str, agent_id: str, key_id: str, *, now: datetime, actor: str = "") -> bool:
        """Revoke; tell whether there was such a key. A second time changes nothing and leaves no event."""
        key = api_keys.c
        own = and_(key.key_id == key_id, key.tenant == tenant, key.agent_id == agent_id)

        def work(connection: Connection) -> bool:
            revoked = connection.execute(update(api_keys).where(own, key.revoked_at.is_(None)).values(revoked_at=now))
            if revoked.rowcount:
                _record(connection, tenant, "key.revoked", actor, {"agent_id": agent_id, "key_id": key_id}, now)
                return True
            return connection.execute(select(key.key_id).where(own)).first() is not None

        return self._database.write(work)

    def has_admin_key(self, tenant: str) -> bool:
        """Tell whether a live admin key exists."""
        key = api_keys.c
        query = select(func.count()).select_from(api_keys)
        query = query.where(key.tenant == tenant, key.role == AgentRole.ADMIN.value, key.revoked_at.is_(None))
        return self._database.read(lambda connection: connection.execute(query).scalar_one()) > 0


def _require_revoked(connection: Connection, key: ApiKey, replaced: str) -> None:
    """Revoke what a new key replaces; of two that replace the same key, one finds nothing."""
    own = and_(api_keys.c.key_id == replaced, api_keys.c.tenant == key.tenant, api_keys.c.agent_id == key.agent_id)
    revoking = update(api_keys).where(own, api_keys.c.revoked_at.is_(None)).values(revoked_at=key.created_at)
    if not connection.execute(revoking).rowcount:
        raise NotFoundError


def _record(
    connection: Connection, tenant: str, kind: str, actor: str, detail: Mapping[str, Any], now: datetime
) -> None:
    append_event(connection, tenant, NewEvent(kind=kind, actor=actor, detail=dict(detail)), now)


def _profile(row: RowMapping) -> AgentProfile:
    return AgentProfile(
        tenant=row["tenant"],
        agent_id=row["agent_id"],
        long_memory_provider=ProviderName(row["long_memory_provider"]),
        role=AgentRole(row["role"]),
        **{field: row[field] for field in _PROFILE},
    )


def _profile_values(profile: AgentProfile) -> dict[str, Any]:
    return {
        "long_memory_provider": profile.long_memory_provider.value,
        "role": profile.role.value,
        **{field: getattr(profile, field) for field in _PROFILE},
    }


def _key(row: RowMapping) -> ApiKey:
    return ApiKey(role=AgentRole(row["role"]), **{field: row[field] for field in _KEY})
