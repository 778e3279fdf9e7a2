"""The statements about registrations, run inside the caller's transaction, which holds the collection's row."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, and_, insert, or_, select, update

from strata.model.memories import Collection, Registration
from strata.policy.access import exceeds, implicit
from strata.storage.tables import collections, registrations

_DECLARED = ("agent_id", "memory_types", "expires_at", "created_at", "revoked_at")


def select_registrations(tenant: str, name: str) -> Select[Any]:
    """Return the query for every registration of a collection, in force or not."""
    joined = registrations.c.collection_no == collections.c.collection_no
    query = select(registrations).join(collections, joined).order_by(registrations.c.agent_id)
    return query.where(collections.c.tenant == tenant, collections.c.name == name)


def select_behind(tenant: str, name: str, agent_id: str) -> Select[Any]:
    """Return the query for the registrations of every collection behind one, with the collection's name."""
    joined = registrations.c.collection_no == collections.c.collection_no
    same = and_(collections.c.name == name, registrations.c.agent_id > agent_id)
    query = select(registrations, collections.c.name).join(collections, joined)
    query = query.where(collections.c.tenant == tenant, or_(collections.c.name > name, same))
    return query.order_by(collections.c.name, registrations.c.agent_id)


def registration_of(tenant: str, name: str, row: RowMapping) -> Registration:
    """Return the registration of a row, as it was declared."""
    return Registration(
        tenant=tenant,
        collection=name,
        read=row["may_read"],
        write=row["may_write"],
        **{field: row[field] for field in _DECLARED},
    )


def grant(
    connection: Connection, number: int, collection: Collection, wanted: Registration, actor: str, now: datetime
) -> bool:
    """Write a registration; False if the policy or an administrator's earlier decision forbids it."""
    row = _present(connection, number, wanted.agent_id)
    decided_by_another = row is not None and row["decided_by"] != wanted.agent_id and actor == wanted.agent_id
    if exceeds(wanted, collection) or decided_by_another:
        return False
    values = {
        "may_read": wanted.read,
        "may_write": wanted.write,
        "memory_types": wanted.memory_types,
        "expires_at": wanted.expires_at,
        "revoked_at": None,
        "decided_by": actor,
    }
    _write(connection, number, wanted.agent_id, values, now, present=row is not None)
    return True


def revoke(
    connection: Connection, number: int, collection: Collection, agent_id: str, actor: str, now: datetime
) -> bool:
    """Revoke; False if there is nothing to revoke.

    A default of a personal layer is revoked by a registration that says so.
    """
    row = _present(connection, number, agent_id)
    if row is None and not implicit(collection, agent_id).read:
        return False
    if row is not None and row["revoked_at"] is not None:
        return False
    values = {"revoked_at": now, "decided_by": actor}
    if row is None:
        values |= {"may_read": False, "may_write": False}
    _write(connection, number, agent_id, values, now, present=row is not None)
    return True


def _present(connection: Connection, number: int, agent_id: str) -> RowMapping | None:
    own = and_(registrations.c.collection_no == number, registrations.c.agent_id == agent_id)
    return connection.execute(select(registrations).where(own)).mappings().one_or_none()


def _write(
    connection: Connection, number: int, agent_id: str, values: Mapping[str, Any], now: datetime, *, present: bool
) -> None:
    if present:
        own = and_(registrations.c.collection_no == number, registrations.c.agent_id == agent_id)
        connection.execute(update(registrations).where(own).values(**values))
    else:
        row = {"collection_no": number, "agent_id": agent_id, "created_at": now, **values}
        connection.execute(insert(registrations).values(**row))
