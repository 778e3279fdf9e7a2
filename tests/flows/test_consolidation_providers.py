"""Agents with an external provider: constraints stay at home, the rest goes there and is looked after."""

from collections import Counter
from pathlib import Path

import pytest

from strata.consolidation.lookup import scope_of
from strata.consolidation.native import NativeWrites
from strata.errors import ProviderRejectedError, ProviderTimeoutError
from strata.maintenance.reconcile import Limits, Reconcile
from strata.model.runs import Kept, Run, RunState
from strata.ports import ReadBack
from tests.fakes.queue import ListedQueue
from tests.fakes.rig import ALLERGY, LIKES, NOW, Rig, fresh_file, plan_of
from tests.fakes.shelf import Shelf

WUHAN, XIAMEN = "偏好：用户住在武汉", "偏好：用户已搬到厦门"


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "shelf")


@pytest.fixture
def rig(tmp_path: Path, shelf: Shelf) -> Rig:
    return Rig(url=fresh_file(tmp_path), provider=shelf)


def reconcile(rig: Rig, shelf: Shelf) -> dict[str, int]:
    """Run the job once."""
    writes = NativeWrites(rig.store)

    def add_again(check: ReadBack, run: Run) -> None:
        for write in plan_of(run).writes:
            if write.key == check.receipt.key:
                draft = writes.draft(run, write, expires_at=None, embedding=None, embedding_model="")
                shelf.add(scope_of(run), draft, now=rig.clock.now())

    limits = Limits(stuck_seconds=900, most_attempts=5, batch=100)
    return Reconcile(rig.runs, ListedQueue(), lambda _name: shelf, add_again, rig.clock, limits)(seconds=45)


def test_constraints_stay_at_home_and_the_rest_leaves(rig: Rig, shelf: Shelf) -> None:
    run = rig.settle(ALLERGY, LIKES)
    assert rig.contents() == ["用户对花生过敏"]
    assert shelf.contents() == ["用户喜欢吃辣"]
    assert {receipt.provider for receipt in run.receipts} == {"MYSQL", "MEMOS"}


def test_what_the_provider_has_is_not_stored_twice(rig: Rig, shelf: Shelf) -> None:
    rig.settle(LIKES, session="monday")
    rig.clock.advance(86_400)
    run = rig.settle(LIKES, session="tuesday")
    assert shelf.contents() == ["用户喜欢吃辣"]
    assert run.counts["skipped"] == 1


def test_the_new_one_is_added_before_the_old_one_is_deleted(rig: Rig, shelf: Shelf) -> None:
    rig.settle(WUHAN, session="monday")
    rig.clock.advance(86_400)
    shelf.failing["add"] = ProviderTimeoutError()
    rig.say(XIAMEN, session="tuesday")
    run = rig.end("tuesday")
    with pytest.raises(ProviderTimeoutError):
        rig.deliver(run)
    assert shelf.contents() == ["用户住在武汉"]
    shelf.failing.clear()
    rig.deliver(run, attempt=2)
    assert shelf.contents() == ["用户已搬到厦门"]


def test_an_answer_that_got_lost_stores_nothing_twice(rig: Rig, shelf: Shelf) -> None:
    shelf.failing_after["add"] = ProviderTimeoutError()
    rig.say(LIKES)
    run = rig.end()
    with pytest.raises(ProviderTimeoutError):
        rig.deliver(run)
    shelf.failing_after.clear()
    assert rig.deliver(run, attempt=2).state is RunState.SUCCEEDED
    assert shelf.contents() == ["用户喜欢吃辣"]


def test_a_deletion_that_fails_is_tried_until_it_succeeds(rig: Rig, shelf: Shelf) -> None:
    rig.settle(WUHAN, session="monday")
    rig.clock.advance(86_400)
    shelf.failing["delete"] = ProviderTimeoutError()
    run = rig.settle(XIAMEN, session="tuesday")
    assert run.state is RunState.SUCCEEDED
    assert shelf.contents() == ["用户住在武汉", "用户已搬到厦门"]
    rig.clock.advance(300)
    assert reconcile(rig, shelf)["failed"] == 1
    shelf.failing.clear()
    rig.clock.advance(300)
    assert reconcile(rig, shelf)["retired"] == 1
    assert shelf.contents() == ["用户已搬到厦门"]
    rig.clock.advance(86_400)
    assert reconcile(rig, shelf)["retired"] == 0


def test_a_memory_the_provider_refuses_fails_the_run_after_the_constraints_are_safe(rig: Rig, shelf: Shelf) -> None:
    shelf.failing["add"] = ProviderRejectedError("quota")
    run = rig.settle(LIKES, ALLERGY)
    assert (run.state, run.error_code) == (RunState.FAILED, "provider_rejected")
    assert rig.contents() == ["用户对花生过敏"]


def test_a_provider_that_cannot_be_asked_holds_the_run_back(rig: Rig, shelf: Shelf) -> None:
    shelf.failing["listed"] = ProviderTimeoutError()
    rig.say(LIKES)
    run = rig.end()
    with pytest.raises(ProviderTimeoutError):
        rig.deliver(run)
    assert rig.state(run).state is RunState.QUEUED


def test_what_becomes_a_constraint_comes_home(rig: Rig, shelf: Shelf) -> None:
    rig.settle("偏好：用户不吃香菜", session="monday")
    rig.clock.advance(86_400)
    rig.settle("忌口：用户不吃香菜", session="tuesday")
    assert rig.contents() == ["用户不吃香菜"]
    assert shelf.contents() == []


def test_what_was_acknowledged_is_looked_for_and_seen(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "shelf", asynchronous=True)
    rig = Rig(url=fresh_file(tmp_path), provider=shelf)
    run = rig.settle(LIKES)
    assert run.receipts[0].external_ids == ()
    assert reconcile(rig, shelf)["verified"] == 0
    rig.clock.advance(30)
    assert reconcile(rig, shelf)["verified"] == 1
    assert rig.state(run).receipts[0].external_ids == (f"ext-{run.receipts[0].memory_id}",)
    rig.clock.advance(86_400)
    assert reconcile(rig, shelf)["verified"] == 0


def test_what_was_acknowledged_and_lost_is_added_again(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "shelf", asynchronous=True)
    shelf.loses_adds = True
    rig = Rig(url=fresh_file(tmp_path), provider=shelf)
    rig.settle(LIKES)
    shelf.loses_adds = False
    done = []
    for _ in range(12):
        rig.clock.advance(3_600)
        done.append(reconcile(rig, shelf))
    assert sum(counts["added_again"] for counts in done) == 1
    assert sum(counts["verified"] for counts in done) == 1
    assert shelf.contents() == ["用户喜欢吃辣"]


def test_what_is_lost_again_and_again_is_given_up_and_the_run_says_so(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "shelf", asynchronous=True)
    shelf.loses_adds = True
    rig = Rig(url=fresh_file(tmp_path), provider=shelf)
    run = rig.settle(LIKES)
    assert rig.state(run).receipts[0].kept is Kept.AWAITED
    done: Counter[str] = Counter()
    for _ in range(60):
        rig.clock.advance(6 * 3_600)
        done.update(reconcile(rig, shelf))
    assert (done["added_again"], done["lost"], done["failed"]) == (3, 1, 16)
    (receipt,) = rig.state(run).receipts
    assert (receipt.kept, receipt.looks, receipt.external_ids) == (Kept.LOST, 20, ())


def test_what_was_replaced_before_it_was_looked_for_does_not_come_back(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "shelf", asynchronous=True)
    rig = Rig(url=fresh_file(tmp_path), provider=shelf)
    first = rig.settle(WUHAN, session="monday")
    rig.clock.advance(20)
    rig.settle(XIAMEN, session="tuesday")
    assert shelf.contents() == ["用户已搬到厦门"]
    for _ in range(12):
        rig.clock.advance(6 * 3_600)
        assert reconcile(rig, shelf)["added_again"] == 0
    assert shelf.contents() == ["用户已搬到厦门"]
    assert rig.state(first).receipts[0].kept is Kept.YES


def test_what_ran_out_before_it_was_seen_is_not_made_again(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "shelf", asynchronous=True)
    shelf.loses_adds = True
    rig = Rig(url=fresh_file(tmp_path), provider=shelf)
    run = rig.settle("临时：用户这周在减肥")
    assert plan_of(run).writes[0].ttl_seconds > 0
    rig.clock.advance(plan_of(run).writes[0].ttl_seconds)
    done: Counter[str] = Counter()
    for _ in range(12):
        done.update(reconcile(rig, shelf))
        rig.clock.advance(6 * 3_600)
    assert (done["added_again"], done["lost"]) == (0, 0)
    assert rig.runs.due_read_backs(now=rig.clock.now(), limit=10) == []


def test_what_was_said_before_what_contradicts_it_does_not_go_there(rig: Rig, shelf: Shelf) -> None:
    rig.clock.advance(86_400)
    rig.settle(XIAMEN, session="later")
    run = rig.settle(WUHAN, session="earlier", at=NOW)
    assert shelf.contents() == ["用户已搬到厦门"]
    assert run.state is RunState.SUCCEEDED


@pytest.mark.parametrize("last", ["忌口：用户不喜欢吃辣", "偏好：用户不喜欢吃辣"])
def test_what_one_session_itself_outdates_never_goes_there(rig: Rig, shelf: Shelf, last: str) -> None:
    rig.settle(LIKES, last)
    assert rig.contents() + shelf.contents() == ["用户不喜欢吃辣"]
