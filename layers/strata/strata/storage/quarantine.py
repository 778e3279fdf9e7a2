"""Texts that wait for a person, on SQL."""

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, and_, or_, select, update

from strata.errors import ConflictError, NotFoundError
from strata.model.events import NewEvent
from strata.model.memories import Memory
from strata.model.quarantine import Quarantined, Review, ReviewState
from strata.model.runs import PlannedWrite, Run
from strata.policy.names import derived_id
from strata.ports import Access
from strata.ports.quarantine import KeptOut
from strata.storage.engine import Database
from strata.storage.events import append_event
from strata.storage.inserts import insert_missing
from strata.storage.memory_reads import is_layer
from strata.storage.memory_writes import make_collection, take_turn
from strata.storage.refusals import record_refusal
from strata.storage.tables import collections, quarantine

_ROW = quarantine.c
_PLAIN = (
    "tenant quarantine_id collection memory_type content reason session_id run_id user_id memory_id created_at "
    "decided_at decided_by"
).split()


class SqlQuarantineStore:
    """The port ``QuarantineStore``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, access: Access, item: Quarantined, *, now: datetime) -> None:
        """Set a text aside, with the right to write asked in the same transaction.

        Raises:
            NotFoundError: the agent may not write there; a refusal is entered in the audit trail.
        """

        def work(connection: Connection) -> bool:
            if is_layer(item.collection):
                make_collection(connection, item.tenant, item.collection, now)
            allowed = take_turn(connection, access, item.collection, now, item.memory_type)
            if allowed:
                set_aside(connection, item, now)
            return allowed

        if not self._database.write(work):
            self._refuse(access, item.collection, now)

    def page(self, tenant: str, *, limit: int, state: ReviewState | None = None, before: str = "") -> list[Quarantined]:
        """Return texts, newest first."""
        query = select(quarantine).where(_ROW.tenant == tenant)
        if state is not None:
            query = query.where(_ROW.decision == _decision(state))
        if before:
            query = query.where(_behind(tenant, before))
        query = query.order_by(_ROW.created_at.desc(), _ROW.quarantine_id.desc()).limit(limit)
        return self._database.read(lambda c: [quarantined_of(row) for row in c.execute(query).mappings()])

    def get(self, tenant: str, quarantine_id: str) -> Quarantined | None:
        """Return one text, or None."""
        row = self._database.read(lambda c: _row(c, tenant, quarantine_id))
        return None if row is None else quarantined_of(row)

    def waiting_of_run(self, tenant: str, run_id: str) -> list[str]:
        """Return the ids of the texts that a run set aside and nobody has decided about."""
        wanted = and_(_ROW.tenant == tenant, _ROW.run_id == run_id, _ROW.decision == _decision(ReviewState.WAITING))
        query = select(_ROW.quarantine_id).where(wanted).order_by(_ROW.quarantine_id)
        return list(self._database.read(lambda connection: connection.execute(query).scalars().all()))

    def decide(self, tenant: str, quarantine_id: str, state: KeptOut, *, actor: str, now: datetime) -> Quarantined:
        """Reject or withdraw a waiting text, with its event.

        Raises:
            NotFoundError: there is none.
            ConflictError: it was decided otherwise.
        """
        values = {"decision": state.value, "decided_at": now, "decided_by": actor}

        def work(connection: Connection) -> Quarantined:
            row = _row(connection, tenant, quarantine_id, lock=True)
            if row is None:
                raise NotFoundError
            if row["decision"] == state.value:
                return quarantined_of(row)
            _require_waiting(row)
            connection.execute(update(quarantine).where(_one(tenant, quarantine_id)).values(**values))
            append_event(connection, tenant, _event(f"quarantine.{state.value}", actor, quarantined_of(row)), now)
            return quarantined_of({**row, **values})

        return self._database.write(work)

    def _refuse(self, access: Access, collection: str, now: datetime) -> None:
        known = select(_COLLECTION_NO).where(collections.c.tenant == access.tenant, collections.c.name == collection)
        if self._database.read(lambda connection: connection.execute(known).first()) is not None:
            record_refusal(self._database, access, collection, "", "insert", now)
        raise NotFoundError


_COLLECTION_NO = collections.c.collection_no


def set_aside(connection: Connection, item: Quarantined, now: datetime) -> None:
    """Put a text into quarantine, once, with its event."""
    if _row(connection, item.tenant, item.quarantine_id, lock=True) is not None:
        return
    values: dict[str, Any] = {name: getattr(item, name) for name in _PLAIN}
    values |= {"actor": item.agent_id, "unit": dict(item.unit), "decision": _decision(item.state)}
    insert_missing(connection, quarantine, [values])
    append_event(connection, item.tenant, _event("memory.quarantined", item.agent_id, item), now)


def release(connection: Connection, review: Review | None, memory: Memory, now: datetime, *, written: bool) -> None:
    """Let a text in as the memory that it became, if a write carries a review; called inside the write's transaction.

    The event of what was ``written`` tells of it; where nothing had to be written, it has an event of its own.

    Raises:
        ConflictError: it was decided about already, or is gone.
    """
    if review is None:
        return
    row = _row(connection, memory.tenant, review.quarantine_id, lock=True)
    if row is None:
        raise ConflictError("The text is not in quarantine any more.")
    _require_waiting(row)
    values = {
        "decision": ReviewState.RELEASED.value,
        "decided_at": now,
        "decided_by": review.reviewer,
        "memory_id": memory.memory_id,
    }
    connection.execute(update(quarantine).where(_one(memory.tenant, review.quarantine_id)).values(**values))
    if not written:
        released = quarantined_of({**row, **values})
        append_event(connection, memory.tenant, _event("quarantine.released", review.reviewer, released), now)


def planned_text(run: Run, write: PlannedWrite, now: datetime) -> Quarantined:
    """Return what a run's plan sets aside, with where it was said and how long it was to live."""
    unit = {
        "metadata": dict(write.metadata),
        "policy": {"read_agents": write.policy.read_agents, "write_agents": write.policy.write_agents},
        "ttl_seconds": write.ttl_seconds,
        "standing": write.standing,
        "safety": write.safety,
        "importance": write.importance,
        "confidence": write.confidence,
        "said_at": write.said_at.isoformat(),
        "sources": [[source.session_id, source.seq] for source in write.sources],
        "run_id": run.run_id,
    }
    return Quarantined(
        tenant=run.tenant,
        quarantine_id=derived_id(run.run_id, write.collection, write.content),
        collection=write.collection,
        memory_type=write.memory_type,
        content=write.content,
        reason=write.reason,
        agent_id=run.agent_id,
        session_id=run.session_id,
        run_id=run.run_id,
        user_id=run.user_id,
        unit=unit,
        created_at=now,
    )


def quarantined_of(row: Any) -> Quarantined:  # noqa: ANN401 a row, or a row with changed values
    """Return the text of a row."""
    return Quarantined(
        **{name: row[name] for name in _PLAIN},
        agent_id=row["actor"],
        unit=row["unit"] or {},
        state=ReviewState(row["decision"] or ReviewState.WAITING.value),
    )


def _decision(state: ReviewState) -> str:
    return "" if state is ReviewState.WAITING else state.value


def _require_waiting(row: RowMapping) -> None:
    if row["decision"]:
        raise ConflictError(f"The text was {row['decision']} by {row['decided_by']}.")


def _one(tenant: str, quarantine_id: str) -> ColumnElement[bool]:
    return and_(_ROW.tenant == tenant, _ROW.quarantine_id == quarantine_id)


def _row(connection: Connection, tenant: str, quarantine_id: str, *, lock: bool = False) -> RowMapping | None:
    query = select(quarantine).where(_one(tenant, quarantine_id))
    return connection.execute(query.with_for_update() if lock else query).mappings().one_or_none()


def _behind(tenant: str, quarantine_id: str) -> ColumnElement[bool]:
    last = select(_ROW.created_at).where(_one(tenant, quarantine_id)).scalar_subquery()
    return or_(_ROW.created_at < last, and_(_ROW.created_at == last, _ROW.quarantine_id < quarantine_id))


def _event(kind: str, actor: str, item: Quarantined) -> NewEvent:
    detail: dict[str, Any] = {"quarantine_id": item.quarantine_id, "memory_type": item.memory_type}
    if item.run_id:
        detail["run_id"] = item.run_id
    return NewEvent(kind=kind, actor=actor, collection=item.collection, memory_id=item.memory_id, detail=detail)
