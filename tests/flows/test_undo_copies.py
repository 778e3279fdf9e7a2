"""Taking back what an external provider was given: noted with the undo, removed by the job."""

from datetime import timedelta
from pathlib import Path

import pytest

from strata.maintenance.reconcile import Limits, Reconcile
from strata.ports import Access
from strata.sharing.undo import Undo
from strata.storage.archive import SqlArchive
from strata.storage.copies import SqlCopyLedger
from strata.storage.quarantine import SqlQuarantineStore
from tests.fakes.queue import ListedQueue
from tests.fakes.rig import ALLERGY, LIKES, Rig, fresh_file
from tests.fakes.shelf import Shelf

ADMIN = Access(tenant="home", agent_id="admin", admin=True)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "shelf")


@pytest.fixture
def rig(tmp_path: Path, shelf: Shelf) -> Rig:
    return Rig(url=fresh_file(tmp_path), provider=shelf)


@pytest.fixture
def undo(rig: Rig) -> Undo:
    archive, copies = SqlArchive(rig.database, rig.types), SqlCopyLedger(rig.database)
    quarantine = SqlQuarantineStore(rig.database)
    return Undo(rig.store, archive, copies, quarantine, lambda _text: (None, ""), rig.clock)


def reconcile(rig: Rig, shelf: Shelf) -> dict[str, int]:
    limits = Limits(stuck_seconds=900, most_attempts=5, batch=100)
    job = Reconcile(rig.runs, ListedQueue(), lambda _name: shelf, lambda _check, _run: None, rig.clock, limits)
    return job(seconds=45)


def test_an_agents_copies_go_with_its_memories(rig: Rig, shelf: Shelf, undo: Undo) -> None:
    rig.settle("偏好：用户爱喝茶", session="before")
    rig.clock.advance(60)
    since = rig.clock.now()
    rig.settle(ALLERGY, LIKES, session="bad")
    rig.settle("偏好：用户爱跑步", session="other", agent="coach")
    shown = undo.of_agent(ADMIN, "recipe_adviser", since)
    assert (len(shown.steps), len(shown.leaving)) == (1, 1)
    assert reconcile(rig, shelf)["retired"] == 0
    assert len(shelf.contents()) == 3
    undo.of_agent(ADMIN, "recipe_adviser", since, dry_run=False)
    assert rig.contents() == []
    assert reconcile(rig, shelf)["retired"] == 1
    assert sorted(shelf.contents()) == ["用户爱喝茶", "用户爱跑步"]
    undo.of_agent(ADMIN, "recipe_adviser", since, dry_run=False)
    assert reconcile(rig, shelf)["retired"] == 0


def test_a_runs_copies_go_and_what_it_only_renewed_stays(rig: Rig, shelf: Shelf, undo: Undo) -> None:
    rig.settle(LIKES, session="monday")
    rig.clock.advance(86_400)
    run = rig.settle(LIKES, "偏好：用户爱跑步", session="tuesday")
    assert len(undo.of_run(ADMIN, run.run_id, dry_run=False).leaving) == 1
    reconcile(rig, shelf)
    assert shelf.contents() == ["用户喜欢吃辣"]


def test_another_tenants_copies_are_not_seen(rig: Rig, undo: Undo) -> None:
    run = rig.settle(LIKES)
    away = Access(tenant="away", agent_id="admin", admin=True)
    assert undo.of_run(away, run.run_id).leaving == ()
    assert undo.of_agent(away, "recipe_adviser", rig.clock.now() - timedelta(days=1)).leaving == ()
