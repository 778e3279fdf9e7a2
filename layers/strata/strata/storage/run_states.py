"""Rows of the run ledger: how they are found, locked and moved from state to state."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, case, or_, select, update
from sqlalchemy.engine import Connection

from strata.errors import NotFoundError, RunStateError
from strata.model.events import NewEvent
from strata.model.runs import Receipt, Run, RunState
from strata.policy.retention import expiry
from strata.storage import run_digests
from strata.storage.events import append_event
from strata.storage.run_rows import receipt_from, run_from
from strata.storage.tables import run_receipts, runs

NATIVE = "MYSQL"
"""The provider whose memories are this database's own rows."""
UNFINISHED = (RunState.QUEUED.value, RunState.RUNNING.value, RunState.PLANNED.value)
STOPPED = (RunState.FAILED.value, RunState.PARKED.value)

MOST_AT_ONCE = 5
"""Stopped runs of one session that are brought back together."""


def this(tenant: str, run_id: str) -> ColumnElement[bool]:
    """The condition that names one run."""
    return and_(runs.c.tenant == tenant, runs.c.run_id == run_id)


def newest(tenant: str, only: Mapping[str, str], before: str) -> Select[Any]:
    """A tenant's runs, newest first, older than the run ``before`` if that is given."""
    wanted = select(runs).where(runs.c.tenant == tenant, *(runs.c[name] == value for name, value in only.items()))
    if before:
        created = select(runs.c.created_at).where(this(tenant, before)).scalar_subquery()
        tie = and_(runs.c.created_at == created, runs.c.run_id < before)
        wanted = wanted.where(or_(runs.c.created_at < created, tie))
    return wanted.order_by(runs.c.created_at.desc(), runs.c.run_id.desc())


def rested_since(before: datetime) -> Select[Any]:
    """Unfinished runs that nobody has held since an instant, longest first."""
    rested = or_(runs.c.lease_until < before, and_(runs.c.lease_until.is_(None), runs.c.created_at < before))
    return select(runs).where(runs.c.state.in_(UNFINISHED), rested).order_by(runs.c.created_at)


def load(connection: Connection, tenant: str, run_id: str) -> Run | None:
    """Return a run with its receipts."""
    row = connection.execute(select(runs).where(this(tenant, run_id))).first()
    if row is None:
        return None
    mine = (run_receipts.c.tenant == tenant) & (run_receipts.c.run_id == run_id)
    proofs = connection.execute(select(run_receipts).where(mine).order_by(run_receipts.c.write_key))
    return run_from(row, [receipt_from(proof) for proof in proofs])


def known(connection: Connection, tenant: str, run_id: str) -> Run:
    """Return a run that must be there. Raises NotFoundError."""
    run = load(connection, tenant, run_id)
    if run is None:
        raise NotFoundError
    return run


def locked(connection: Connection, tenant: str, run_id: str) -> Row[Any]:
    """Return the run's row, held until the transaction ends. Raises NotFoundError."""
    row = connection.execute(select(runs).where(this(tenant, run_id)).with_for_update()).first()
    if row is None:
        raise NotFoundError
    return row


def put(connection: Connection, tenant: str, run_id: str, **values: object) -> None:
    """Set columns of a run."""
    connection.execute(update(runs).where(this(tenant, run_id)).values(**values))


def take(connection: Connection, tenant: str, run_id: str, *, now: datetime, until: datetime) -> bool:
    """Raise the fence and set the lease, unless somebody holds it or the run is finished; tell whether."""
    free = or_(runs.c.lease_until.is_(None), runs.c.lease_until <= now)
    statement = (
        update(runs)
        .where(this(tenant, run_id), runs.c.state.in_(UNFINISHED), free)
        .values(
            fence=runs.c.fence + 1,
            attempts=runs.c.attempts + 1,
            lease_until=until,
            started_at=case((runs.c.started_at.is_(None), now), else_=runs.c.started_at),
            state=case((runs.c.state == RunState.QUEUED.value, RunState.RUNNING.value), else_=runs.c.state),
        )
    )
    return connection.execute(statement).rowcount == 1


def requeue(connection: Connection, tenant: str, run_id: str, now: datetime, actor: str = "") -> Run:
    """Bring a stopped run back; let an unfinished one that nobody holds count as freshly sent.

    What the product does by itself is no event.
    """
    row = locked(connection, tenant, run_id)
    if row.state in STOPPED:
        state = RunState.PLANNED if row.plan is not None else RunState.QUEUED
        put(connection, tenant, run_id, state=state.value, attempts=0, finished_at=None, lease_until=now)
    elif row.state in UNFINISHED and (row.lease_until is None or row.lease_until <= now):
        put(connection, tenant, run_id, lease_until=now)
    else:
        raise _wrong_state(row, "sent again")
    if actor:
        _record(connection, "run.replayed", row, actor, now)
    return known(connection, tenant, run_id)


def stopped_of(tenant: str, session_id: str) -> Select[Any]:
    """The stopped runs of a session, newest first."""
    own = and_(runs.c.tenant == tenant, runs.c.session_id == session_id, runs.c.state.in_(STOPPED))
    return select(runs.c.run_id).where(own).order_by(runs.c.upto_seq.desc()).limit(MOST_AT_ONCE)


def reopen(connection: Connection, tenant: str, run_id: str, now: datetime, actor: str) -> Run:
    """Bring a succeeded run back without judgement and plan; it keeps its messages, and its counts as a sign."""
    row = locked(connection, tenant, run_id)
    if row.state != RunState.SUCCEEDED.value:
        raise _wrong_state(row, "judged again")
    fresh = {"state": RunState.QUEUED.value, "attempts": 0, "judgement": None, "plan": None, "finished_at": None}
    put(connection, tenant, run_id, lease_until=now, **fresh)
    _record(connection, "run.rejudged", row, actor, now)
    return known(connection, tenant, run_id)


def mark_undone(connection: Connection, tenant: str, run_id: str, now: datetime, actor: str) -> Run:
    """Mark a succeeded run as undone, or leave it undone."""
    row = locked(connection, tenant, run_id)
    if row.state not in {RunState.SUCCEEDED.value, RunState.UNDONE.value}:
        raise _wrong_state(row, "undone")
    if row.state != RunState.UNDONE.value:
        put(connection, tenant, run_id, state=RunState.UNDONE.value)
        _record(connection, "run.undone", row, actor, now)
    return known(connection, tenant, run_id)


def free_unless_needed(connection: Connection, row: Row[Any]) -> None:
    """Give a run's claims back if neither a judgement nor a plan rests on them."""
    if row.plan is None and row.judgement is None:
        run_digests.free(connection, row.run_id)


def copies_of(plan: Mapping[str, Any] | None, receipts: Sequence[Receipt], now: datetime) -> list[dict[str, Any]]:
    """Where providers keep what the receipts prove, and until when; an empty external id is not known yet.

    What a write only found again has the end that it was stored with, which is not this plan's to say.
    """
    planned = {write["key"]: write for write in (plan or {"writes": ()})["writes"]}
    found: list[dict[str, Any]] = []
    for receipt in (receipt for receipt in receipts if receipt.provider != NATIVE):
        write = planned.get(receipt.key, {})
        is_new = receipt.memory_id == receipt.key
        copy = {
            "memory_id": receipt.memory_id,
            "provider": receipt.provider,
            "collection": write.get("collection", ""),
            "expires_at": expiry(write.get("ttl_seconds", 0), now) if is_new else None,
        }
        unknown = ("",) if is_new else (receipt.memory_id,)
        found += [{**copy, "external_id": external_id} for external_id in receipt.external_ids or unknown]
    return found


def _record(connection: Connection, kind: str, row: Row[Any], actor: str, now: datetime) -> None:
    detail = {"run_id": row.run_id, "session_id": row.session_id}
    append_event(connection, row.tenant, NewEvent(kind=kind, actor=actor, detail=detail), now)


def _wrong_state(row: Row[Any], wish: str) -> RunStateError:
    return RunStateError(f"A run that is {row.state} cannot be {wish}.", fields={"state": row.state})
