"""The read ledger on SQL: who has been given which version."""

from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import bindparam, insert, select

from strata.model.events import Read
from strata.storage.engine import Database
from strata.storage.statements import Statement
from strata.storage.tables import read_ledger

_FIELDS = ("memory_id", "version", "agent_id", "session_id", "request_id", "collection", "read_at")


class SqlReadLedger:
    """The port ``ReadLedger``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, tenant: str, reads: Sequence[Read]) -> None:
        """Enter deliveries, in one statement and one round trip."""
        if not reads:
            return
        values = {
            f"{field}_{place}": tenant if field == "tenant" else getattr(read, field)
            for place, read in enumerate(reads)
            for field in ("tenant", *_FIELDS)
        }
        entries = _entries(len(reads))
        self._database.read(lambda connection: entries.run(connection, **values))

    def readers(self, tenant: str, memory_id: str, *, version: int | None = None, limit: int = 1_000) -> list[Read]:
        """Return deliveries of a memory, newest first."""
        entry = read_ledger.c
        query = select(read_ledger).where(entry.tenant == tenant, entry.memory_id == memory_id)
        if version is not None:
            query = query.where(entry.version == version)
        query = query.order_by(entry.read_at.desc(), entry.read_no.desc()).limit(limit)
        rows = self._database.read(lambda connection: connection.execute(query).mappings().all())
        return [Read(**{field: row[field] for field in _FIELDS}) for row in rows]


@lru_cache(maxsize=128)  # a context delivers a few dozen memories: building the statement costs more than running it
def _entries(count: int) -> Statement:
    columns = [read_ledger.c[field] for field in ("tenant", *_FIELDS)]
    rows = [
        {column.name: bindparam(f"{column.name}_{place}", type_=column.type) for column in columns}
        for place in range(count)
    ]
    return Statement(insert(read_ledger).values(rows))
