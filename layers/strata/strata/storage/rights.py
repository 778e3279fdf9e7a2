"""The rights of an agent as SQL: what ``policy.access`` says, inside the statement that reads or writes.

A right on a collection is the agent's registration (or the default of a personal layer), cut by the collection's
policy; the memory's own allow-list comes on top. Administrators and the product's own jobs pass, inside their tenant.
"""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, FromClause, and_, func, literal, or_, select, true

from strata.model.memories import CollectionKind, MemoryStatus
from strata.policy.names import agent_layer
from strata.ports import Access
from strata.storage.columns import Names
from strata.storage.tables import collections, registrations

Right = Literal["read", "write"]


def may(
    right: Right, access: Access, now: datetime, *, memory_type: ColumnElement[str] | None = None
) -> ColumnElement[bool]:
    """Return the condition, on the row of ``collections``, under which the agent may read or write there.

    Without ``memory_type`` it tells whether there is any right at all.
    """
    if _passes(access):
        return true()
    return and_(
        _own_layer_or_not_a_layer(access),
        _allows(right, collections, access),
        _type_in(collections.c.memory_types, memory_type),
        or_(
            select(literal(1)).where(*_registered(right, access, now, memory_type)).exists(),
            and_(_needs_no_registration(access), ~select(literal(1)).where(*_any_registration(access)).exists()),
        ),
    )


def memory_allows(right: Right, memory: FromClause, access: Access) -> ColumnElement[bool]:
    """Return the condition under which the memory's own policy lets the agent through."""
    return true() if _passes(access) else _allows(right, memory, access)


def live(memory: FromClause, now: datetime) -> ColumnElement[bool]:
    """Return the condition under which readers see a memory: active and not expired at ``now``."""
    return and_(memory.c.status == MemoryStatus.ACTIVE.value, unexpired(memory, now))


def unexpired(memory: FromClause, now: datetime) -> ColumnElement[bool]:
    """Return the condition under which a memory has not run out, whatever its status."""
    return or_(memory.c.expires_at.is_(None), memory.c.expires_at > now)


def holds(names: ColumnElement[Any], name: str | ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that a stored list of names has this one. No character of a name acts as a wildcard."""
    needle = literal(f"\n{name}\n", Names()) if isinstance(name, str) else "\n" + name + "\n"
    return func.instr(names, needle) > 0


def registration_of(access: Access) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return the conditions that join an agent's registration to the row of ``collections``."""
    return _any_registration(access)


def _passes(access: Access) -> bool:
    return access.admin or access.system


def _own_layer_or_not_a_layer(access: Access) -> ColumnElement[bool]:
    return or_(collections.c.kind != CollectionKind.AGENT.value, _is_own_layer(access))


def _is_own_layer(access: Access) -> ColumnElement[bool]:
    return collections.c.name == agent_layer(access.agent_id)


def _needs_no_registration(access: Access) -> ColumnElement[bool]:
    return or_(collections.c.kind == CollectionKind.USER.value, _is_own_layer(access))


def _allows(right: Right, policy: FromClause, access: Access) -> ColumnElement[bool]:
    agents = policy.c.read_agents if right == "read" else policy.c.write_agents
    return or_(agents.is_(None), holds(agents, access.agent_id))


def _registered(
    right: Right, access: Access, now: datetime, memory_type: ColumnElement[str] | None
) -> tuple[ColumnElement[bool], ...]:
    declared = registrations.c
    return (
        *_any_registration(access),
        declared.may_read if right == "read" else declared.may_write,
        declared.revoked_at.is_(None),
        or_(declared.expires_at.is_(None), declared.expires_at > now),
        _type_in(declared.memory_types, memory_type),
    )


def _any_registration(access: Access) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    declared = registrations.c
    return (declared.collection_no == collections.c.collection_no, declared.agent_id == access.agent_id)


def _type_in(names: ColumnElement[Any], memory_type: ColumnElement[str] | None) -> ColumnElement[bool]:
    return true() if memory_type is None else or_(names.is_(None), holds(names, memory_type))
