"""Memory types and the tables they live in. Types are made by operators; a write never makes one."""

import threading
from contextlib import suppress
from datetime import datetime

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from strata.clock import Clock
from strata.errors import ConflictError
from strata.model.memories import MemoryType
from strata.policy.names import checked_type_name
from strata.policy.retention import checked_ttl
from strata.storage.engine import Database
from strata.storage.schema import ensure
from strata.storage.tables import memory_table, memory_types, table_name

WARM_SECONDS = 15.0
"""A type that another process made is known here after at most this long, and at once when it is asked for."""


class SqlTypeStore:
    """The port ``TypeStore``."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._warm: dict[str, MemoryType] = {}
        self._read_at = 0.0

    def all(self) -> dict[str, MemoryType]:
        """Return the types by name, at most ``WARM_SECONDS`` old."""
        with self._lock:
            if not self._warm or self._clock.monotonic() - self._read_at > WARM_SECONDS:
                self._refresh()
            return self._warm

    def named(self, name: str) -> MemoryType | None:
        """Return one type; a name that is not known here is looked up."""
        found = self.all().get(name)
        if found is None:
            with self._lock:
                self._refresh()
            found = self._warm.get(name)
        return found

    def add(self, name: str, ttl_seconds: int, *, now: datetime) -> MemoryType:
        """Create a type and its table.

        Raises:
            ValidationError: not a name or not a life.
            ConflictError: the type exists with another life; the same one again is no error.
        """
        new = MemoryType(
            name=checked_type_name(name),
            table=table_name(name),
            ttl_seconds=checked_ttl(ttl_seconds),
            built_in=False,
        )
        # The table first: a type that is listed has its table, whoever stops in between.
        self._database.read(lambda connection: ensure(connection, [memory_table(new.table)]))
        known = self._listed(new, now)
        if known.ttl_seconds != new.ttl_seconds:
            raise ConflictError(f"The memory type {name} exists with another ttl.", fields={"ttl": known.ttl_seconds})
        return known

    def _listed(self, new: MemoryType, now: datetime) -> MemoryType:
        row = {"name": new.name, "table_name": new.table, "ttl_seconds": new.ttl_seconds, "built_in": False}
        with suppress(IntegrityError):  # somebody has listed it already
            self._database.write(lambda c: c.execute(insert(memory_types).values(**row, created_at=now)))
        with self._lock:
            self._refresh()
        return self._warm[new.name]

    def _refresh(self) -> None:
        rows = self._database.read(lambda c: c.execute(select(memory_types).order_by(memory_types.c.name)).all())
        self._warm = {
            row.name: MemoryType(
                name=row.name, table=row.table_name, ttl_seconds=row.ttl_seconds, built_in=row.built_in
            )
            for row in rows
        }
        self._read_at = self._clock.monotonic()
