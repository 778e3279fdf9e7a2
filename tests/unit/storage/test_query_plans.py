"""Which way SQLite, which knows nothing of the rows beforehand, goes to them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from strata import config
from strata.clock import FakeClock
from strata.storage.engine import open_database
from strata.storage.memory_queries import stored
from strata.storage.memory_types import SqlTypeStore
from strata.storage.schema import migrate
from tests.fakes.statements import listening

FINGERPRINT, USER = "ix_mem_user_preference_fingerprint", "ix_mem_user_preference_user"


@pytest.mark.parametrize("last", [FINGERPRINT, USER])
def test_a_repeat_is_looked_up_by_what_it_says_and_not_among_all_about_a_user(tmp_path: Path, last: str) -> None:
    """Of two indexes that would do, SQLite takes one by the order in which they were made."""
    path = tmp_path / "strata.db"
    clock = FakeClock()
    database = open_database(config.Database(url=f"sqlite:///{path}"), clock)
    migrate(database)
    types = SqlTypeStore(database, clock)
    values = dict.fromkeys(("in_tenant", "in_collection", "the_fingerprint", "the_user", "the_readers", "the_writers"))
    with closing(sqlite3.connect(path)) as plain:
        (made,) = plain.execute("SELECT sql FROM sqlite_master WHERE name = ?", [last]).fetchone()
        plain.execute(f"DROP INDEX {last}")
        plain.execute(made)
        with listening(database) as sent:
            twin = stored((types.all()["user_preference"],), "twin")
            database.read(lambda connection: twin.rows(connection, **values, at_instant=clock.now()))
        plan = str(plain.execute(f"EXPLAIN QUERY PLAN {sent[-1]}").fetchall())
    database.close()
    assert FINGERPRINT in plan
    assert USER not in plan
