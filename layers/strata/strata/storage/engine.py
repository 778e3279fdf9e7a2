"""The database connection: bounded, transactional, retried where that is safe, with foreign errors translated once.

Connections run in autocommit. A read is therefore one round trip with a fresh snapshot, and nothing has to be reset
when it goes back to the pool. A write sends BEGIN, its statements and COMMIT. Write work must be safe to run again as
a whole: it is repeated after a deadlock, a lock timeout or a lost connection, also when the loss hid the outcome of
the COMMIT.
"""

import random
import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool

from strata import config
from strata.clock import Clock
from strata.errors import ConfigurationError, StatementTooLargeError, StorageUnavailableError

T = TypeVar("T")

PACKET_TOO_LARGE = 1153
RETRYABLE = frozenset(
    {0, 1020, 1053, 1077, 1078, 1079, 1205, 1213, 1290, 1792, 1836, 1927, 2003, 2006, 2013, 2014, 2055, 4031}
)
"""MySQL codes after which the same work may succeed: changed rows, shutdown, locks, failover, lost links."""
LOST = frozenset({0, 1053, 1077, 1078, 1079, 1290, 1792, 1836, 1927, 2003, 2006, 2013, 2014, 2055, 4031})
"""Those of them after which the connection itself is of no more use."""


class Database:
    """A bounded pool of connections with two verbs."""

    def __init__(self, engine: Engine, *, clock: Clock, retries: int) -> None:
        self.engine = engine
        self.dialect = engine.dialect.name
        self._clock = clock
        self._retries = retries

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` outside a transaction, each statement with its own snapshot.

        Raises:
            StorageUnavailableError: the database cannot be reached, or not in time.
        """
        return self._with_retries(work)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in one transaction, again from the start if it was rolled back for a passing reason.

        Raises:
            StorageUnavailableError: still not possible after the configured repeats.
            StatementTooLargeError: a statement exceeds the server's packet limit.
        """
        return self._with_retries(lambda connection: self._in_transaction(connection, work))

    def close(self) -> None:
        """Close all pooled connections."""
        self.engine.dispose()

    def _in_transaction(self, connection: Connection, work: Callable[[Connection], T]) -> T:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if self.dialect == "sqlite" else "BEGIN")
        try:
            result = work(connection)
            connection.exec_driver_sql("COMMIT")
        except BaseException as error:
            _roll_back(connection, error)
            raise
        return result

    def _with_retries(self, work: Callable[[Connection], T]) -> T:
        for attempt in range(self._retries + 1):
            try:
                return self._once(work)
            except PoolTimeoutError:
                message = "All database connections are busy."
                raise StorageUnavailableError(message) from None
            except (OperationalError, InterfaceError) as error:
                self._give_up_or_wait(error, attempt)
        raise StorageUnavailableError

    def _once(self, work: Callable[[Connection], T]) -> T:
        with self.engine.connect() as connection:
            try:
                return work(connection)
            except (OperationalError, InterfaceError) as error:
                if self.dialect == "mysql" and _code(error) in LOST:
                    connection.invalidate()
                raise

    def _give_up_or_wait(self, error: DBAPIError, attempt: int) -> None:
        code = _code(error)
        if code == PACKET_TOO_LARGE:
            raise StatementTooLargeError from None
        if not (self._is_passing(error, code) and attempt < self._retries):
            raise StorageUnavailableError(fields={"database_code": code}) from error
        self._clock.sleep(random.uniform(0.0, 0.02 * 2**attempt))  # noqa: S311 jitter, not a secret

    def _is_passing(self, error: DBAPIError, code: int) -> bool:
        if self.dialect == "sqlite":
            return "locked" in str(error.orig) or "busy" in str(error.orig)
        return code in RETRYABLE or error.connection_invalidated


def open_database(settings: config.Database, clock: Clock) -> Database:
    """Make the pool; no connection is opened before the first call.

    Raises:
        ConfigurationError: the URL names neither SQLite nor MySQL.
    """
    url = make_url(settings.url)
    openers = {"sqlite": _sqlite_engine, "mysql": _mysql_engine}
    backend = url.get_backend_name()
    if backend not in openers:
        message = f"STRATA_DATABASE_URL: {backend} is not supported"
        raise ConfigurationError(message, hint="Use sqlite:///file or mysql+pymysql://user:password@host/name.")
    return Database(openers[backend](url, settings), clock=clock, retries=settings.retries)


def _pool_options(settings: config.Database) -> dict[str, Any]:
    return {
        "poolclass": QueuePool,
        "pool_size": settings.pool_size,
        "max_overflow": 0,
        "pool_timeout": settings.pool_wait_seconds,
        "pool_reset_on_return": None,
        "isolation_level": "AUTOCOMMIT",
        "skip_autocommit_rollback": True,
    }


def _sqlite_engine(url: URL, settings: config.Database) -> Engine:
    engine = create_engine(
        url, connect_args={"timeout": settings.lock_wait_seconds, "check_same_thread": False}, **_pool_options(settings)
    )
    event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _mysql_engine(url: URL, settings: config.Database) -> Engine:
    arguments = {
        "charset": "utf8mb4",
        "connect_timeout": settings.connect_timeout_seconds,
        "read_timeout": settings.read_timeout_seconds,
        "write_timeout": settings.write_timeout_seconds,
        "client_flag": 2,  # CLIENT.FOUND_ROWS: an update that writes equal values still counts its row
    }
    return create_engine(url, connect_args=arguments, **_pool_options(settings))


def _roll_back(connection: Connection, error: BaseException) -> None:
    if isinstance(error, DBAPIError) and (error.connection_invalidated or _code(error) in LOST):
        return  # the server has rolled back already, or nobody is there to be told
    connection.exec_driver_sql("ROLLBACK")


def _code(error: DBAPIError) -> int:
    arguments = getattr(error.orig, "args", ())
    return arguments[0] if arguments and isinstance(arguments[0], int) else -1
