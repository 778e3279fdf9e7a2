"""Nothing can be changed, removed or reordered behind the product's back without being found."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from strata import config
from strata.clock import FakeClock
from strata.sharing import verify
from strata.sharing.units import NewUnit, UnitChange
from strata.storage.engine import open_database
from strata.storage.schema import migrate
from strata.storage.tables import memory_table
from strata.storage.users import SqlUserStore
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


RIGHT = "collection_no = (SELECT collection_no FROM collections WHERE tenant = :tenant AND name = 'household')"


@pytest.fixture
def granted(filled: Shelf) -> Shelf:
    """A shared collection, and what agents may do there: one that was revoked, one for a while."""
    filled.collections.put(filled.admin, "household", read_agents=["adviser", "coach"], memory_types=["episode"])
    ends = filled.clock.now() + timedelta(days=1)
    filled.grants.register(filled.admin, "household", "adviser", read=True, write=False, expires_at=ends)
    filled.grants.register(filled.access("coach"), "household", "coach", read=True, write=False)
    filled.grants.revoke(filled.admin, "household", "coach")
    filled.grants.revoke(filled.admin, "user:u", "stranger")
    assert filled.verification.verify(filled.tenant).is_whole
    return filled


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE collections SET read_agents = NULL WHERE name = 'household'", "policy_changed"),
        ("UPDATE collections SET memory_types = NULL WHERE name = 'household'", "policy_changed"),
        ("UPDATE collections SET conflict_policy = 'reject' WHERE name = 'user:u'", "policy_changed"),
        ("DELETE FROM collections WHERE name = 'household'", "policy_missing"),
    ],
)
def test_a_policy_changed_in_sql_is_found(granted: Shelf, statement: str, expected: str) -> None:
    assert (expected, "") in tamper(granted, f"{statement} AND tenant = :tenant")


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (f"UPDATE registrations SET may_write = 1 WHERE agent_id = 'adviser' AND {RIGHT}", "registration_changed"),
        (f"UPDATE registrations SET memory_types = NULL, expires_at = NULL WHERE {RIGHT}", "registration_changed"),
        (f"UPDATE registrations SET revoked_at = NULL WHERE agent_id = 'coach' AND {RIGHT}", "registration_changed"),
        (f"UPDATE registrations SET decided_by = 'coach' WHERE agent_id = 'coach' AND {RIGHT}", "registration_changed"),
        (
            f"UPDATE registrations SET agent_id = 'mallory' WHERE agent_id = 'adviser' AND {RIGHT}",
            "registration_unknown",
        ),
        ("DELETE FROM registrations WHERE agent_id = 'stranger'", "registration_missing"),
    ],
)
def test_a_right_given_in_sql_is_found(granted: Shelf, statement: str, expected: str) -> None:
    found = tamper(granted, statement)
    assert (expected, "") in found
    assert all(kind.startswith("registration_") for kind, _memory in found)


def test_what_is_removed_with_its_collection_or_its_user_is_whole(granted: Shelf) -> None:
    granted.collections.delete(granted.admin, "household")
    granted.collections.put(granted.admin, "user:u", read_agents=["adviser", "coach"])
    granted.grants.register(granted.access("coach"), "user:u", "coach", read=True, write=True)
    granted.grants.register(granted.access("coach"), "user:v", "coach", read=True, write=False)
    users = SqlUserStore(granted.database, granted.types)
    users.erase_memories(granted.tenant, "u", actor="admin", now=granted.clock.now())
    users.erase_sessions(granted.tenant, "u", actor="admin", now=granted.clock.now())
    assert granted.verification.verify(granted.tenant).is_whole
    granted.library.insert(granted.access("adviser"), "user:u", NewUnit(memory_type="user_preference", content="anew"))
    granted.grants.revoke(granted.admin, "user:u", "coach")
    granted.collections.put(granted.admin, "user:u", write_agents=["adviser"])
    assert granted.verification.verify(granted.tenant).is_whole
    stranger = "UPDATE registrations SET may_write = 1 WHERE agent_id = 'coach' AND may_read = 1"
    assert tamper(granted, stranger) == [("registration_changed", "")]


def test_a_forged_grant_is_found_as_a_changed_event(granted: Shelf) -> None:
    found = tamper(granted, "UPDATE events SET kind = 'registration.put' WHERE seq = 1 AND tenant = :tenant")
    assert found == [("event_changed", "")]


def test_pages_of_rights_are_walked_to_their_end(granted: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "PAGE", 1)
    assert granted.verification.verify(granted.tenant).is_whole


def _columns() -> list[str]:
    return [column.name for column in memory_table(TABLE).columns]
