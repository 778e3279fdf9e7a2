"""The schema is the same wherever it is made, and making it is safe to repeat."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import event, inspect, text

from strata import config
from strata.clock import FakeClock
from strata.errors import ConflictError, ValidationError
from strata.storage import schema
from strata.storage.engine import Database, open_database
from strata.storage.memory_types import SqlTypeStore
from strata.storage.schema import HEAD, migrate, schema_version
from strata.storage.tables import BUILT_IN_TYPES, metadata
from tests.fakes.library import Shelf


def test_the_head_is_the_newest_revision() -> None:
    files = Config()
    files.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(files).get_heads() == [HEAD]


def test_a_migrated_database_has_the_tables_that_the_code_expects(database: Database) -> None:
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        differences = [one for one in compare_metadata(context, metadata) if not _is_of_a_test(one)]
    assert differences == []


def test_an_up_to_date_database_costs_one_query(database: Database) -> None:
    statements: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    assert migrate(database) is False
    assert len(statements) == 1


def test_a_stopped_migration_goes_on(database_url: str, database: Database) -> None:
    with database.engine.connect() as connection:
        connection.execute(text("DELETE FROM alembic_version"))
        connection.execute(text("DROP TABLE audits"))
        index = "DROP INDEX ix_events_memory" + (" ON events" if database.dialect == "mysql" else "")
        connection.execute(text(index))
    assert schema_version(database) == ""
    assert migrate(database) is True
    assert schema_version(database) == HEAD
    assert inspect(database.engine).has_table("audits")
    assert "ix_events_memory" in {index["name"] for index in inspect(database.engine).get_indexes("events")}


def test_two_processes_may_start_at_once(database_url: str, database: Database) -> None:
    with database.engine.connect() as connection:
        connection.execute(text("DELETE FROM alembic_version"))
    processes = [open_database(config.Database(url=database_url), FakeClock()) for _ in range(3)]
    with ThreadPoolExecutor(3) as threads:
        done = sorted(threads.map(migrate, processes))
    for process in processes:
        process.close()
    assert done == [False, False, True]
    with database.engine.connect() as connection:
        listed = connection.execute(text("SELECT COUNT(*) FROM memory_types WHERE built_in")).scalar_one()
    assert listed == len(BUILT_IN_TYPES)


def test_an_operator_makes_a_type_and_its_table(shelf: Shelf) -> None:
    made = shelf.types.add("wine_note", 60, now=shelf.clock.now())
    again = shelf.types.add("wine_note", 60, now=shelf.clock.now())
    assert (made.table, made.ttl_seconds, made.built_in) == ("mem_wine_note", 60, False)
    assert again == made == shelf.types.all()["wine_note"]
    with pytest.raises(ConflictError):
        shelf.types.add("wine_note", 61, now=shelf.clock.now())
    with pytest.raises(ValidationError):
        shelf.types.add("wine; drop table agents", 60, now=shelf.clock.now())


def test_a_type_made_elsewhere_is_found_when_it_is_asked_for(shelf: Shelf) -> None:
    elsewhere = SqlTypeStore(shelf.database, shelf.clock)
    shelf.types.all()
    elsewhere.add("cheese_note", 0, now=shelf.clock.now())
    assert "cheese_note" not in shelf.types.all()
    assert shelf.types.named("cheese_note") is not None
    assert shelf.types.named("no_such_type") is None


def _is_of_a_test(difference: object) -> bool:
    return "_note" in str(difference)
