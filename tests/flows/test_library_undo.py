"""Taking back what a run or an agent wrote, and knowing whom it has reached."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from strata import config
from strata.clock import FakeClock
from strata.errors import ForbiddenError
from strata.model.events import Read
from strata.model.memories import ChangeKind, MemoryStatus, Source
from strata.ports import Access, MemoryDraft, MemoryEdit
from strata.sharing.undo import CHANGED_SINCE, SUCCESSOR_STAYS
from strata.sharing.units import NewUnit, UnitChange
from strata.storage.engine import open_database
from strata.storage.schema import migrate
from tests.fakes.library import Shelf

LAYER = "user:u"


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    clock = FakeClock()
    database = open_database(config.Database(url=f"sqlite:///{tmp_path / 'strata.db'}"), clock)
    migrate(database)
    yield Shelf(database, clock, "t")
    database.close()


def write(shelf: Shelf, agent: str, memory_id: str, content: str, **more: object) -> str:
    unit = NewUnit(memory_type="user_preference", content=content, memory_id=memory_id, **more)  # type: ignore[arg-type]
    shelf.library.insert(shelf.access(agent), LAYER, unit)
    return memory_id


def change(shelf: Shelf, agent: str, memory_id: str, content: str) -> None:
    shelf.library.update(shelf.access(agent), LAYER, memory_id, UnitChange(content=content))


def contents(shelf: Shelf) -> dict[str, str]:
    return {memory.memory_id: memory.content for memory in shelf.library.listed(shelf.admin, LAYER)}


def test_everything_an_agent_wrote_since_an_instant_is_taken_back(shelf: Shelf) -> None:
    write(shelf, "good", "kept", "不吃香菜")
    write(shelf, "bad", "earlier", "早先的话")
    write(shelf, "good", "deleted", "爱喝茶")
    write(shelf, "good", "retyped", "每天跑步")
    before = contents(shelf)
    shelf.clock.advance(60)
    since = shelf.clock.now()
    change(shelf, "bad", "kept", "爱吃香菜")
    change(shelf, "bad", "kept", "最爱香菜")
    write(shelf, "bad", "new", "毒药很好吃")
    write(shelf, "bad", "new-and-gone", "假话")
    shelf.library.delete(shelf.access("bad"), LAYER, "new-and-gone")
    shelf.library.delete(shelf.access("bad"), LAYER, "deleted")
    shelf.library.move(shelf.access("bad"), LAYER, "retyped", "price_alert")
    polluted = contents(shelf)

    planned = shelf.undo.of_agent(shelf.admin, "bad", since)
    assert contents(shelf) == polluted
    steps = {step.memory_id: (step.change, step.to_version) for step in planned.steps}
    assert steps == {
        "kept": (ChangeKind.ROLLBACK, 1),
        "new": (ChangeKind.UNDO, 0),
        "deleted": (ChangeKind.RESTORE, 1),
        "retyped": (ChangeKind.ROLLBACK, 1),
    }
    assert shelf.undo.of_agent(shelf.admin, "bad", since, dry_run=False).applied == 4
    assert contents(shelf) == before
    assert shelf.library.get(shelf.admin, LAYER, "retyped").memory_type == "user_preference"
    assert shelf.undo.of_agent(shelf.admin, "bad", since, dry_run=False).steps == ()
    assert shelf.memories.tombstoned("t", LAYER, ["毒药很好吃"]) == {}


def test_what_others_have_built_on_is_left_alone_and_named(shelf: Shelf) -> None:
    write(shelf, "bad", "m", "a")
    change(shelf, "good", "m", "b")
    plan = shelf.undo.of_agent(shelf.admin, "bad", shelf.clock.now() - timedelta(days=1), dry_run=False)
    assert (plan.steps, plan.kept) == ((), (("m", CHANGED_SINCE),))
    assert contents(shelf) == {"m": "b"}


def test_a_run_is_undone_as_a_unit(shelf: Shelf) -> None:
    write(shelf, "adviser", "old", "不吃香菜")
    product = Access(tenant="t", agent_id="adviser", system=True)
    now = shelf.clock.now()
    draft = MemoryDraft(
        memory_id="new",
        collection=LAYER,
        memory_type="user_preference",
        content="吃香菜了",
        fingerprint="f",
        said_at=now,
        run_id="r1",
        sources=(Source(session_id="s", seq=1),),
    )
    shelf.memories.insert(product, draft, now=now)
    retire = MemoryEdit(memory_id="old", change=ChangeKind.SUPERSEDE, superseded_by="new", run_id="r1")
    shelf.memories.edit(product, LAYER, retire, now=now)
    assert contents(shelf) == {"new": "吃香菜了"}
    assert shelf.undo.of_run(shelf.admin, "r1", dry_run=False).applied == 2
    assert contents(shelf) == {"old": "不吃香菜"}
    restored = shelf.library.get(shelf.admin, LAYER, "old")
    assert (restored.status, restored.superseded_by) == (MemoryStatus.ACTIVE, None)
    assert shelf.undo.of_run(shelf.admin, "no such run").steps == ()


def test_undoing_is_for_administrators(shelf: Shelf) -> None:
    with pytest.raises(ForbiddenError):
        shelf.undo.of_run(shelf.access("adviser"), "r1")


def test_a_price_never_becomes_a_preference(shelf: Shelf) -> None:
    """A sentence written as a price stays out of the preferences, however close it is to one."""
    preference = write(shelf, "adviser", "taste", "番茄要熟一点的")
    price = NewUnit(memory_type="price_alert", content="番茄要熟一点的", memory_id="price")
    shelf.library.insert(shelf.access("shopper"), LAYER, price)
    for threshold in (0.0, 0.5, 1.0):
        hits = shelf.search(shelf.admin, LAYER, "番茄要熟一点的", ["user_preference"], 10)
        assert [hit.memory.memory_id for hit in hits if hit.score >= threshold] == [preference]
    assert shelf.library.get(shelf.admin, LAYER, preference).version == 1


def test_a_bad_memory_is_traced_rolled_back_and_gone(shelf: Shelf) -> None:
    write(shelf, "adviser", "m", "对花生过敏", standing=True)
    shelf.clock.advance(60)
    change(shelf, "shopper", "m", "爱吃花生")
    shelf.clock.advance(60)
    read = Read(
        memory_id="m",
        version=2,
        agent_id="coach",
        session_id="s7",
        request_id="q",
        collection=LAYER,
        read_at=shelf.clock.now(),
    )
    shelf.ledger.record("t", [read])
    write(shelf, "coach", "before", "旧的", metadata={"session_id": "s6"})
    shelf.clock.advance(60)
    write(shelf, "coach", "after", "买两斤花生酱", metadata={"session_id": "s7"})

    shown = shelf.rollbacks.preview(shelf.admin, LAYER, "m", 1)
    assert [one.session_id for one in shown.readers] == ["s7"]
    impact = shelf.impacts.impact(shelf.admin, LAYER, "m", version=2)
    assert [step.memory_id for step in impact.written] == ["after"]
    done = shelf.rollbacks.roll_back(shelf.admin, LAYER, "m", 1, reason="poisoned")
    assert [one.agent_id for one in done.readers] == ["coach"]
    standing = shelf.memories.standing(shelf.access("coach"), [LAYER], now=shelf.clock.now())
    assert [memory.content for memory in standing] == ["对花生过敏"]


def test_an_old_memory_does_not_come_back_beside_a_successor_that_stays(shelf: Shelf) -> None:
    write(shelf, "adviser", "old", "不吃香菜")
    product, now = Access(tenant="t", agent_id="adviser", system=True), shelf.clock.now()
    draft = {"memory_type": "user_preference", "content": "吃香菜了", "fingerprint": "f", "said_at": now}
    shelf.memories.insert(product, MemoryDraft(memory_id="new", collection=LAYER, run_id="r1", **draft), now=now)  # type: ignore[arg-type]
    retire = MemoryEdit(memory_id="old", change=ChangeKind.SUPERSEDE, superseded_by="new", run_id="r1")
    shelf.memories.edit(product, LAYER, retire, now=now)
    change(shelf, "coach", "new", "只吃一点香菜")
    done = shelf.undo.of_run(shelf.admin, "r1", dry_run=False)
    assert set(done.kept) == {("new", CHANGED_SINCE), ("old", SUCCESSOR_STAYS)}
    assert contents(shelf) == {"new": "只吃一点香菜"}
