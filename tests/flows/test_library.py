"""The library keeps, changes and gives back memories, looking before it writes."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from strata import config
from strata.clock import FakeClock
from strata.errors import NotFoundError, UnknownMemoryTypeError, ValidationError, VersionConflictError
from strata.model.memories import AccessPolicy, ChangeKind, ConflictPolicy
from strata.sharing.library import InsertStatus
from strata.sharing.units import NewUnit, UnitChange
from strata.storage.engine import open_database
from strata.storage.schema import migrate
from tests.fakes.library import Shelf

HOME = "household_001"


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    clock = FakeClock()
    database = open_database(config.Database(url=f"sqlite:///{tmp_path / 'strata.db'}"), clock)
    migrate(database)
    shelf = Shelf(database, clock, "t")
    shelf.collections.put(shelf.admin, HOME)
    for agent in ("shopper", "coach"):
        shelf.grants.register(shelf.access(agent), HOME, agent, read=True, write=True)
    yield shelf
    database.close()


def preference(content: str, **more: object) -> NewUnit:
    return NewUnit(memory_type="user_preference", content=content, **more)  # type: ignore[arg-type]


def test_the_same_fact_told_twice_is_stored_once(shelf: Shelf) -> None:
    first = shelf.library.insert(shelf.access("shopper"), HOME, preference("不吃香菜", metadata={"source": "chat"}))
    again = shelf.library.insert(shelf.access("coach"), HOME, preference("不吃香菜。", metadata={"菜": "汤"}))
    assert (first.status, again.status) == (InsertStatus.INSERTED, InsertStatus.UPDATED)
    assert again.memory.memory_id == first.memory.memory_id
    assert again.memory.version == 2
    assert again.memory.metadata == {"source": "chat", "菜": "汤"}
    history = shelf.library.history(shelf.access("shopper"), HOME, first.memory.memory_id)
    assert [(step.content, step.agent_id) for step in history] == [("不吃香菜", "shopper"), ("不吃香菜。", "coach")]


def test_an_identical_repeat_changes_nothing(shelf: Shelf) -> None:
    shelf.library.insert(shelf.access("shopper"), HOME, preference("不吃香菜"))
    again = shelf.library.insert(shelf.access("shopper"), HOME, preference("不吃香菜"))
    assert (again.status, again.memory.version) == (InsertStatus.UNCHANGED, 1)


def test_what_is_close_and_not_the_same_stays_two_and_is_linked(shelf: Shelf) -> None:
    one = shelf.library.insert(shelf.access("shopper"), HOME, preference("不吃香菜"))
    other = shelf.library.insert(shelf.access("shopper"), HOME, preference("不吃芹菜"))
    assert other.status is InsertStatus.INSERTED
    assert other.linked == (one.memory.memory_id,)


def test_looking_never_crosses_types(shelf: Shelf) -> None:
    shelf.library.insert(shelf.access("shopper"), HOME, preference("番茄 3 元一斤"))
    price = NewUnit(memory_type="price_alert", content="番茄 3 元一斤")
    other = shelf.library.insert(shelf.access("shopper"), HOME, price)
    assert (other.status, other.linked) == (InsertStatus.INSERTED, ())


def test_a_fact_about_another_user_is_another_fact(shelf: Shelf) -> None:
    one = shelf.library.insert(shelf.access("shopper"), HOME, preference("爱喝茶", metadata={"user_id": "ann"}))
    two = shelf.library.insert(shelf.access("shopper"), HOME, preference("爱喝茶", metadata={"user_id": "bob"}))
    assert one.memory.memory_id != two.memory.memory_id


def test_a_fact_for_fewer_readers_is_another_fact(shelf: Shelf) -> None:
    narrow = AccessPolicy(read_agents=("shopper",))
    one = shelf.library.insert(shelf.access("shopper"), HOME, preference("爱喝茶", policy=narrow))
    two = shelf.library.insert(shelf.access("shopper"), HOME, preference("爱喝茶"))
    hidden = shelf.library.insert(shelf.access("coach"), HOME, preference("爱喝茶"))
    assert one.memory.memory_id != two.memory.memory_id
    assert hidden.memory.memory_id == two.memory.memory_id


def test_a_repeated_insert_with_an_id_is_harmless(shelf: Shelf) -> None:
    one = shelf.library.insert(shelf.access("shopper"), HOME, preference("爱喝茶", memory_id="m-1"))
    two = shelf.library.insert(shelf.access("shopper"), HOME, preference("爱喝茶", memory_id="m-1"))
    assert (one.status, two.status) == (InsertStatus.INSERTED, InsertStatus.UNCHANGED)


def test_a_repeat_renews_the_life_and_never_shortens_it(shelf: Shelf) -> None:
    shopper = shelf.access("shopper")
    milk = shelf.library.insert(shopper, HOME, NewUnit(memory_type="shopping_list", content="买牛奶")).memory
    shelf.clock.advance(86_400)
    again = shelf.library.insert(shopper, HOME, NewUnit(memory_type="shopping_list", content="买牛奶")).memory
    assert milk.expires_at is not None
    assert again.expires_at == milk.expires_at + timedelta(days=1)
    short = NewUnit(memory_type="shopping_list", content="买牛奶", ttl_seconds=60)
    assert shelf.library.insert(shopper, HOME, short).memory.expires_at == again.expires_at


def test_an_unknown_type_is_refused(shelf: Shelf) -> None:
    with pytest.raises(UnknownMemoryTypeError):
        shelf.library.insert(shelf.access("shopper"), HOME, NewUnit(memory_type="prices", content="x"))


def test_a_write_only_agent_inserts_and_sees_nothing(shelf: Shelf) -> None:
    shelf.grants.register(shelf.admin, HOME, "sensor", read=False, write=True)
    shelf.library.insert(shelf.access("shopper"), HOME, preference("爱喝茶"))
    own = shelf.library.insert(shelf.access("sensor"), HOME, preference("爱喝咖啡"))
    assert own.status is InsertStatus.INSERTED
    with pytest.raises(NotFoundError):
        shelf.library.get(shelf.access("sensor"), HOME, own.memory.memory_id)
    assert "access.refused" not in shelf.kinds()[:-1]


def test_updates_carry_the_version_they_read(shelf: Shelf) -> None:
    shopper = shelf.access("shopper")
    memory = shelf.library.insert(shopper, HOME, preference("值班表：周一 小赵")).memory
    done = shelf.library.update(
        shopper, HOME, memory.memory_id, UnitChange(content="值班表：周二 小钱", expected_version=1)
    )
    assert (done.memory.version, done.conflict) == (2, False)
    late = shelf.library.update(
        shopper, HOME, memory.memory_id, UnitChange(content="值班表：周三 小孙", expected_version=1)
    )
    assert (late.memory.version, late.conflict) == (3, True)
    history = shelf.library.history(shopper, HOME, memory.memory_id)
    assert [(step.base_version, step.conflict) for step in history] == [(None, False), (1, False), (1, True)]
    assert history[1].content == "值班表：周二 小钱"


def test_a_rejecting_collection_changes_nothing_on_a_mismatch(shelf: Shelf) -> None:
    shelf.collections.put(shelf.admin, HOME, conflict_policy=ConflictPolicy.REJECT)
    shopper = shelf.access("shopper")
    memory = shelf.library.insert(shopper, HOME, preference("值班表：周一 小赵")).memory
    shelf.library.update(shopper, HOME, memory.memory_id, UnitChange(content="值班表：周二 小钱", expected_version=1))
    with pytest.raises(VersionConflictError) as refused:
        shelf.library.update(shopper, HOME, memory.memory_id, UnitChange(content="周三 小孙", expected_version=1))
    assert refused.value.fields["present_version"] == 2
    with pytest.raises(VersionConflictError):
        shelf.library.update(shopper, HOME, memory.memory_id, UnitChange(content="周三 小孙"))
    assert len(shelf.library.history(shopper, HOME, memory.memory_id)) == 2


def test_the_same_update_twice_makes_one_version(shelf: Shelf) -> None:
    shopper = shelf.access("shopper")
    memory = shelf.library.insert(shopper, HOME, preference("打印机在三楼东侧")).memory
    change = UnitChange(content="打印机在三楼西侧", expected_version=1)
    versions = [shelf.library.update(shopper, HOME, memory.memory_id, change).memory.version for _ in range(2)]
    assert versions == [2, 2]


def test_rollback_appends_and_tells_to_what(shelf: Shelf) -> None:
    shopper = shelf.access("shopper")
    memory_id = shelf.library.insert(shopper, HOME, preference("a")).memory.memory_id
    for text in ("b", "c"):
        shelf.library.update(shopper, HOME, memory_id, UnitChange(content=text))
    before = shelf.library.history(shopper, HOME, memory_id)
    shelf.rollbacks.roll_back(shelf.access("coach"), HOME, memory_id, 1)
    shelf.rollbacks.roll_back(shelf.access("coach"), HOME, memory_id, 3)
    history = shelf.library.history(shopper, HOME, memory_id)
    assert [step.content for step in history] == ["a", "b", "c", "a", "c"]
    assert [step.version for step in history] == [1, 2, 3, 4, 5]
    assert [(step.agent_id, step.rolled_back_to) for step in history[3:]] == [("coach", 1), ("coach", 3)]
    assert history[:3] == before


def test_rollback_keeps_life_and_policy_of_today(shelf: Shelf) -> None:
    shopper = shelf.access("shopper")
    memory_id = shelf.library.insert(shopper, HOME, preference("a")).memory.memory_id
    policy = AccessPolicy(read_agents=("shopper",))
    shelf.library.update(shopper, HOME, memory_id, UnitChange(content="b", ttl_seconds=60, policy=policy))
    rolled = shelf.rollbacks.roll_back(shopper, HOME, memory_id, 1).written.memory
    assert (rolled.content, rolled.ttl_seconds, rolled.policy) == ("a", 60, policy)
    assert rolled.expires_at == shelf.clock.now() + timedelta(seconds=60)


def test_a_difference_shows_pieces_and_tags(shelf: Shelf) -> None:
    shopper = shelf.access("shopper")
    memory_id = shelf.library.insert(shopper, HOME, preference("不吃香菜", metadata={"a": 1})).memory.memory_id
    shelf.library.update(shopper, HOME, memory_id, UnitChange(content="不吃芹菜", metadata={"b": 1}))
    shown = shelf.rollbacks.diff(shopper, HOME, memory_id, 1, 2)
    assert shown.text == (("equal", "不吃"), ("removed", "香"), ("added", "芹"), ("equal", "菜"))
    assert shown.metadata == ("a", "b")


def test_deleting_hides_and_restoring_shows_again(shelf: Shelf) -> None:
    shopper = shelf.access("shopper")
    memory = shelf.library.insert(shopper, HOME, preference("爱喝茶")).memory
    shelf.library.delete(shopper, HOME, memory.memory_id, reason="wrong")
    with pytest.raises(NotFoundError):
        shelf.library.get(shopper, HOME, memory.memory_id)
    with pytest.raises(NotFoundError):
        shelf.library.history(shopper, HOME, memory.memory_id)
    assert shelf.library.history(shelf.admin, HOME, memory.memory_id)[-1].change is ChangeKind.DELETE
    assert shelf.memories.tombstoned("t", HOME, [memory.fingerprint]) == {memory.fingerprint: shelf.clock.now()}
    assert shelf.library.restore(shopper, HOME, memory.memory_id).memory.version == 3
    assert shelf.library.get(shopper, HOME, memory.memory_id).content == "爱喝茶"
    assert shelf.memories.tombstoned("t", HOME, [memory.fingerprint]) == {}


def test_moving_to_another_type_is_a_logged_act(shelf: Shelf) -> None:
    shopper = shelf.access("shopper")
    memory = shelf.library.insert(shopper, HOME, preference("番茄 3 元一斤")).memory
    moved = shelf.library.move(shopper, HOME, memory.memory_id, "price_alert").memory
    assert (moved.memory_type, moved.version) == ("price_alert", 2)
    assert shelf.library.listed(shopper, HOME, memory_types=("user_preference",)) == []
    assert shelf.kinds()[-1] == "memory.moved"


@pytest.mark.parametrize("ttl", [-1, "3600", "7d", True, 1.5, 1e12, 99_999_999_999])
def test_a_life_that_means_nothing_is_refused(shelf: Shelf, ttl: object) -> None:
    with pytest.raises(ValidationError):
        shelf.library.insert(shelf.access("shopper"), HOME, preference("x", ttl_seconds=ttl))


@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Berlin", "Asia/Shanghai", "UTC"])
def test_a_life_is_seconds_in_every_zone(shelf: Shelf, monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    shelf.clock.set(datetime(2026, 3, 7, 12, tzinfo=UTC))
    for days in (1, 30):
        unit = preference(f"{days} 天", ttl_seconds=days * 86_400, memory_id=str(days))
        shelf.library.insert(shelf.access("shopper"), HOME, unit)
        ends = shelf.library.get(shelf.access("shopper"), HOME, str(days)).expires_at
        assert ends == datetime(2026, 3, 7, 12, tzinfo=UTC) + timedelta(seconds=days * 86_400)
        shelf.clock.set(ends - timedelta(microseconds=1))
        assert shelf.library.get(shelf.access("shopper"), HOME, str(days)).content == f"{days} 天"
        shelf.clock.set(datetime(2026, 3, 7, 12, tzinfo=UTC))
    monkeypatch.undo()
    time.tzset()


def test_an_end_is_an_instant(shelf: Shelf) -> None:
    unit = preference("x", expires_at="2026-03-11T08:00:00+08:00", memory_id="m")
    shelf.library.insert(shelf.access("shopper"), HOME, unit)
    shelf.clock.set(datetime(2026, 3, 10, 23, 59, 59, 999_999, tzinfo=UTC))
    assert shelf.library.get(shelf.access("shopper"), HOME, "m").content == "x"
    shelf.clock.set(datetime(2026, 3, 11, tzinfo=UTC))
    with pytest.raises(NotFoundError):
        shelf.library.get(shelf.access("shopper"), HOME, "m")
    for ends in ("2026-03-12", "2026-03-12T08:00:00", "2026-03-10T00:00:00Z"):
        with pytest.raises(ValidationError):
            shelf.library.insert(shelf.access("shopper"), HOME, preference("y", expires_at=ends))
    with pytest.raises(ValidationError):
        shelf.library.insert(
            shelf.access("shopper"), HOME, preference("y", expires_at=shelf.clock.now(), ttl_seconds=1)
        )


def test_export_and_import_are_exact(shelf: Shelf) -> None:
    shopper = shelf.access("shopper")
    shelf.library.insert(shopper, HOME, preference("不吃香菜 👨‍👩‍👧", metadata={"标签": [1, 2.5, None]}, standing=True))
    kept = shelf.library.insert(shopper, HOME, NewUnit(memory_type="shopping_list", content="买牛奶")).memory
    shelf.library.update(shopper, HOME, kept.memory_id, UnitChange(content="买两盒牛奶"))
    lines = list(shelf.transfer.export(shelf.admin, HOME))
    other = Shelf(shelf.database, shelf.clock, "other")
    other.collections.put(other.admin, HOME)
    first = other.transfer.import_lines(other.admin, HOME, lines)
    again = other.transfer.import_lines(other.admin, HOME, [*lines, "{}", "no"])
    assert (first.written, first.present, first.refused) == (2, 0, ())
    assert (again.written, again.present, [number for number, _why in again.refused]) == (0, 2, [3, 4])
    assert list(other.transfer.export(other.admin, HOME)) == lines
