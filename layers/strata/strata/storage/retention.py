"""What is kept for a number of days only: entries of the read ledger, and texts in quarantine.

Each call is one bounded transaction with one event for each tenant, so that a trail tells what was removed and when.
"""

from collections import Counter
from datetime import datetime

from sqlalchemy import Connection, delete, select, tuple_

from strata.model.events import NewEvent
from strata.storage import retirements
from strata.storage.engine import Database
from strata.storage.events import append_event
from strata.storage.purge import ACTOR
from strata.storage.tables import quarantine, read_ledger


class SqlRetention:
    """The port ``Retention``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def purge_reads(self, *, before: datetime, now: datetime, limit: int) -> int:
        """Remove entries of the read ledger, oldest first: entries are numbered in the order in which they came."""
        oldest = select(read_ledger.c.read_no, read_ledger.c.tenant, read_ledger.c.read_at)
        oldest = oldest.order_by(read_ledger.c.read_no).limit(limit)

        def work(connection: Connection) -> int:
            due = [row for row in connection.execute(oldest) if row.read_at < before]
            numbers = [row.read_no for row in due]
            removed = connection.execute(delete(read_ledger).where(read_ledger.c.read_no.in_(numbers))).rowcount
            _note(connection, "ledger.purged", Counter(row.tenant for row in due), now)
            return removed

        return self._database.write(work)

    def purge_quarantine(self, *, before: datetime, now: datetime, limit: int) -> int:
        """Remove texts that were set aside long ago, decided or not."""
        own = (quarantine.c.tenant, quarantine.c.quarantine_id)
        oldest = select(*own).where(quarantine.c.created_at < before).order_by(quarantine.c.created_at).limit(limit)

        def work(connection: Connection) -> int:
            due = [(row.tenant, row.quarantine_id) for row in connection.execute(oldest)]
            removed = connection.execute(delete(quarantine).where(tuple_(*own).in_(due))).rowcount if due else 0
            _note(connection, "quarantine.purged", Counter(tenant for tenant, _id in due), now)
            return removed

        return self._database.write(work)

    def retire_copies(self, *, now: datetime, limit: int) -> int:
        """Note the removal of providers' copies of memories that have run out."""
        return self._database.write(lambda connection: retirements.retire_expired(connection, now, limit))


def _note(connection: Connection, kind: str, removed: Counter[str], now: datetime) -> None:
    for tenant, count in sorted(removed.items()):
        append_event(connection, tenant, NewEvent(kind=kind, actor=ACTOR, detail={"count": count}), now)
