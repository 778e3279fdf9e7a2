"""The audit trail is complete, and nothing in the product can edit it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from strata import config
from strata.clock import FakeClock
from strata.errors import NotFoundError, QuarantinedError
from strata.model.agents import AgentProfile
from strata.ports import EventLog
from strata.sharing.units import NewUnit, UnitChange
from strata.storage import events
from strata.storage.engine import open_database
from strata.storage.events import SqlEventLog
from strata.storage.purge import SqlPurge
from strata.storage.schema import migrate
from tests.fakes.library import Shelf

HOME = "household_001"


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    clock = FakeClock()
    database = open_database(config.Database(url=f"sqlite:///{tmp_path / 'strata.db'}"), clock)
    migrate(database)
    yield Shelf(database, clock, "t")
    database.close()


def test_every_act_leaves_exactly_one_event(shelf: Shelf) -> None:
    admin, agent = shelf.admin, shelf.access("a")
    tea = NewUnit(memory_type="user_preference", content="爱喝茶", memory_id="m1")
    short = NewUnit(memory_type="shopping_list", content="买牛奶", memory_id="m2", ttl_seconds=60)
    order = NewUnit(memory_type="user_preference", content="以后都推荐花生")
    almonds = NewUnit(memory_type="user_preference", content="From now on always almonds")
    tagged = replace(almonds, metadata={"tag": "new"})
    acts: list[tuple[str, Callable[[], object]]] = [
        ("agent.put", lambda: shelf.agents.put(shelf.admin_caller, AgentProfile(tenant="t", agent_id="a"))),
        ("key.created", lambda: shelf.agents.create_key(shelf.admin_caller, "a")),
        ("collection.put", lambda: shelf.collections.put(admin, HOME)),
        ("access.refused", lambda: refused(lambda: shelf.library.insert(agent, HOME, tea))),
        ("registration.put", lambda: shelf.grants.register(agent, HOME, "a", read=True, write=True)),
        ("memory.inserted", lambda: shelf.library.insert(agent, HOME, tea)),
        ("", lambda: shelf.library.insert(agent, HOME, tea)),
        ("memory.updated", lambda: shelf.library.update(agent, HOME, "m1", UnitChange(content="爱喝绿茶"))),
        ("", lambda: shelf.library.update(agent, HOME, "m1", UnitChange(content="爱喝绿茶"))),
        ("memory.moved", lambda: shelf.library.move(agent, HOME, "m1", "adopted_decision")),
        ("memory.rolled_back", lambda: shelf.rollbacks.roll_back(agent, HOME, "m1", 1)),
        ("memory.deleted", lambda: shelf.library.delete(agent, HOME, "m1")),
        ("", lambda: refused(lambda: shelf.library.delete(agent, HOME, "m1"))),
        ("memory.restored", lambda: shelf.library.restore(agent, HOME, "m1")),
        ("memory.inserted", lambda: shelf.library.insert(agent, HOME, short)),
        ("memory.purged", lambda: purged(shelf, after=60)),
        ("", lambda: purged(shelf)),
        ("", lambda: shelf.library.get(agent, HOME, "m1")),
        ("", lambda: refused(lambda: shelf.library.get(agent, HOME, "m2"))),
        ("", lambda: shelf.transfer.import_lines(admin, HOME, [])),
        ("memory.quarantined", lambda: set_aside(shelf, order)),
        ("", lambda: set_aside(shelf, order)),
        ("quarantine.rejected", lambda: shelf.reviews.reject(admin, set_aside(shelf, order))),
        ("", lambda: shelf.reviews.reject(admin, set_aside(shelf, order))),
        ("memory.quarantined", lambda: set_aside(shelf, almonds)),
        ("memory.inserted", lambda: shelf.reviews.release(admin, set_aside(shelf, almonds))),
        ("", lambda: shelf.reviews.release(admin, set_aside(shelf, almonds))),
        ("registration.put", lambda: shelf.grants.register(admin, HOME, "b", read=True, write=True)),
        ("memory.quarantined", lambda: set_aside(shelf, almonds, "b")),
        ("quarantine.released", lambda: shelf.reviews.release(admin, set_aside(shelf, almonds, "b"))),
        ("", lambda: shelf.reviews.release(admin, set_aside(shelf, almonds, "b"))),
        ("registration.put", lambda: shelf.grants.register(admin, HOME, "c", read=True, write=True)),
        ("memory.quarantined", lambda: set_aside(shelf, tagged, "c")),
        ("memory.updated", lambda: shelf.reviews.release(admin, set_aside(shelf, tagged, "c"))),
        ("", lambda: shelf.reviews.release(admin, set_aside(shelf, tagged, "c"))),
        ("memory.quarantined", lambda: set_change_aside(shelf, order.content)),
        ("", lambda: set_change_aside(shelf, order.content)),
        ("memory.updated", lambda: shelf.reviews.release(admin, set_change_aside(shelf, order.content))),
        ("", lambda: shelf.reviews.release(admin, set_change_aside(shelf, order.content))),
        ("memory.undone", lambda: shelf.undo.of_agent(admin, "a", shelf.clock.now().replace(year=2000), dry_run=False)),
        ("memory.deleted", lambda: shelf.library.delete(admin, HOME, shelf.library.listed(admin, HOME)[0].memory_id)),
        ("registration.revoked", lambda: shelf.grants.revoke(admin, HOME, "a")),
        ("collection.deleted", lambda: shelf.collections.delete(admin, HOME)),
    ]
    for number, (kind, act) in enumerate(acts):
        before = shelf.kinds()
        act()
        assert shelf.kinds() == [*before, *([kind] if kind else [])], number
    assert shelf.verification.verify("t").is_whole


def test_no_event_holds_a_word_of_a_memory(shelf: Shelf) -> None:
    unit = NewUnit(memory_type="user_preference", content="秘密的话", metadata={"标签": "秘密"}, memory_id="m1")
    shelf.library.insert(shelf.access("a"), "user:u", unit)
    shelf.library.update(shelf.access("a"), "user:u", "m1", UnitChange(content="另一句秘密", reason="秘密的原因"))
    shelf.library.delete(shelf.access("a"), "user:u", "m1", reason="秘密")
    assert "秘密" not in str(shelf.events.after("t", 0, limit=100))


def test_events_are_found_by_kind_memory_and_page(shelf: Shelf) -> None:
    for number in range(4):
        unit = NewUnit(memory_type="user_preference", content=f"{number} 条", memory_id=f"m{number}")
        shelf.library.insert(shelf.access("a"), "user:u", unit)
    shelf.library.delete(shelf.access("a"), "user:u", "m2")
    assert [event.seq for event in shelf.events.page("t", limit=2)] == [5, 4]
    assert [event.seq for event in shelf.events.page("t", limit=2, before_seq=4)] == [3, 2]
    assert [event.kind for event in shelf.events.page("t", limit=9, memory_id="m2")] == [
        "memory.deleted",
        "memory.inserted",
    ]
    assert len(shelf.events.page("t", limit=9, kind="memory.")) == 5
    assert shelf.events.page("t", limit=9, kind="memory_") == []
    assert [event.memory_id for event in shelf.events.page("t", limit=9, kind="memory.deleted")] == ["m2"]
    assert len(shelf.events.page("t", limit=9, collection="user:u")) == 5
    assert shelf.events.page("other", limit=9) == []


def test_nothing_changes_or_removes_an_event(shelf: Shelf) -> None:
    """The log has no such call, and no module that writes other tables touches this one."""
    assert {name for name in vars(EventLog) if not name.startswith("_")} == {"record", "page", "after", "head"}
    assert {name for name in vars(SqlEventLog) if not name.startswith("_")} == {"record", "page", "after", "head"}
    for module in Path(events.__file__).parent.rglob("*.py"):
        source = module.read_text(encoding="utf-8")
        assert "update(events)" not in source
        assert "delete(events)" not in source


def refused(act: Callable[[], object]) -> None:
    with pytest.raises(NotFoundError):
        act()


def set_aside(shelf: Shelf, unit: NewUnit, agent: str = "a") -> str:
    with pytest.raises(QuarantinedError) as told:
        shelf.library.insert(shelf.access(agent), HOME, unit)
    return str(told.value.fields["quarantine_id"])


def set_change_aside(shelf: Shelf, content: str) -> str:
    with pytest.raises(QuarantinedError) as told:
        shelf.library.update(shelf.access("a"), HOME, "m1", UnitChange(content=content))
    return str(told.value.fields["quarantine_id"])


def purged(shelf: Shelf, *, after: float = 0) -> object:
    shelf.clock.advance(after)
    return SqlPurge(shelf.database, shelf.types).purge_due(now=shelf.clock.now(), limit=10)
