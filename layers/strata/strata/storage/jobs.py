"""Leases of scheduled jobs: one worker at a time, and a dead one is replaced when its lease ends."""

from datetime import datetime, timedelta

from sqlalchemy import Connection, and_, or_, select, update

from strata.storage.engine import Database
from strata.storage.inserts import insert_missing
from strata.storage.tables import event_heads, jobs


class SqlJobStore:
    """The port ``JobStore``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, name: str, *, seconds: float, now: datetime) -> int | None:
        """Take the job's lease and return its fence; None while another holds it."""
        free = or_(jobs.c.lease_until.is_(None), jobs.c.lease_until <= now)
        taken = {"lease_until": now + timedelta(seconds=seconds), "fence": jobs.c.fence + 1}

        def work(connection: Connection) -> int | None:
            insert_missing(connection, jobs, [{"name": name, "cursor": {}, "fence": 0}])
            if connection.execute(update(jobs).where(jobs.c.name == name, free).values(**taken)).rowcount == 0:
                return None
            return int(connection.execute(select(jobs.c.fence).where(jobs.c.name == name)).scalar_one())

        return self._database.write(work)

    def finish(self, name: str, fence: int, *, now: datetime) -> None:
        """Give the lease back, unless somebody else has it by now."""
        own = and_(jobs.c.name == name, jobs.c.fence == fence)
        done = update(jobs).where(own).values(lease_until=None, finished_at=now)
        self._database.write(lambda connection: connection.execute(done))

    def tenants(self) -> list[str]:
        """Return every tenant that has left a trace."""
        query = select(event_heads.c.tenant).order_by(event_heads.c.tenant)
        return list(self._database.read(lambda connection: connection.execute(query).scalars().all()))
