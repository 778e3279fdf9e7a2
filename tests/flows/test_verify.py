"""Nothing can be changed, removed or reordered behind the product's back without being found."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from strata import config
from strata.clock import FakeClock
from strata.sharing.units import NewUnit, UnitChange
from strata.storage.engine import open_database
from strata.storage.schema import migrate
from strata.storage.tables import memory_table
from tests.fakes.library import Shelf

TABLE = "mem_user_preference"


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Shelf]:
    clock = FakeClock()
    database = open_database(config.Database(url=f"sqlite:///{tmp_path / 'strata.db'}"), clock)
    migrate(database)
    yield fill(Shelf(database, clock, "t"))
    database.close()


def fill(shelf: Shelf) -> Shelf:
    agent = shelf.access("adviser")
    for number in (1, 2, 3):
        unit = NewUnit(memory_type="user_preference", content=f"fact {number}", memory_id=f"m{number}")
        shelf.library.insert(agent, "user:u", unit)
    shelf.library.update(agent, "user:u", "m1", UnitChange(content="a better fact"))
    shelf.library.delete(agent, "user:u", "m2")
    return shelf


def tamper(shelf: Shelf, *statements: str) -> list[tuple[str, str]]:
    """Change rows behind the product's back and return what is found."""

    def work(connection: Connection) -> None:
        for statement in statements:
            connection.execute(text(statement), {"tenant": shelf.tenant})

    shelf.database.write(work)
    found = shelf.verification.verify(shelf.tenant).findings
    return [(finding.kind, finding.memory_id) for finding in found]


def test_what_the_product_did_is_whole(filled: Shelf) -> None:
    verified = filled.verification.verify(filled.tenant)
    assert verified.findings == ()
    assert (verified.events, verified.memories, verified.versions) == (5, 3, 5)
    assert filled.verification.verify("nobody").is_whole


@pytest.mark.parametrize(
    "change",
    [
        "content = 'poison'",
        "standing = 1",
        "expires_at = '2030-01-01 00:00:00'",
        "agent_id = 'mallory'",
        "status = 'superseded'",
        "importance = 1",
        'metadata = \'{"source":"forged"}\'',
        "read_agents = '\nmallory\n'",
        "embedding = x'00'",
        "version = 1",
        "user_id = 'x'",
        "confidence = 0.5",
    ],
)
def test_a_changed_memory_is_found(filled: Shelf, change: str) -> None:
    found = tamper(filled, f"UPDATE {TABLE} SET {change} WHERE tenant = :tenant AND memory_id = 'm1'")
    assert found == [("memory_changed", "m1")]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE memory_versions SET content = 'x' WHERE memory_id = 'm1' AND version = 1", ("version_changed", "m1")),
        ("UPDATE memory_versions SET agent_id = 'x' WHERE memory_id = 'm3'", ("version_changed", "m3")),
        ("DELETE FROM memory_versions WHERE memory_id = 'm1' AND version = 1", ("version_missing", "m1")),
        ("DELETE FROM memory_versions WHERE memory_id = 'm1' AND version = 2", ("version_missing", "m1")),
        (f"DELETE FROM {TABLE} WHERE memory_id = 'm3'", ("memory_missing", "m3")),
        ("DELETE FROM events WHERE seq = 2", ("event_missing", "")),
        ("DELETE FROM events WHERE seq = 5", ("head_moved", "")),
        ("UPDATE events SET actor = 'x' WHERE seq = 3", ("event_changed", "")),
        ("UPDATE event_heads SET last_seq = 4", ("head_moved", "")),
    ],
)
def test_what_was_changed_or_removed_is_found(filled: Shelf, statement: str, expected: tuple[str, str]) -> None:
    joint = " AND " if "WHERE" in statement else " WHERE "
    assert expected in tamper(filled, f"{statement}{joint}tenant = :tenant")


def test_swapped_events_are_found(filled: Shelf) -> None:
    swap = "UPDATE events SET seq = {} WHERE tenant = :tenant AND seq = {}"
    found = tamper(filled, swap.format(99, 2), swap.format(2, 3), swap.format(3, 99))
    assert {"event_reordered", "event_changed"} <= {kind for kind, _memory in found}


def test_a_forged_memory_is_found(filled: Shelf) -> None:
    columns = ", ".join(column for column in _columns() if column != "memory_id")
    forged = f"INSERT INTO {TABLE} (memory_id, {columns}) SELECT 'm9', {columns} FROM {TABLE}"
    found = tamper(filled, f"{forged} WHERE tenant = :tenant AND memory_id = 'm3'")
    assert ("memory_unknown", "m9") in found


def test_an_old_state_of_a_memory_put_back_is_found(filled: Shelf) -> None:
    """Row and version are genuine, each with its own digest; only the trail knows that there was more."""
    old = (
        f"UPDATE {TABLE} SET version = 1, content = (SELECT content FROM memory_versions AS v WHERE v.tenant = :tenant"
        " AND v.memory_id = 'm1' AND v.version = 1) WHERE tenant = :tenant AND memory_id = 'm1'"
    )
    gone = "DELETE FROM memory_versions WHERE tenant = :tenant AND memory_id = 'm1' AND version = 2"
    assert {("memory_changed", "m1"), ("version_missing", "m1")} <= set(tamper(filled, old, gone))


def test_a_whole_database_put_back_is_found_by_a_head_kept_elsewhere(filled: Shelf) -> None:
    seq, head = filled.verification.verify(filled.tenant).head
    assert filled.verification.verify(filled.tenant, anchors={seq: head}).is_whole
    later = {seq: head, seq + 1: "f" * 64}
    assert [one.kind for one in filled.verification.verify(filled.tenant, anchors=later).findings] == [
        "history_replaced"
    ]
    assert [one.kind for one in filled.verification.verify(filled.tenant, anchors={2: "0" * 64}).findings] == [
        "history_replaced"
    ]


def _columns() -> list[str]:
    return [column.name for column in memory_table(TABLE).columns]
