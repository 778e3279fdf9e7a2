"""What a run leaves to be done later: removals from a provider, and adds to be seen there."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, or_, select, update
from sqlalchemy.engine import Connection

from strata.model.runs import Retirement
from strata.policy.names import derived_id
from strata.ports import ReadBack
from strata.storage.inserts import insert_missing
from strata.storage.run_rows import receipt_from, retirement_from
from strata.storage.tables import provider_copies, run_receipts, runs
from strata.storage.tables import retirements as table

FIRST_WAIT_SECONDS = 60
LONGEST_WAIT_SECONDS = 6 * 3_600


def add(connection: Connection, retirements: Sequence[Retirement], now: datetime) -> None:
    """Note removals; those already noted stay as they are."""
    rows = [
        {**{name: getattr(item, name) for name in Retirement.__dataclass_fields__}, "created_at": now, "due_at": now}
        for item in retirements
    ]
    insert_missing(connection, table, rows)


def due(connection: Connection, now: datetime, limit: int) -> list[Retirement]:
    """Return removals that should be tried, longest due first."""
    wanted = select(table).where(table.c.done_at.is_(None), table.c.due_at <= now).order_by(table.c.due_at).limit(limit)
    return [retirement_from(row) for row in connection.execute(wanted)]


def is_noted(connection: Connection, tenant: str, provider: str, memory_id: str) -> bool:
    """Tell whether a removal was noted, done or not."""
    this = (table.c.tenant == tenant) & (table.c.provider == provider) & (table.c.memory_id == memory_id)
    return connection.execute(select(table.c.retirement_id).where(this).limit(1)).first() is not None


def note_result(connection: Connection, item: Retirement, error: str, now: datetime) -> None:
    """Mark done, or failed and due again later."""
    if not error:
        _forget(connection, item)
    tried = item.attempts + 1
    outcome = {"last_error": error, "due_at": now + wait_after(tried)} if error else {"done_at": now, "last_error": ""}
    this = (table.c.tenant == item.tenant) & (table.c.retirement_id == item.retirement_id) & table.c.done_at.is_(None)
    connection.execute(update(table).where(this).values(attempts=tried, **outcome))


def _forget(connection: Connection, item: Retirement) -> None:
    """Note no longer that a provider has a copy; of what belongs to no run, not even that it was removed."""
    copy = provider_copies.c
    named = or_(copy.memory_id == item.memory_id, copy.external_id == item.memory_id)
    own = and_(copy.tenant == item.tenant, copy.provider == item.provider, copy.collection == item.collection)
    connection.execute(delete(provider_copies).where(own, named))
    if not item.run_id:
        this = and_(table.c.tenant == item.tenant, table.c.retirement_id == item.retirement_id)
        connection.execute(delete(table).where(this))


def retire_expired(connection: Connection, now: datetime, limit: int) -> int:
    """Note the removal of copies whose memory has run out, longest ago first; return how many."""
    copy = provider_copies.c
    due = select(provider_copies).where(copy.expires_at <= now).order_by(copy.expires_at).limit(limit)
    rows = connection.execute(due.with_for_update()).all()
    by_memory = {(row.tenant, row.provider, row.memory_id): row for row in rows}
    add(connection, [_removal("expired", row) for row in by_memory.values()], now)
    for row in by_memory.values():
        this = and_(copy.tenant == row.tenant, copy.provider == row.provider, copy.memory_id == row.memory_id)
        connection.execute(update(provider_copies).where(this).values(expires_at=None))
    return len(rows)


def _removal(why: str, row: Row[Any]) -> Retirement:
    return Retirement(
        retirement_id=derived_id(why, row.provider, row.memory_id),
        tenant=row.tenant,
        provider=row.provider,
        collection=row.collection,
        memory_id=row.memory_id,
        replaced_by="",
        run_id="",
    )


def wait_after(attempts: int) -> timedelta:
    """Return how long to wait after so many failures: doubling, capped."""
    return timedelta(seconds=min(FIRST_WAIT_SECONDS * 2 ** min(attempts - 1, 20), LONGEST_WAIT_SECONDS))


def due_read_backs(connection: Connection, now: datetime, limit: int) -> list[ReadBack]:
    """Return adds that should be looked for, longest due first."""
    wanted = select(run_receipts).where(run_receipts.c.verify_at <= now).order_by(run_receipts.c.verify_at).limit(limit)
    return [
        ReadBack(tenant=row.tenant, run_id=row.run_id, receipt=receipt_from(row), attempts=row.verify_attempts)
        for row in connection.execute(wanted)
    ]


def note_read_back(
    connection: Connection, check: ReadBack, external_ids: Sequence[str], error: str, now: datetime
) -> None:
    """Mark an add as seen under its lasting ids, or as due again later."""
    tried = check.attempts + 1
    if error:
        values = {"verify_attempts": tried, "verify_at": now + wait_after(tried)}
    else:
        values = {"verify_attempts": tried, "verify_at": None, "external_ids": list(external_ids)}
        _note_copies(connection, check, external_ids, now)
    connection.execute(update(run_receipts).where(_this_receipt(check)).values(**values))


def stop_looking(connection: Connection, check: ReadBack, *, lost: bool) -> None:
    """Look for an add no more; looks without a lasting id say that it is lost."""
    looks = check.attempts + 1 if lost else 0
    values: dict[str, Any] = {"verify_attempts": looks, "verify_at": None, "external_ids": []}
    connection.execute(update(run_receipts).where(_this_receipt(check)).values(**values))


def _note_copies(connection: Connection, check: ReadBack, external_ids: Sequence[str], now: datetime) -> None:
    copy = (
        (provider_copies.c.tenant == check.tenant)
        & (provider_copies.c.provider == check.receipt.provider)
        & (provider_copies.c.memory_id == check.receipt.memory_id)
    )
    known = connection.execute(select(provider_copies).where(copy)).first()
    if known is None:
        return
    shared = {name: getattr(known, name) for name in ("created_at", "user_id", "expires_at")} | {"verified_at": now}
    place = {"tenant": check.tenant, "collection": known.collection, "provider": check.receipt.provider}
    rows = [
        {"memory_id": check.receipt.memory_id, "external_id": external_id, **place, **shared}
        for external_id in external_ids
    ]
    insert_missing(connection, provider_copies, rows)
    if rows:
        connection.execute(delete(provider_copies).where(copy, provider_copies.c.external_id == ""))


def _this_receipt(check: ReadBack) -> ColumnElement[bool]:
    return (
        (run_receipts.c.tenant == check.tenant)
        & (run_receipts.c.run_id == check.run_id)
        & (run_receipts.c.write_key == check.receipt.key)
        & (run_receipts.c.provider == check.receipt.provider)
    )


def add_copies(connection: Connection, tenant: str, run_id: str, rows: Sequence[dict[str, Any]], now: datetime) -> None:
    """Note where a provider keeps a user's memory, so that an erasure finds it."""
    user_id = connection.scalar(select(runs.c.user_id).where(runs.c.tenant == tenant, runs.c.run_id == run_id)) or ""
    full = [{**row, "tenant": tenant, "user_id": user_id, "created_at": now} for row in rows]
    insert_missing(connection, provider_copies, full)
