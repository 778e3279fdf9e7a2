"""The run ledger in SQL.

A lease is a row's ``lease_until`` and ``fence``. ``claim`` raises the fence; every later write locks the run's row and
goes on only while the fence is still its own. So a worker that was taken over can change nothing, however late it
wakes up: whoever writes holds the row, and whoever holds an old fence is told LeaseLostError.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import Row, select
from sqlalchemy.engine import Connection

from strata.errors import LeaseLostError, NotFoundError, RunStateError
from strata.model.messages import JsonObject, Message
from strata.model.runs import Judgement, Lease, Plan, PlannedWrite, Receipt, Retirement, Run, RunState
from strata.ports import ReadBack
from strata.storage import retirements as later
from strata.storage import run_digests, run_states
from strata.storage.engine import Database
from strata.storage.inserts import insert_missing
from strata.storage.quarantine import planned_text, set_aside
from strata.storage.run_rows import judgement_document, plan_document, receipt_row, run_from
from strata.storage.run_states import known, load, put, this
from strata.storage.tables import run_receipts, runs

T = TypeVar("T")


class SqlRunStore:
    """Implements ``strata.ports.RunStore``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # --- reading

    def get(self, tenant: str, run_id: str) -> Run | None:
        """Return a run with its receipts."""
        return self._database.read(lambda connection: load(connection, tenant, run_id))

    def page(
        self,
        tenant: str,
        *,
        limit: int,
        state: RunState | None = None,
        session_id: str = "",
        before: str = "",
        agent_id: str = "",
    ) -> list[Run]:
        """Return runs, newest first; ``before`` is the last run id of the page before."""
        only = {"state": state.value if state is not None else "", "session_id": session_id, "agent_id": agent_id}
        wanted = run_states.newest(tenant, {name: value for name, value in only.items() if value}, before).limit(limit)
        return self._database.read(lambda connection: [run_from(row) for row in connection.execute(wanted)])

    def stuck(self, *, before: datetime, limit: int) -> list[Run]:
        """Return unfinished runs that nobody has held since ``before``, longest first."""
        wanted = run_states.rested_since(before).limit(limit)
        return self._database.read(lambda connection: [run_from(row) for row in connection.execute(wanted)])

    # --- the lease

    def claim(self, tenant: str, run_id: str, *, seconds: int, now: datetime) -> tuple[Run, Lease] | None:
        """Take the lease unless another holds it or the run is finished."""
        until = now + timedelta(seconds=seconds)

        def work(connection: Connection) -> tuple[Run, Lease] | None:
            if not run_states.take(connection, tenant, run_id, now=now, until=until):
                return None
            run = known(connection, tenant, run_id)
            return run, Lease(run_id=run_id, fence=run.fence, expires_at=until)

        return self._database.write(work)

    def extend(self, lease: Lease, tenant: str, *, seconds: int, now: datetime) -> Lease:
        """Prolong the lease."""
        until = now + timedelta(seconds=seconds)
        self._held(lease, tenant, lambda connection, _row: put(connection, tenant, lease.run_id, lease_until=until))
        return Lease(run_id=lease.run_id, fence=lease.fence, expires_at=until)

    def release(self, lease: Lease, tenant: str, *, error_code: str, error_detail: str, now: datetime) -> None:
        """Give the lease back; whoever comes next may claim at once."""

        def work(connection: Connection, row: Row[Any]) -> None:
            run_states.free_unless_needed(connection, row)
            state = RunState.PLANNED if row.plan is not None else RunState.QUEUED
            error = {"error_code": error_code, "error_detail": error_detail}
            put(connection, tenant, lease.run_id, lease_until=now, state=state.value, **error)

        self._held(lease, tenant, work)

    def fail(
        self, lease: Lease, tenant: str, state: RunState, *, error_code: str, error_detail: str, now: datetime
    ) -> None:
        """Mark ``failed`` or ``parked``; a stored plan stays, so that a replay goes on with it."""

        def work(connection: Connection, row: Row[Any]) -> None:
            run_states.free_unless_needed(connection, row)
            error = {"error_code": error_code, "error_detail": error_detail}
            put(connection, tenant, lease.run_id, lease_until=None, state=state.value, finished_at=now, **error)

        self._held(lease, tenant, work)

    # --- the steps

    def claim_digests(
        self, lease: Lease, run: Run, messages: Sequence[Message], *, since: datetime, now: datetime
    ) -> list[Message]:
        """Claim, for this run, the messages that no run has processed."""
        return self._held(
            lease,
            run.tenant,
            lambda connection, row: run_digests.claim(connection, row.session_no, run, messages, since=since, now=now),
        )

    def save_judgement(self, lease: Lease, tenant: str, judgement: Judgement) -> None:
        """Store the judge's answer."""
        document = judgement_document(judgement)
        self._held(lease, tenant, lambda connection, _row: put(connection, tenant, lease.run_id, judgement=document))

    def save_plan(self, lease: Lease, tenant: str, plan: Plan) -> None:
        """Store the plan."""
        values = {"plan": plan_document(plan), "state": RunState.PLANNED.value}
        self._held(lease, tenant, lambda connection, _row: put(connection, tenant, lease.run_id, **values))

    def add_receipts(self, lease: Lease, tenant: str, receipts: Sequence[Receipt], *, now: datetime) -> None:
        """Store proofs of writes, and where providers keep copies."""

        def work(connection: Connection, row: Row[Any]) -> None:
            rows = [receipt_row(tenant, lease.run_id, receipt) for receipt in receipts]
            insert_missing(connection, run_receipts, rows)
            copies = run_states.copies_of(row.plan, receipts, now)
            later.add_copies(connection, tenant, lease.run_id, copies, now)

        self._held(lease, tenant, work)

    def finish(
        self,
        lease: Lease,
        tenant: str,
        *,
        counts: Mapping[str, int],
        timings_ms: Mapping[str, float],
        cost: JsonObject,
        now: datetime,
    ) -> Run:
        """Settle the digests and mark ``succeeded``."""

        def work(connection: Connection, _row: Row[Any]) -> Run:
            run_digests.settle(connection, lease.run_id)
            measured = {"counts": dict(counts), "timings_ms": dict(timings_ms), "cost": dict(cost)}
            done = {"state": RunState.SUCCEEDED.value, "finished_at": now, "lease_until": None}
            put(connection, tenant, lease.run_id, **measured, **done, error_code="", error_detail="")
            return known(connection, tenant, lease.run_id)

        return self._held(lease, tenant, work, states=(*run_states.UNFINISHED, RunState.SUCCEEDED.value))

    # --- by hand and by schedule

    def requeue(self, tenant: str, run_id: str, *, now: datetime, actor: str = "") -> Run:
        """Bring a stopped run back; let an unfinished one count as freshly sent."""
        return self._database.write(lambda connection: run_states.requeue(connection, tenant, run_id, now, actor))

    def bring_back(self, tenant: str, session_id: str, *, now: datetime) -> list[Run]:
        """Requeue the stopped runs of a session, newest first; what somebody else brings back meanwhile is theirs."""
        stopped = run_states.stopped_of(tenant, session_id)
        found = self._database.read(lambda connection: connection.scalars(stopped).all())
        back: list[Run] = []
        for run_id in found:
            with suppress(RunStateError, NotFoundError):
                back.append(self.requeue(tenant, run_id, now=now))
        return back

    def reopen(self, tenant: str, run_id: str, *, actor: str, now: datetime) -> Run:
        """Bring a succeeded run back to be judged again; its counts stay to tell that it succeeded once."""
        return self._database.write(lambda connection: run_states.reopen(connection, tenant, run_id, now, actor))

    def mark_undone(self, tenant: str, run_id: str, *, actor: str, now: datetime) -> Run:
        """Mark a succeeded run as undone."""
        return self._database.write(lambda connection: run_states.mark_undone(connection, tenant, run_id, now, actor))

    def add_retirements(self, lease: Lease | None, retirements: Sequence[Retirement], *, now: datetime) -> None:
        """Record removals that are still to be done."""
        if not retirements:
            return
        if lease is None:
            self._database.write(lambda connection: later.add(connection, retirements, now))
        else:
            self._held(lease, retirements[0].tenant, lambda connection, _row: later.add(connection, retirements, now))

    def due_retirements(self, *, now: datetime, limit: int) -> list[Retirement]:
        """Return removals that should be tried."""
        return self._database.read(lambda connection: later.due(connection, now, limit))

    def retired(self, retirement: Retirement, *, error: str, now: datetime) -> None:
        """Mark done (empty error) or failed with a later due time."""
        self._database.write(lambda connection: later.note_result(connection, retirement, error, now))

    def due_read_backs(self, *, now: datetime, limit: int) -> list[ReadBack]:
        """Return adds whose ``verify_at`` has come."""
        return self._database.read(lambda connection: later.due_read_backs(connection, now, limit))

    def read_back(self, check: ReadBack, *, external_ids: Sequence[str], error: str, now: datetime) -> None:
        """Note what a look into the store found."""
        self._database.write(lambda connection: later.note_read_back(connection, check, external_ids, error, now))

    def is_retired(self, tenant: str, provider: str, memory_id: str) -> bool:
        """Tell whether the removal of a memory from a provider was ever noted."""
        return self._database.read(lambda connection: later.is_noted(connection, tenant, provider, memory_id))

    def stop_looking(self, check: ReadBack, *, lost: bool) -> None:
        """Look for an add no more."""
        self._database.write(lambda connection: later.stop_looking(connection, check, lost=lost))

    def quarantine(self, run: Run, write: PlannedWrite, *, now: datetime) -> None:
        """Set the text of a planned write aside for review; repeats are ignored."""
        text = planned_text(run, write, now)
        self._database.write(lambda connection: set_aside(connection, text, now))

    def _held(
        self,
        lease: Lease,
        tenant: str,
        work: Callable[[Connection, Row[Any]], T],
        states: Sequence[str] = run_states.UNFINISHED,
    ) -> T:
        """Run ``work`` in a transaction that holds the run's row, if the fence is still the lease's.

        ``finish`` may find its own result: the database repeats work whose COMMIT was not answered.
        """

        def fenced(connection: Connection) -> T:
            row = connection.execute(select(runs).where(this(tenant, lease.run_id)).with_for_update()).first()
            if row is None or row.fence != lease.fence or row.state not in states:
                raise LeaseLostError(fields={"run_id": lease.run_id, "fence": lease.fence})
            return work(connection, row)

        return self._database.write(fenced)
