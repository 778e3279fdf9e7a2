"""A migrated database of each kind, once per module; tests keep apart by tenants of their own."""

import itertools
from collections.abc import Iterator

import pytest

from strata import config
from strata.clock import FakeClock
from strata.storage.engine import Database, open_database
from strata.storage.schema import migrate
from tests.fakes.library import Shelf

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def database(database_url: str) -> Iterator[Database]:
    """A database with the schema in it."""
    opened = open_database(config.Database(url=database_url, pool_size=8), FakeClock())
    migrate(opened)
    yield opened
    opened.close()


@pytest.fixture
def tenant() -> str:
    """A tenant that no other test writes to."""
    return f"tenant-{next(_numbers)}"


@pytest.fixture
def clock() -> FakeClock:
    """A clock that moves when told."""
    return FakeClock()


@pytest.fixture
def shelf(database: Database, clock: FakeClock, tenant: str) -> Shelf:
    """The shared library over that database, for a tenant of the test's own."""
    return Shelf(database, clock, tenant)
