"""Bringing a database to the schema of this release: one query if it is there already, safe if several start at once.

Alembic revisions lie in ``storage/migrations``. MySQL commits every DDL statement by itself, so a revision has to be
able to go on where a crashed one stopped: it creates what is missing (``ensure``).
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Table, inspect, text
from sqlalchemy.exc import OperationalError, ProgrammingError

from strata.errors import StorageUnavailableError
from strata.storage.engine import Database

HEAD = "0003"
"""The newest revision."""

LOCK_NAME = "strata.migrate"
LOCK_WAIT_SECONDS = 2
"""One wait for the lock; shorter than a connection's read timeout."""
LOCK_WAITS = 30
_MIGRATIONS = Path(__file__).parent / "migrations"


def schema_version(database: Database) -> str:
    """Return the revision a database is at; empty before the first."""
    return database.read(_version)


def migrate(database: Database) -> bool:
    """Bring a database to ``HEAD``; tell whether there was anything to do.

    Raises:
        StorageUnavailableError: not reachable, or another process has been migrating for longer than a minute.
    """
    if schema_version(database) == HEAD:
        return False
    if database.dialect == "sqlite":
        return database.write(_upgrade)
    return database.read(_upgrade_alone)


def ensure(connection: Connection, tables: Iterable[Table]) -> None:
    """Create those tables and indexes that are missing."""
    inspector = inspect(connection)
    present = set(inspector.get_table_names())
    for table in tables:
        if table.name not in present:
            table.create(connection)
            continue
        indexed = {index["name"] for index in inspector.get_indexes(table.name)}
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            if index.name not in indexed:
                index.create(connection)


def _version(connection: Connection) -> str:
    try:
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or ""
    except (OperationalError, ProgrammingError):
        if inspect(connection).has_table("alembic_version"):
            raise
        return ""


def _upgrade_alone(connection: Connection) -> bool:
    with _named_lock(connection):
        return _upgrade(connection)


def _upgrade(connection: Connection) -> bool:
    if _version(connection) == HEAD:
        return False  # another process did it while this one waited
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    return True


@contextmanager
def _named_lock(connection: Connection) -> Iterator[None]:
    name = f"{LOCK_NAME}.{connection.engine.url.database}"[:64]
    wait = text("SELECT GET_LOCK(:name, :seconds)").bindparams(name=name, seconds=LOCK_WAIT_SECONDS)
    if not any(connection.execute(wait).scalar() == 1 for _ in range(LOCK_WAITS)):
        raise StorageUnavailableError("Another process is migrating the database.")
    try:
        yield
    finally:
        connection.execute(text("SELECT RELEASE_LOCK(:name)"), {"name": name})
