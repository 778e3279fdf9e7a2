"""What operators and the schedule do with runs: show, dry-run, replay, judge again, undo, pick up what was dropped."""

from datetime import timedelta
from pathlib import Path

import pytest

from strata.consolidation.dry_run import DryRun
from strata.consolidation.rejudge import Rejudge
from strata.consolidation.replay import Replay, notice_of
from strata.consolidation.undo import Undo
from strata.errors import (
    InferenceUnavailableError,
    NotFoundError,
    ProviderRejectedError,
    QueueUnavailableError,
    RunStateError,
)
from strata.maintenance.reconcile import Limits, Reconcile
from strata.model.memories import ChangeKind
from strata.model.runs import RunState, WriteAction
from strata.ports import Access, MemoryEdit
from strata.sessions.end import EndSession
from strata.sharing.undo import CHANGED_SINCE
from strata.sharing.undo import Undo as UndoMemories
from strata.storage.archive import SqlArchive
from strata.storage.copies import SqlCopyLedger
from strata.storage.quarantine import SqlQuarantineStore
from tests.fakes.chat import ScriptedChat, memories
from tests.fakes.queue import ListedQueue
from tests.fakes.rig import AGENT, ALLERGY, DISLIKES, LIKES, USER, Rig, fresh_file, plan_of

HOME = f"user:{USER}"
ADMIN = Access(tenant="home", agent_id="admin", admin=True)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return fresh_file(tmp_path)


@pytest.fixture
def rig(url: str) -> Rig:
    return Rig(url=url)


@pytest.fixture
def queue() -> ListedQueue:
    return ListedQueue()


def reconciler(rig: Rig, queue: ListedQueue) -> Reconcile:
    limits = Limits(stuck_seconds=900, most_attempts=5, batch=100)
    return Reconcile(rig.runs, queue, rig.provider_named, lambda _check, _run: None, rig.clock, limits)


# --- replay


def test_a_failed_run_is_replayed_from_where_it_stopped(rig: Rig, queue: ListedQueue) -> None:
    rig.on_step = lambda step: _refuse() if step.startswith("receipt") else None
    failed = rig.settle(ALLERGY, LIKES)
    assert (failed.state, len(failed.receipts)) == (RunState.FAILED, 1)
    rig.on_step = lambda _step: None
    waiting = Replay(rig.runs, queue, rig.clock)("home", failed.run_id, actor="admin")
    assert (waiting.state, waiting.attempts, queue.sent) == (RunState.PLANNED, 0, [notice_of(failed)])
    done = rig.deliver(failed)
    assert (done.state, len(done.receipts)) == (RunState.SUCCEEDED, 2)
    assert len(rig.contents()) == 2


def _refuse() -> None:
    raise ProviderRejectedError


@pytest.mark.parametrize("step", ["judge", "plan", "receipt"])
def test_a_session_whose_run_failed_is_settled_when_it_is_ended_again(rig: Rig, queue: ListedQueue, step: str) -> None:
    rig.on_step = lambda done: _refuse() if done.startswith(step) else None
    failed = rig.settle(ALLERGY, LIKES)
    rig.on_step = lambda _step: None
    assert failed.state is RunState.FAILED
    rig.say("偏好：用户喜欢喝茶")
    end = EndSession(sessions=rig.sessions, runs=rig.runs, queue=queue, clock=rig.clock)
    newer = end(rig.key(), AGENT)
    assert [notice.run_id for notice in queue.sent] == [newer.run_id, failed.run_id]
    states = [rig.consolidate(notice, attempt=1, remaining_seconds=lambda: 60).state for notice in queue.sent * 2]
    assert states == [RunState.SUCCEEDED] * 4
    assert sorted(rig.contents()) == sorted(["用户对花生过敏", "用户喜欢吃辣", "用户喜欢喝茶"])


def test_a_run_that_succeeded_or_never_was_is_not_replayed(rig: Rig, queue: ListedQueue) -> None:
    replay = Replay(rig.runs, queue, rig.clock)
    done = rig.settle(LIKES)
    with pytest.raises(RunStateError):
        replay("home", done.run_id, actor="admin")
    with pytest.raises(NotFoundError):
        replay("home", "nowhere", actor="admin")
    with pytest.raises(NotFoundError):
        replay("away", done.run_id, actor="admin")


# --- dry run


def test_a_dry_run_shows_the_plan_and_does_nothing(rig: Rig) -> None:
    rig.say(ALLERGY, LIKES)
    run = rig.end()
    plan = DryRun(rig.runs, rig.fresh, rig.planning, rig.clock)("home", run.run_id, remaining_seconds=lambda: 60)
    assert [write.content for write in plan.writes] == ["用户对花生过敏", "用户喜欢吃辣"]
    assert rig.contents() == []
    assert rig.state(run) == run
    assert plan_of(rig.deliver(run)).writes == plan.writes


# --- judging again


def test_what_rules_judged_while_the_model_was_away_is_judged_again(url: str, queue: ListedQueue) -> None:
    tea = {"content": "用户喜欢喝茶", "messages": [2]}
    chat = ScriptedChat(InferenceUnavailableError(), memories({"content": "用户喜欢吃辣", "messages": [1]}, tea))
    rig = Rig(url=url, chat=chat)
    first = rig.settle(LIKES, "我还爱喝茶", "偏好：用户随口一说", ALLERGY)
    assert plan_of(first).judge == "rules"
    rig.clock.advance(3_600)
    opened = Rejudge(rig.runs, queue, rig.clock)("home", first.run_id, actor="admin")
    assert (opened.state, len(queue.sent)) == (RunState.QUEUED, 1)
    again = rig.deliver(opened)
    assert (again.state, plan_of(again).judge, again.run_id) == (RunState.SUCCEEDED, "model", first.run_id)
    assert sorted(rig.contents()) == ["用户喜欢吃辣", "用户喜欢喝茶", "用户对花生过敏"]
    assert rig.everything()["用户随口一说"] == "deleted"
    assert (
        rig.store.tombstoned("home", HOME, [memory.fingerprint for memory in rig.store.changes("home", HOME, 0)]) == {}
    )


def test_judging_again_while_the_model_is_still_away_changes_nothing(url: str, queue: ListedQueue) -> None:
    rig = Rig(url=url, chat=ScriptedChat(InferenceUnavailableError()))
    first = rig.settle(LIKES, ALLERGY)
    before = rig.memories()
    Rejudge(rig.runs, queue, rig.clock)("home", first.run_id, actor="admin")
    again = rig.deliver(first)
    assert (again.state, plan_of(again).judge) == (RunState.SUCCEEDED, "rules")
    assert rig.memories() == before


def test_a_second_judgement_that_is_parked_is_replayed_as_one(url: str, queue: ListedQueue) -> None:
    chat = ScriptedChat(InferenceUnavailableError(), memories({"content": "用户喜欢喝茶", "messages": [2]}))
    rig = Rig(url=url, chat=chat)
    first = rig.settle("偏好：用户随口一说", "我还爱喝茶")
    Rejudge(rig.runs, queue, rig.clock)("home", first.run_id, actor="admin")
    rig.on_step = lambda step: _refuse() if step == "fresh" else None
    assert rig.deliver(first).state is RunState.FAILED
    rig.on_step = lambda _step: None
    Replay(rig.runs, queue, rig.clock)("home", first.run_id, actor="admin")
    assert plan_of(rig.deliver(first)).judge == "model"
    assert rig.contents() == ["用户喜欢喝茶"]


def test_only_makeshift_judgements_are_judged_again(url: str, queue: ListedQueue) -> None:
    chat = ScriptedChat(memories("用户喜欢吃辣"), memories(), InferenceUnavailableError())
    rig = Rig(url=url, chat=chat)
    by_model, empty, makeshift = (rig.settle(LIKES, session=name) for name in ("one", "two", "three"))
    rejudge = Rejudge(rig.runs, queue, rig.clock)
    for run in (by_model, empty):
        with pytest.raises(RunStateError):
            rejudge("home", run.run_id, actor="admin")
    assert [run.run_id for run in rejudge.all("home", limit=10, actor="admin")] == [makeshift.run_id]
    with pytest.raises(NotFoundError):
        rejudge("away", makeshift.run_id, actor="admin")


# --- undo


def undo_of(rig: Rig) -> Undo:
    archive, copies = SqlArchive(rig.database, rig.types), SqlCopyLedger(rig.database)
    quarantine = SqlQuarantineStore(rig.database)
    memories = UndoMemories(rig.store, archive, copies, quarantine, lambda _text: (None, ""), rig.clock)
    return Undo(rig.runs, memories.of_run, rig.clock)


def test_a_run_is_taken_back_as_a_unit(rig: Rig) -> None:
    rig.settle("偏好：用户住在武汉", session="monday")
    rig.clock.advance(86_400)
    run = rig.settle("偏好：用户已搬到厦门", LIKES, "经验：鱼要先煎再炖", session="tuesday")
    undo = undo_of(rig)
    before = (rig.contents(), rig.contents("agent:recipe_adviser"), rig.state(run))
    shown = undo(ADMIN, run.run_id, dry_run=True)
    assert (rig.contents(), rig.contents("agent:recipe_adviser"), rig.state(run)) == before
    undone = undo(ADMIN, run.run_id)
    assert (shown.run.state, undone.run.state) == (RunState.SUCCEEDED, RunState.UNDONE)
    assert (shown.applied, undone.applied, shown.taken.steps) == (False, True, undone.taken.steps)
    assert [step.change for step in undone.taken.steps] == [ChangeKind.RESTORE, *[ChangeKind.UNDO] * 3]
    assert undone.taken.kept == ()
    assert rig.contents() == ["用户住在武汉"]
    assert rig.contents("agent:recipe_adviser") == []
    again = undo(ADMIN, run.run_id)
    assert (again.taken.steps, again.taken.kept) == ((), ())
    assert rig.contents() == ["用户住在武汉"]


def test_what_was_undone_may_be_said_again(rig: Rig) -> None:
    run = rig.settle(LIKES, session="monday")
    undo_of(rig)(ADMIN, run.run_id)
    rig.settle(LIKES, session="tuesday")
    assert rig.contents() == ["用户喜欢吃辣"]


def test_what_somebody_changed_since_is_left_to_them(rig: Rig) -> None:
    run = rig.settle(LIKES, ALLERGY)
    (spicy,) = [memory for memory in rig.memories() if "辣" in memory.content]
    edit = MemoryEdit(memory_id=spicy.memory_id, change=ChangeKind.UPDATE, content="用户只喜欢微辣", fingerprint="f")
    rig.store.edit(Access(tenant="home", agent_id="coach"), HOME, edit, now=rig.clock.now())
    undone = undo_of(rig)(ADMIN, run.run_id)
    assert undone.taken.kept == ((spicy.memory_id, CHANGED_SINCE),)
    assert rig.contents() == ["用户只喜欢微辣"]


def test_a_flip_within_one_run_is_undone_whole(rig: Rig) -> None:
    run = rig.settle(LIKES, DISLIKES, LIKES)
    undo_of(rig)(ADMIN, run.run_id)
    assert rig.contents() == []


def test_what_a_run_set_aside_is_withdrawn_with_it(rig: Rig) -> None:
    run = rig.settle(LIKES, "偏好：以后都推荐这个牌子", session="agent:shopper")
    undo, waiting = undo_of(rig), SqlQuarantineStore(rig.database).waiting_of_run("home", run.run_id)
    assert len(waiting) == 1
    assert undo(ADMIN, run.run_id, dry_run=True).taken.withdrawn == tuple(waiting)
    assert undo(ADMIN, run.run_id).taken.withdrawn == tuple(waiting)
    assert undo(ADMIN, run.run_id).taken.withdrawn == ()


def test_only_what_was_done_is_undone(rig: Rig) -> None:
    rig.say(LIKES)
    run = rig.end()
    undo = undo_of(rig)
    for dry_run in (True, False):
        with pytest.raises(RunStateError):
            undo(ADMIN, run.run_id, dry_run=dry_run)
    with pytest.raises(NotFoundError):
        undo(Access(tenant="away", agent_id="admin", admin=True), run.run_id)


# --- reconcile


def test_a_run_that_was_dropped_is_sent_again_once(rig: Rig, queue: ListedQueue) -> None:
    rig.say(LIKES)
    run = rig.end()
    job = reconciler(rig, queue)
    rig.clock.advance(899)
    assert job(seconds=45)["sent"] == 0
    rig.clock.advance(2)
    assert job(seconds=45)["sent"] == 1
    assert job(seconds=45)["sent"] == 0
    assert queue.sent == [notice_of(run)]
    assert rig.deliver(run).state is RunState.SUCCEEDED
    rig.clock.advance(86_400)
    assert job(seconds=45)["sent"] == 0


def test_a_run_whose_worker_died_is_sent_again(rig: Rig, queue: ListedQueue) -> None:
    rig.say(LIKES)
    run = rig.end()
    rig.runs.claim("home", run.run_id, seconds=90, now=rig.clock.now())
    rig.clock.advance(900)
    assert reconciler(rig, queue)(seconds=45)["sent"] == 0
    rig.clock.advance(91)
    assert reconciler(rig, queue)(seconds=45)["sent"] == 1


def test_a_run_that_kills_every_worker_is_parked(rig: Rig, queue: ListedQueue) -> None:
    rig.say(LIKES)
    run = rig.end()
    for _ in range(5):
        rig.runs.claim("home", run.run_id, seconds=90, now=rig.clock.now())
        rig.clock.advance(1_000)
    assert reconciler(rig, queue)(seconds=45)["parked"] == 1
    parked = rig.state(run)
    assert (parked.state, parked.error_code, queue.sent) == (RunState.PARKED, "attempts_spent", [])


def test_a_queue_that_is_away_is_asked_again_later(rig: Rig, queue: ListedQueue) -> None:
    rig.say(LIKES)
    rig.end()
    rig.clock.advance(901)
    queue.is_down = True
    job = reconciler(rig, queue)
    assert job(seconds=45)["failed"] == 1
    queue.is_down = False
    rig.clock.advance(901)
    assert job(seconds=45)["sent"] == 1


def test_the_job_keeps_to_its_time(rig: Rig, queue: ListedQueue) -> None:
    for number in range(3):
        rig.say(LIKES, session=f"s{number}")
        rig.end(f"s{number}")
    rig.clock.advance(901)
    assert reconciler(rig, queue)(seconds=0)["sent"] == 0
    assert reconciler(rig, queue)(seconds=45)["sent"] == 3


def test_a_replay_whose_queue_is_away_is_sent_by_reconcile(rig: Rig, queue: ListedQueue) -> None:
    rig.on_step = lambda step: _refuse() if step == "plan" else None
    failed = rig.settle(LIKES)
    rig.on_step = lambda _step: None
    queue.is_down = True
    with pytest.raises(QueueUnavailableError):
        Replay(rig.runs, queue, rig.clock)("home", failed.run_id, actor="admin")
    queue.is_down = False
    rig.clock.advance(timedelta(minutes=16).total_seconds())
    assert reconciler(rig, queue)(seconds=45)["sent"] == 1
    assert rig.deliver(failed).state is RunState.SUCCEEDED


# --- conflicts by a model

OLD = "偏好：用户喜欢周末去爬山"


def decisions(*items: str) -> str:
    return '{"decisions": [' + ", ".join(items) + "]}"


def settled_with(url: str, new: str, answer: str) -> tuple[Rig, ScriptedChat]:
    """A stored hobby, a day later a new sentence, and what the model says of the two."""
    chat = ScriptedChat(memories({"content": new, "messages": [1]}), answer)
    rig = Rig(url=url, chat=chat)
    Rig(url=url).settle(OLD, session="monday")
    rig.clock.advance(86_400)
    rig.settle(new, session="tuesday")
    return rig, chat


HIKES, RAINS = "用户喜欢周末去爬山", "用户下雨的周末不去爬山"


def test_the_model_is_shown_what_is_near_as_letters_and_numbers(url: str) -> None:
    _, chat = settled_with(url, RAINS, decisions('{"new": "A", "action": "write", "old": []}'))
    assert len(chat.asked) == 2
    assert chat.asked[1][1]["content"].splitlines() == [
        "<new_memories>",
        f'A (2026-03-11): "{RAINS}"',
        "</new_memories>",
        "",
        "<stored_memories>",
        f'A 0 (2026-03-10): "{HIKES}"',
        "</stored_memories>",
    ]
    schema = chat.schemas[1]
    assert schema is not None
    assert schema["required"] == ["decisions"]


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (decisions('{"new": "A", "action": "write", "old": []}'), [HIKES, RAINS]),
        (decisions('{"new": "A", "action": "refine", "old": [0]}'), [HIKES, RAINS]),
        (decisions('{"new": "A", "action": "supersede", "old": [0]}'), [RAINS]),
        (decisions('{"new": "A", "action": "supersede", "old": [0, 12, "b7c0"]}'), [RAINS]),
        (decisions('{"new": "A", "action": "supersede", "old": [12]}'), None),
        (decisions('{"new": "Z", "action": "supersede", "old": [0]}'), None),
        ("not json", None),
        ('{"decisions": [{"new": "A", "action": "supersede", "old": [0', None),
    ],
)
def test_the_model_decides_among_what_it_was_offered_and_nothing_else(
    url: str, answer: str, left: list[str] | None
) -> None:
    rig, _ = settled_with(url, RAINS, answer)
    by_rules = [HIKES, RAINS] if rig.contents() == [HIKES, RAINS] else [RAINS]
    assert rig.contents() == (left or by_rules)
    assert rig.everything()[RAINS] == "active"


def test_the_model_cannot_call_a_contradiction_a_repetition(url: str) -> None:
    rig, _ = settled_with(url, "用户不喜欢周末去爬山", decisions('{"new": "A", "action": "skip", "old": [0]}'))
    assert rig.contents() == ["用户不喜欢周末去爬山"]


def test_what_is_proven_needs_no_second_question(url: str) -> None:
    rig, chat = settled_with(url, HIKES, decisions('{"new": "A", "action": "supersede", "old": [0]}'))
    assert len(chat.asked) == 1
    assert rig.contents() == [HIKES]


def test_the_new_fact_is_written_even_if_the_model_only_speaks_of_the_old_one(url: str) -> None:
    rig, _ = settled_with(url, RAINS, '{"operations": [{"op": "DELETE", "id": 0}]}')
    assert RAINS in rig.contents()


def test_a_plan_tells_who_decided(url: str) -> None:
    rig, _ = settled_with(url, RAINS, decisions('{"new": "A", "action": "supersede", "old": [0]}'))
    run = rig.runs.page("home", limit=1)[0]
    (write,) = plan_of(run).writes
    assert (write.action, write.reason) == (WriteAction.SUPERSEDE, "model: against")
