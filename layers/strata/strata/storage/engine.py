"""The database connection: bounded, transactional, retried where that is safe, with foreign errors translated once.

Connections run in autocommit. A read is therefore one round trip with a fresh snapshot, and nothing has to be reset
when it goes back to the pool. A write sends BEGIN, its statements and COMMIT. Write work must be safe to run again as
a whole: it is repeated after a deadlock, a lock timeout or a lost connection, also when the loss hid the outcome of
the COMMIT.
"""

import random
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import create_engine
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool

from strata import config
from strata.clock import Clock
from strata.errors import ConfigurationError, StatementTooLargeError, StorageUnavailableError
from strata.storage import connecting

T = TypeVar("T")

PACKET_TOO_LARGE = 1153
LOST = frozenset({0, 1053, 1077, 1078, 1079, 1290, 1792, 1836, 1927, 2003, 2006, 2013, 2014, 2055, 4031})
"""MySQL codes after which a connection is of no more use: lost link, shutdown, failover, a server turned read-only."""
RETRYABLE = LOST | {1020, 1205, 1213}
"""Those, and the codes of a lost race for rows and locks: the same work may succeed when it is done again."""


class Database:
    """A bounded pool of connections with two verbs."""

    def __init__(self, engine: Engine, *, clock: Clock, retries: int, retry_seconds: float = 8.0) -> None:
        self.engine = engine
        self.dialect = engine.dialect.name
        self._clock = clock
        self._retries = retries
        self._retry_seconds = retry_seconds
        self._foreign: Any = engine.dialect.loaded_dbapi
        self.taken: tuple[type[Exception], ...] = (self._foreign.IntegrityError, IntegrityError)
        """What is raised where a key is in use: by the driver, and by SQLAlchemy."""
        self._era = 0
        self._begin = "BEGIN IMMEDIATE" if self.dialect == "sqlite" else "BEGIN"

    @property
    def era(self) -> int:
        """How often the server was lost so far. What was known of its rows before is no longer certain."""
        return self._era

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
        _say(connection, self._begin)
        try:
            result = work(connection)
            _say(connection, "COMMIT")
        except BaseException as error:
            self._roll_back(connection, error)
            raise
        return result

    def _roll_back(self, connection: Connection, error: BaseException) -> None:
        if self._is_lost(error):
            return  # the server has rolled back already, or nobody is there to be told
        try:
            _say(connection, "ROLLBACK")
        except self._foreign.Error:
            connection.invalidate()  # a closed connection is rolled back by the server

    def _with_retries(self, work: Callable[[Connection], T]) -> T:
        give_up_at = self._clock.monotonic() + self._retry_seconds
        for attempt in range(self._retries + 1):
            try:
                return self._once(work)
            except PoolTimeoutError:
                raise StorageUnavailableError("All database connections are busy.") from None
            except (DBAPIError, self._foreign.Error) as error:
                last = attempt == self._retries or self._clock.monotonic() >= give_up_at
                self._give_up_or_wait(error, attempt, last=last)
        raise StorageUnavailableError

    def _once(self, work: Callable[[Connection], T]) -> T:
        with self.engine.connect() as connection:
            era = self._renewed(connection)
            try:
                return work(connection)
            except (DBAPIError, self._foreign.Error) as error:
                if self._is_lost(error):
                    connection.invalidate()
                    self._era = max(self._era, era + 1)
                raise

    def _renewed(self, connection: Connection) -> int:
        """Pass over pooled connections from before the last loss: a server that restarted has forgotten all of them."""
        while connection.info.setdefault("era", self._era) < self._era:
            connection.invalidate()
        return int(connection.info["era"])

    def _give_up_or_wait(self, error: Exception, attempt: int, *, last: bool) -> None:
        code = _code(error)
        if code == PACKET_TOO_LARGE:
            raise StatementTooLargeError from None
        if not self._is_operational(error):
            raise error
        if last or not self._is_passing(error):
            raise StorageUnavailableError(fields={"database_code": code}) from error
        self._clock.sleep(random.uniform(0.0, 0.02 * 2**attempt))  # noqa: S311 jitter, not a secret

    def _is_operational(self, error: BaseException) -> bool:
        """Tell trouble of the server or the link from what the statement itself did wrong."""
        return isinstance(_cause(error), self._foreign.OperationalError | self._foreign.InterfaceError)

    def _is_passing(self, error: Exception) -> bool:
        if self.dialect == "sqlite":
            return "locked" in str(_cause(error)) or "busy" in str(_cause(error))
        return _code(error) in RETRYABLE or self._is_lost(error)

    def _is_lost(self, error: BaseException) -> bool:
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            return True
        return self.dialect == "mysql" and self._is_operational(error) and _code(error) in LOST


def open_database(settings: config.Database, clock: Clock) -> Database:
    """Make the pool; no connection is opened before the first call.

    Raises:
        ConfigurationError: the URL names neither SQLite nor MySQL.
    """
    url = make_url(settings.url)
    openers = {"sqlite": connecting.sqlite_options, "mysql": connecting.mysql_options}
    backend = url.get_backend_name()
    if backend not in openers:
        message = f"STRATA_DATABASE_URL: {backend} is not supported"
        raise ConfigurationError(message, hint="Use sqlite:///file or mysql+pymysql://user:password@host/name.")
    engine = create_engine(url, connect_args=openers[backend](settings), **_pool_options(settings))
    connecting.prepare(engine, settings)
    return Database(engine, clock=clock, retries=settings.retries, retry_seconds=settings.retry_seconds)


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


def _say(connection: Connection, command: str) -> None:
    """Send a command that has neither parameters nor rows, without SQLAlchemy's machinery around it."""
    connection.connection.cursor().execute(command)


def _cause(error: BaseException) -> BaseException | None:
    return error.orig if isinstance(error, DBAPIError) else error


def _code(error: BaseException) -> int:
    arguments = getattr(_cause(error), "args", ())
    return arguments[0] if arguments and isinstance(arguments[0], int) else -1
