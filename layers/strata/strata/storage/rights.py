"""The rights of an agent as SQL: what ``policy.access`` says, inside the statement that reads or writes.

A right on a collection is the agent's registration (or the default of a personal layer), cut by the collection's
policy; the memory's own allow-list comes on top. Administrators and the product's own jobs pass, inside their tenant.

Conditions are made of named parameters, so that a statement is built once and run for everybody (``parameters``).
No parameter is named like a column: SQLAlchemy would take it for a value to set.
"""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, FromClause, and_, bindparam, func, literal, or_, select, true

from strata.model.memories import CollectionKind, MemoryStatus
from strata.policy.names import agent_layer
from strata.ports import Access
from strata.storage.columns import COLLECTION_BYTES, Id, Instant, Names
from strata.storage.tables import collections, registrations

Right = Literal["read", "write"]

TENANT = bindparam("in_tenant", type_=Id())
NOW = bindparam("at_instant", type_=Instant())
_DECLARED = registrations.alias("declared")
_AGENT = bindparam("for_agent", type_=Id())
_AGENT_LINE = bindparam("for_agent_line", type_=Names())
_OWN_LAYER = bindparam("own_layer", type_=Id(COLLECTION_BYTES))


def bypasses(access: Access) -> bool:
    """Tell whether registrations and policies do not apply; the tenant always does."""
    return access.admin or access.system


def parameters(access: Access, now: datetime, **more: object) -> dict[str, Any]:
    """Return the values of the parameters that the conditions of this module have, and ``more``."""
    return {
        "in_tenant": access.tenant,
        "at_instant": now,
        "for_agent": access.agent_id,
        "for_agent_line": f"\n{access.agent_id}\n",
        "own_layer": agent_layer(access.agent_id),
        **more,
    }


def may(right: Right, *, bypass: bool, memory_type: ColumnElement[str] | None = None) -> ColumnElement[bool]:
    """Return the condition, on the row of ``collections``, under which the agent may read or write there.

    Without ``memory_type`` it tells whether there is any right at all.
    """
    if bypass:
        return true()
    return and_(
        or_(collections.c.kind != CollectionKind.AGENT.value, collections.c.name == _OWN_LAYER),
        _allows(right, collections),
        _type_in(collections.c.memory_types, memory_type),
        or_(
            _exists(*_in_force(right), _type_in(_DECLARED.c.memory_types, memory_type)),
            and_(_needs_no_registration(), ~_exists()),
        ),
    )


def memory_allows(right: Right, memory: FromClause, *, bypass: bool) -> ColumnElement[bool]:
    """Return the condition under which the memory's own policy lets the agent through."""
    return true() if bypass else _allows(right, memory)


def live(memory: FromClause) -> ColumnElement[bool]:
    """Return the condition under which readers see a memory: active and not expired at ``now``."""
    return and_(memory.c.status == MemoryStatus.ACTIVE.value, unexpired(memory))


def unexpired(memory: FromClause) -> ColumnElement[bool]:
    """Return the condition under which a memory has not run out, whatever its status."""
    return or_(memory.c.expires_at.is_(None), memory.c.expires_at > NOW)


def registration_of_agent() -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return the conditions that join the agent's registration to the row of ``collections``."""
    return _of_agent(registrations)


def _exists(*conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    return select(literal(1)).where(*_of_agent(_DECLARED), *conditions).exists()


def _of_agent(declared: FromClause) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return (declared.c.collection_no == collections.c.collection_no, declared.c.agent_id == _AGENT)


def _needs_no_registration() -> ColumnElement[bool]:
    return or_(collections.c.kind == CollectionKind.USER.value, collections.c.name == _OWN_LAYER)


def _in_force(right: Right) -> tuple[ColumnElement[bool], ...]:
    declared = _DECLARED.c
    granted = declared.may_read if right == "read" else declared.may_write
    return (granted, declared.revoked_at.is_(None), or_(declared.expires_at.is_(None), declared.expires_at > NOW))


def _allows(right: Right, policy: FromClause) -> ColumnElement[bool]:
    agents = policy.c.read_agents if right == "read" else policy.c.write_agents
    return or_(agents.is_(None), func.instr(agents, _AGENT_LINE) > 0)


def _type_in(names: ColumnElement[Any], memory_type: ColumnElement[str] | None) -> ColumnElement[bool]:
    if memory_type is None:
        return true()
    return or_(names.is_(None), func.instr(names, "\n" + memory_type + "\n") > 0)
