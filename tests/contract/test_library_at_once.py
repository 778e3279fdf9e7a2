"""Several writers at once, on every database: nothing lost unmarked, nothing twice, no gap in any count."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier
from typing import Any

import pytest

from strata.errors import StrataError, VersionConflictError
from strata.model.memories import ChangeKind, ConflictPolicy
from strata.ports import MemoryDraft, MemoryEdit, Written
from strata.sharing.units import NewUnit, UnitChange
from tests.fakes.library import Shelf

HOME = "household_001"
ROUNDS = 100


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Run calls at the same moment and return their results, or the product's errors."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return call()
        except StrataError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))


@pytest.fixture
def home(shelf: Shelf) -> Shelf:
    shelf.collections.put(shelf.admin, HOME)
    for agent in ("a", "b"):
        shelf.grants.register(shelf.admin, HOME, agent, read=True, write=True)
    return shelf


def first_of(home: Shelf) -> str:
    unit = NewUnit(memory_type="episode", content="0")
    return home.library.insert(home.access("a"), HOME, unit).memory.memory_id


@pytest.mark.parametrize("policy", list(ConflictPolicy))
def test_two_writers_on_the_same_version(home: Shelf, policy: ConflictPolicy) -> None:
    home.collections.put(home.admin, HOME, conflict_policy=policy)
    memory_id = home.library.insert(
        home.access("a"), HOME, NewUnit(memory_type="episode", content="0")
    ).memory.memory_id

    def write(agent: str, number: int, version: int) -> Callable[[], Written]:
        change = UnitChange(content=f"{agent} {number}", expected_version=version)
        return lambda: home.library.update(home.access(agent), HOME, memory_id, change)

    version, lost, marked = 1, 0, 0
    for number in range(ROUNDS):
        outcomes = together(write("a", number, version), write("b", number, version))
        written = [one for one in outcomes if isinstance(one, Written)]
        refused = [one for one in outcomes if isinstance(one, VersionConflictError)]
        assert len(written) + len(refused) == 2
        lost, marked = lost + len(refused), marked + sum(one.conflict for one in written)
        version += len(written)
    history = home.library.history(home.access("a"), HOME, memory_id)
    assert [step.version for step in history] == list(range(1, version + 1))
    assert (lost, marked) == ((0, ROUNDS) if policy is ConflictPolicy.LAST_WRITER_WINS else (ROUNDS, 0))
    assert sum(step.conflict for step in history) == marked


def test_the_same_fact_from_two_sessions_at_once_is_stored_once(home: Shelf) -> None:
    now = home.clock.now()
    for number in range(10):
        fact = f"用户的紧急联系人是陈女士 {number}"

        def insert(name: str, fact: str = fact) -> Callable[[], Written]:
            draft = MemoryDraft(
                memory_id=f"{fact} {name}",
                collection="user:u",
                memory_type="user_preference",
                content=fact,
                fingerprint=str(hash(fact)),
                said_at=now,
            )
            return lambda: home.memories.insert(home.access(name), draft, now=now)

        outcomes = together(insert("a"), insert("b"))
        assert sorted(one.created for one in outcomes) == [False, True]
        assert len({one.memory.memory_id for one in outcomes}) == 1


def test_the_same_keyed_change_at_once_is_one_change(home: Shelf) -> None:
    memory_id = home.library.insert(
        home.access("a"), HOME, NewUnit(memory_type="episode", content="0")
    ).memory.memory_id
    edit = MemoryEdit(memory_id=memory_id, change=ChangeKind.ROLLBACK, content="1", rolled_back_to=1, key="k")
    now = home.clock.now()
    outcomes = together(*[lambda: home.memories.edit(home.access("a"), HOME, edit, now=now)] * 4)
    assert sorted(one.created for one in outcomes) == [False, False, False, True]
    assert len(home.library.history(home.access("a"), HOME, memory_id)) == 2


def test_many_writers_leave_a_whole_trail(home: Shelf) -> None:
    def insert(number: int) -> Callable[[], object]:
        unit = NewUnit(memory_type="user_preference", content=f"第 {number} 条")
        return lambda: home.library.insert(home.access("ab"[number % 2]), f"user:u{number % 3}", unit)

    outcomes = together(*(insert(number) for number in range(12)))
    assert not [one for one in outcomes if isinstance(one, StrataError)]
    events = home.events.after(home.tenant, 0, limit=100)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert all(late.previous_hash == early.hash for early, late in pairwise(events))
    assert home.verification.verify(home.tenant).is_whole
