"""The memory store, on every database: writing, changing, reading, and what never shows."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from strata.errors import ConflictError, NotFoundError, UnknownMemoryTypeError
from strata.model.memories import AccessPolicy, ChangeKind, Memory, MemoryStatus, Source
from strata.ports import MemoryDraft, MemoryEdit, Written
from tests.fakes.library import Shelf
from tests.fakes.statements import listening

LAYER = "user:u1"
Insert = Callable[..., Written]
Edit = Callable[..., Written]


@pytest.fixture
def insert(shelf: Shelf) -> Insert:
    """Insert a preference of user u1 as the adviser; any field may be given."""

    def insert(memory_id: str = "m1", content: str = "不吃香菜", **more: Any) -> Written:
        values: dict[str, Any] = {"collection": LAYER, "memory_type": "user_preference", "fingerprint": content}
        values |= {"said_at": shelf.clock.now(), **more}
        draft = MemoryDraft(memory_id=memory_id, content=content, **values)
        return shelf.memories.insert(shelf.access("adviser"), draft, now=shelf.clock.now())

    return insert


@pytest.fixture
def edit(shelf: Shelf) -> Edit:
    """Change memory m1 as the adviser."""

    def edit(change: ChangeKind = ChangeKind.UPDATE, **more: Any) -> Written:
        wanted = MemoryEdit(memory_id="m1", change=change, **more)
        return shelf.memories.edit(shelf.access("adviser"), LAYER, wanted, now=shelf.clock.now())

    return edit


def read(shelf: Shelf, memory_id: str = "m1") -> Memory:
    return shelf.memories.get(shelf.access("adviser"), LAYER, memory_id, now=shelf.clock.now())


# --- inserting


def test_what_is_inserted_is_read_back_as_it_was(shelf: Shelf, insert: Insert) -> None:
    written = insert(
        content="不吃香菜 👨‍👩‍👧 %_\\'\" ",
        metadata={"标签": "👨‍👩‍👧", "n": 1.5, "deep": [{"x": None}]},
        policy=AccessPolicy(read_agents=("adviser", 'a"b', "100%")),
        embedding=b"\x00\x00\x80?",
        embedding_model="m",
        sources=(Source(session_id="s", seq=3), Source(session_id="s", seq=4)),
        user_id="u1",
        confidence=0.75,
        standing=True,
        expires_at=shelf.clock.now() + timedelta(microseconds=1),
    )
    assert written.created
    assert read(shelf) == replace(written.memory, embedding=None)
    history = shelf.memories.history(shelf.access("adviser"), LAYER, "m1", now=shelf.clock.now())
    assert [source.seq for source in history[0].sources] == [3, 4]
    assert shelf.memories.changes(shelf.tenant, LAYER, 0) == [written.memory]


def test_the_longest_ids_are_kept_whole(shelf: Shelf, insert: Insert) -> None:
    longest = "💥" * 128
    reader = shelf.access(longest)
    insert(longest, collection=f"user:{longest}", user_id=longest)
    found = shelf.memories.get(reader, f"user:{longest}", longest, now=shelf.clock.now())
    assert (found.memory_id, found.user_id) == (longest, longest)
    assert [event.memory_id for event in shelf.events.after(shelf.tenant, 0, limit=9)] == [longest]


def test_a_repeat_of_the_same_id_changes_nothing(shelf: Shelf, insert: Insert) -> None:
    first = insert()
    again = insert(content="something else")
    assert (again.created, again.memory.content) == (False, first.memory.content)
    assert shelf.kinds() == ["memory.inserted"]


def test_a_repeat_changes_nothing_whatever_became_of_the_memory(shelf: Shelf, insert: Insert, edit: Edit) -> None:
    insert()
    edit(ChangeKind.SUPERSEDE, superseded_by="m2")
    assert insert().memory.status is MemoryStatus.SUPERSEDED


def test_an_id_is_unique_in_its_tenant_whatever_type_and_collection(shelf: Shelf, insert: Insert) -> None:
    insert()
    assert not insert(memory_type="price_alert", content="x").created
    with pytest.raises(ConflictError):
        insert(collection="user:u2", content="x")


def test_an_equal_fact_is_returned_instead_of_a_second_one(insert: Insert) -> None:
    first = insert()
    for unproven in ({}, {"is_first": True}):  # by no look
        second = insert("m2", **unproven)
        assert (second.created, second.memory.memory_id) == (False, first.memory.memory_id)


@pytest.mark.parametrize(
    "other",
    [
        {"memory_type": "price_alert"},
        {"collection": "user:u2"},
        {"user_id": "u2"},
        {"policy": AccessPolicy(read_agents=("adviser",))},
        {"fingerprint": ""},
        {"superseded_by": "m1"},
    ],
)
def test_an_equal_text_that_is_not_the_same_fact_is_inserted(insert: Insert, other: dict[str, Any]) -> None:
    insert()
    assert insert("m2", **other).created


def test_turns_may_repeat_each_other(insert: Insert) -> None:
    assert [insert(memory_id, memory_type="episode").created for memory_id in ("m1", "m2")] == [True, True]


def test_a_fact_is_new_again_when_the_old_one_is_gone(insert: Insert, edit: Edit) -> None:
    insert()
    edit(ChangeKind.DELETE)
    assert insert("m2").created


def test_what_was_said_again_since_is_not_replaced_by_what_was_said_before(insert: Insert, edit: Edit) -> None:
    said = insert().memory.said_at
    edit(ChangeKind.RENEW, said_at=said + timedelta(hours=2))
    late = edit(ChangeKind.SUPERSEDE, superseded_by="m2", unless_said_after=said + timedelta(hours=1))
    assert (late.created, late.memory.status, late.memory.superseded_by) == (False, MemoryStatus.ACTIVE, None)
    assert edit(ChangeKind.SUPERSEDE, superseded_by="m2", unless_said_after=said + timedelta(hours=2)).created


def test_a_write_never_makes_a_type(insert: Insert) -> None:
    with pytest.raises(UnknownMemoryTypeError):
        insert(memory_type="prices")


# --- changing


def test_an_update_adds_a_version_and_keeps_the_old_one(shelf: Shelf, insert: Insert, edit: Edit) -> None:
    insert(embedding=b"old!", embedding_model="m")
    shelf.clock.advance(60)
    updated = edit(content="吃香菜", fingerprint="f2", expected_version=1, reason="told again").memory
    assert (updated.version, updated.content, updated.fingerprint) == (2, "吃香菜", "f2")
    assert (updated.embedding, updated.embedding_model) == (None, "")
    history = shelf.memories.history(shelf.access("adviser"), LAYER, "m1", now=shelf.clock.now())
    assert [(step.version, step.content, step.reason) for step in history] == [
        (1, "不吃香菜", ""),
        (2, "吃香菜", "told again"),
    ]
    assert history[1].created_at - history[0].created_at == timedelta(seconds=60)


def test_a_change_that_changes_nothing_writes_nothing(shelf: Shelf, insert: Insert, edit: Edit) -> None:
    insert()
    same = edit(content="不吃香菜", fingerprint="不吃香菜", expected_version=1)
    again = edit(content="不吃香菜", expected_version=1, metadata={})
    assert [(one.created, one.memory.version) for one in (same, again)] == [(False, 1), (False, 1)]
    assert shelf.kinds() == ["memory.inserted"]


def test_a_key_makes_a_repeated_change_a_no_op(shelf: Shelf, insert: Insert, edit: Edit) -> None:
    insert()
    assert edit(ChangeKind.ROLLBACK, content="a", rolled_back_to=1, key="k").memory.version == 2
    repeated = edit(ChangeKind.ROLLBACK, content="a", rolled_back_to=1, key="k")
    assert (repeated.created, repeated.memory.version) == (False, 2)
    assert edit(ChangeKind.SUPERSEDE, superseded_by="m9", key="s").created
    repeated = edit(ChangeKind.SUPERSEDE, superseded_by="m9", key="s")
    assert (repeated.created, repeated.memory.superseded_by) == (False, "m9")
    assert shelf.kinds() == ["memory.inserted", "memory.rolled_back", "memory.superseded"]


def test_a_safety_fact_can_be_marked_as_superseded_and_stay_in_sight(insert: Insert, edit: Edit) -> None:
    insert(safety=True)
    marked = edit(superseded_by="m2").memory
    assert (marked.status, marked.superseded_by) == (MemoryStatus.ACTIVE, "m2")


def test_a_moved_memory_lives_in_its_new_table_alone(shelf: Shelf, insert: Insert, edit: Edit) -> None:
    insert()
    edit(ChangeKind.MOVE, memory_type="price_alert")
    assert read(shelf).memory_type == "price_alert"
    listed = shelf.memories.listed(
        shelf.access("adviser"), LAYER, now=shelf.clock.now(), memory_types=["user_preference"]
    )
    assert listed == []


def test_an_absent_memory_is_not_found(shelf: Shelf, insert: Insert, edit: Edit) -> None:
    with pytest.raises(NotFoundError):
        edit(content="x")
    insert()
    with pytest.raises(NotFoundError):
        shelf.memories.get(shelf.access("adviser"), "user:u2", "m1", now=shelf.clock.now())
    assert "access.refused" not in shelf.kinds()


# --- reading


def test_several_are_read_in_the_order_asked(shelf: Shelf, insert: Insert) -> None:
    for number, memory_type in enumerate(("user_preference", "price_alert", "episode")):
        insert(f"m{number}", f"text {number}", memory_type=memory_type)
    wanted = ["m2", "none", "m0", "m1"]
    found = shelf.memories.get_many(shelf.access("adviser"), wanted, now=shelf.clock.now())
    assert [memory.memory_id for memory in found] == ["m2", "m0", "m1"]


def test_a_list_comes_in_pages_in_the_order_of_ids(shelf: Shelf, insert: Insert) -> None:
    for number in range(7):
        insert(f"m{number}", f"text {number}", memory_type=("user_preference", "episode")[number % 2])
    after, pages = "", []
    while page := shelf.memories.listed(shelf.access("adviser"), LAYER, now=shelf.clock.now(), limit=3, after=after):
        pages.append([memory.memory_id for memory in page])
        after = page[-1].memory_id
    assert pages == [["m0", "m1", "m2"], ["m3", "m4", "m5"], ["m6"]]


def test_standing_constraints_come_most_important_and_newest_first(shelf: Shelf, insert: Insert) -> None:
    insert("m1", "a", standing=True, importance=6)
    insert("m2", "b", standing=True, importance=9, said_at=shelf.clock.now() - timedelta(days=1))
    insert("m3", "c", standing=True, importance=9, collection="agent:adviser")
    insert("m4", "d")
    found = shelf.memories.standing(shelf.access("adviser"), [LAYER, "agent:adviser"], now=shelf.clock.now())
    assert [memory.memory_id for memory in found] == ["m3", "m2", "m1"]


def test_changes_tell_what_is_new_since_a_point(shelf: Shelf, insert: Insert, edit: Edit) -> None:
    access, now = shelf.access("adviser"), shelf.clock.now()
    assert shelf.memories.view(access, [LAYER], now=now)[LAYER].change_seq == 0
    insert()
    insert("m2", "other")
    seen = shelf.memories.view(access, [LAYER], now=now)[LAYER]
    assert set(seen.readable_types) == set(shelf.types.all())
    edit(ChangeKind.DELETE)
    changed = shelf.memories.changes(shelf.tenant, LAYER, seen.change_seq)
    assert [(memory.memory_id, memory.status) for memory in changed] == [("m1", MemoryStatus.DELETED)]
    assert shelf.memories.view(access, [LAYER], now=now)[LAYER].change_seq == seen.change_seq + 1


def test_what_a_run_wrote_is_told(shelf: Shelf, insert: Insert, edit: Edit) -> None:
    insert(run_id="r1")
    edit(content="by hand")
    edit(content="by a run", run_id="r2")
    assert [step.version for step in shelf.memories.of_run(shelf.tenant, "r1")] == [1]
    assert [step.version for step in shelf.memories.of_run(shelf.tenant, "r2")] == [3]
    assert shelf.memories.of_run("another tenant", "r1") == []


# --- time


def test_an_expired_memory_vanishes_from_every_path_at_the_same_instant(
    shelf: Shelf, insert: Insert, edit: Edit
) -> None:
    access = shelf.access("adviser")
    insert(ttl_seconds=60, expires_at=shelf.clock.now() + timedelta(seconds=60), standing=True)

    def paths() -> list[bool]:
        now = shelf.clock.now()
        return [
            bool(shelf.memories.get_many(access, ["m1"], now=now)),
            bool(shelf.memories.listed(access, LAYER, now=now)),
            bool(shelf.memories.standing(access, [LAYER], now=now)),
            _is_found(lambda: shelf.memories.get(access, LAYER, "m1", now=now)),
            _is_found(lambda: shelf.memories.history(access, LAYER, "m1", now=now)),
            bool(list(shelf.transfer.export(access, LAYER))),
            bool(shelf.search(access, LAYER, "不吃香菜", ["user_preference"], 5)),
            bool(shelf.memories.present_versions(access, ["m1"], now=now, memory_types=["user_preference"])),
            _is_found(lambda: shelf.rollbacks.preview(access, LAYER, "m1", 1)),
            _is_found(lambda: shelf.rollbacks.diff(access, LAYER, "m1", 1, 1)),
            _is_found(lambda: shelf.impacts.reads(access, LAYER, "m1")),
            _is_found(lambda: shelf.impacts.impact(access, LAYER, "m1")),
        ]

    shelf.clock.advance(59.999999)
    assert all(paths())
    shelf.clock.advance(0.000001)
    assert not any(paths())
    for change in (ChangeKind.UPDATE, ChangeKind.RESTORE, ChangeKind.DELETE):
        with pytest.raises(NotFoundError):
            edit(change, content="x")
    assert insert("m2").created
    assert len(shelf.memories.history(shelf.admin, LAYER, "m1", now=shelf.clock.now())) == 1


def test_a_renewal_keeps_a_memory_in_sight(shelf: Shelf, insert: Insert, edit: Edit) -> None:
    insert(ttl_seconds=60, expires_at=shelf.clock.now() + timedelta(seconds=60))
    edit(ChangeKind.RENEW, ttl_seconds=0, expires_at=None, keep_expiry=False)
    shelf.clock.advance(61)
    assert read(shelf).expires_at is None


# --- cost


def test_statements_are_counted(shelf: Shelf, insert: Insert, edit: Edit) -> None:
    insert("warm", "up")

    def cost(call: Callable[[], object]) -> int:
        with listening(shelf.database) as statements:
            call()
        return len(statements)

    access, now = shelf.access("adviser"), shelf.clock.now()
    assert cost(lambda: insert(sources=(Source(session_id="s", seq=1),))) <= 7
    assert cost(lambda: edit(content="b", expected_version=1)) <= 7
    assert cost(lambda: read(shelf)) == 1
    assert cost(lambda: shelf.memories.get_many(access, ["m1", "warm"], now=now)) == 1
    assert cost(lambda: shelf.memories.view(access, [LAYER, "agent:adviser"], now=now)) == 1
    assert cost(lambda: shelf.memories.standing(access, [LAYER], now=now)) == 1
    assert cost(lambda: shelf.memories.listed(access, LAYER, now=now)) == 1
    assert cost(lambda: shelf.memories.history(access, LAYER, "m1", now=now)) == 1
    assert cost(lambda: shelf.memories.changes(shelf.tenant, LAYER, 0)) == 1


def _is_found(call: Callable[[], object]) -> bool:
    try:
        call()
    except NotFoundError:
        return False
    return True
