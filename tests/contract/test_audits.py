"""What a weekly report is made of, on every database."""

from datetime import timedelta

from strata.ports import Activity
from strata.sharing.units import NewUnit, UnitChange
from strata.storage.audits import SqlAuditStore
from strata.storage.purge import SqlPurge
from tests.fakes.library import Shelf

LAYER = "user:u"


def test_what_happened_is_told_by_day_kind_and_actor(shelf: Shelf) -> None:
    agent, since = shelf.access("厨师"), shelf.clock.now()
    for number in range(3):
        unit = NewUnit(memory_type="shopping_list", content=f"{number} 瓶牛奶", memory_id=f"m{number}", ttl_seconds=60)
        shelf.library.insert(agent, LAYER, unit)
    shelf.library.update(agent, LAYER, "m0", UnitChange(content="一瓶酸奶"))
    shelf.clock.advance(60)
    SqlPurge(shelf.database, shelf.types).purge_due(now=shelf.clock.now(), limit=1_000)
    store, day = SqlAuditStore(shelf.database, shelf.types), since.date().isoformat()
    found = store.activity(shelf.tenant, since, since + timedelta(days=1))
    assert sorted(found, key=lambda one: one.kind) == [
        Activity(day=day, kind="memory.expired", actor="system:purge", count=3),
        Activity(day=day, kind="memory.inserted", actor="厨师", count=3),
        Activity(day=day, kind="memory.updated", actor="厨师", count=1),
    ]
    assert store.activity(shelf.tenant, since + timedelta(days=1), since + timedelta(days=2)) == []


def test_a_deleted_memory_that_is_purged_has_not_expired(shelf: Shelf) -> None:
    agent, since = shelf.access("a"), shelf.clock.now()
    shelf.library.insert(agent, LAYER, NewUnit(memory_type="user_preference", content="爱喝茶", memory_id="m"))
    shelf.library.delete(agent, LAYER, "m")
    shelf.clock.advance(30 * 86_400)
    SqlPurge(shelf.database, shelf.types).purge_due(now=shelf.clock.now(), limit=1_000)
    store = SqlAuditStore(shelf.database, shelf.types)
    kinds = {one.kind for one in store.activity(shelf.tenant, since, since + timedelta(days=31))}
    assert kinds == {"memory.inserted", "memory.deleted", "memory.purged"}


def test_who_was_given_how_much_and_what_nobody_was_given(shelf: Shelf) -> None:
    agent, since = shelf.access("a"), shelf.clock.now()
    for number in range(2):
        unit = NewUnit(memory_type="user_preference", content=f"{number} 条", memory_id=f"m{number}")
        shelf.library.insert(agent, LAYER, unit)
    store = SqlAuditStore(shelf.database, shelf.types)
    assert store.never_read(shelf.tenant, now=since) == (2, 2)
    assert store.reads_by_agent(shelf.tenant, since, since + timedelta(days=1)) == {}
    assert [memory.memory_id for memory in store.written(shelf.tenant, since, since + timedelta(days=1), limit=1)]
    assert store.contested(shelf.tenant, since, since + timedelta(days=1), limit=5) == []
