"""What becomes of a run when something fails: nothing lost, nothing twice, the neighbours left alone."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from strata.consolidation.conversation import Conversation
from strata.errors import (
    DeadlineExceededError,
    InferenceUnavailableError,
    LeaseLostError,
    ProviderRejectedError,
    StorageUnavailableError,
    StrataError,
)
from strata.model.memories import ChangeKind
from strata.model.runs import Run, RunNotice, RunState
from strata.ports import Access, MemoryEdit
from tests.fakes.chat import Answer, ScriptedChat, memories
from tests.fakes.rig import ALLERGY, DISLIKES, LIKES, NoCache, NoEmbedder, Rig, fresh_file, plan_of

NUTS = {"content": "用户对花生过敏", "category": "identity_safety", "messages": [1], "safety": True}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return fresh_file(tmp_path)


class Trips:
    """Raises once, or always, when a step is done."""

    def __init__(self, step: str, error: Exception, *, always: bool = False) -> None:
        self._step = step
        self._error: Exception | None = error
        self._always = always

    def __call__(self, step: str) -> None:
        if step.startswith(self._step) and self._error is not None:
            error = self._error
            self._error = error if self._always else None
            raise error


STEPS = ["claim", "fresh", "judge", "normalise", "prune", "conflicts", "plan", "added", "written", "receipt", "commit"]


@pytest.mark.parametrize("step", STEPS)
def test_a_passing_failure_brings_the_message_back_and_the_next_attempt_finishes(url: str, step: str) -> None:
    chat = ScriptedChat(memories(NUTS))
    rig = Rig(url=url, chat=chat, on_step=Trips(step, StorageUnavailableError()))
    rig.say(ALLERGY)
    run = rig.end()
    if step == "claim":
        rig.on_step = Trips("fresh", StorageUnavailableError())
    with pytest.raises(StorageUnavailableError):
        rig.deliver(run)
    waiting = rig.state(run)
    assert (waiting.error_code, waiting.state in {RunState.QUEUED, RunState.PLANNED}) == ("storage_unavailable", True)
    done = rig.deliver(run, attempt=2)
    assert (done.state, done.attempts, done.error_code) == (RunState.SUCCEEDED, 2, "")
    assert rig.contents() == ["用户对花生过敏"]
    assert len(chat.asked) == 1  # the answer is kept from the moment it is there


def test_a_lasting_failure_fails_the_run_with_its_reason(url: str) -> None:
    rig = Rig(url=url, on_step=Trips("plan", ProviderRejectedError("The cube does not exist.")))
    rig.say(LIKES)
    done = rig.deliver(rig.end())
    assert (done.state, done.error_code, done.error_detail) == (
        RunState.FAILED,
        "provider_rejected",
        "The cube does not exist.",
    )
    assert done.finished_at is not None


@pytest.mark.parametrize(
    ("error", "code"), [(StorageUnavailableError(), "storage_unavailable"), (KeyError("bug"), "internal")]
)
def test_poison_is_parked_on_the_last_attempt_and_the_neighbours_go_on(url: str, error: Exception, code: str) -> None:
    rig = Rig(url=url)
    rig.say(LIKES)
    poison = rig.end()
    rig.on_step = Trips("judge", error, always=True)
    for attempt in range(1, 5):
        with pytest.raises(type(error)):
            rig.deliver(poison, attempt=attempt)
        rig.clock.advance(360)
    parked = rig.deliver(poison, attempt=5)
    assert (parked.state, parked.error_code) == (RunState.PARKED, code)
    rig.on_step = lambda _step: None
    rig.say("偏好：用户喜欢喝茶")
    assert rig.deliver(rig.end()).state is RunState.SUCCEEDED
    assert rig.contents() == ["用户喜欢喝茶"]


def test_every_kind_of_missing_answer_still_settles_what_the_rules_find(url: str) -> None:
    answers: Sequence[Answer] = (
        InferenceUnavailableError("429"),
        InferenceUnavailableError("timeout"),
        "not json",
        memories(),
    )
    rig = Rig(url=url, chat=ScriptedChat(*answers))
    liked = ("喝茶", "爬山", "猫", "靠窗的座位")
    runs = [rig.settle(f"偏好：用户喜欢{thing}", session=thing) for thing in liked]
    assert [(run.state, plan_of(run).judge, plan_of(run).judge_error) for run in runs] == [
        (RunState.SUCCEEDED, "rules", "inference_unavailable"),
        (RunState.SUCCEEDED, "rules", "inference_unavailable"),
        (RunState.SUCCEEDED, "rules", "no_json"),
        (RunState.SUCCEEDED, "rules", "empty_answer"),
    ]
    assert len(rig.contents()) == 4


def test_an_answer_cut_off_deletes_nothing_and_stores_no_half_sentence(url: str) -> None:
    rig = Rig(url=url, chat=ScriptedChat('{"operations":[{"op":"DELETE","id":"0"},{"op":"ADD","text":"用户对青霉素'))
    rig.settle(LIKES, session="monday")
    run = rig.settle("随便聊聊", session="tuesday")
    assert plan_of(run).judge_error == "truncated"
    assert rig.contents() == ["用户喜欢吃辣"]


def test_a_worker_that_was_taken_over_writes_nothing(url: str) -> None:
    quick = Rig(url=url, chat=ScriptedChat(memories({**NUTS, "content": "用户对花生严重过敏"})))

    def while_the_model_thinks(_messages: object) -> str:
        quick.clock.advance(91)
        slow.clock.advance(91)
        assert quick.deliver(run, attempt=2).state is RunState.SUCCEEDED
        return memories(NUTS)

    slow = Rig(url=url, chat=ScriptedChat(while_the_model_thinks))
    slow.say(ALLERGY)
    run = slow.end()
    with pytest.raises(LeaseLostError):
        slow.deliver(run)
    assert slow.contents() == ["用户对花生严重过敏"]
    done = slow.state(run)
    assert (done.state, done.fence, len(done.receipts)) == (RunState.SUCCEEDED, 2, 1)


def test_a_worker_that_is_still_at_work_is_not_disturbed(url: str) -> None:
    rig = Rig(url=url)
    rig.say(LIKES)
    run = rig.end()
    assert rig.runs.claim("home", run.run_id, seconds=90, now=rig.clock.now()) is not None
    with pytest.raises(LeaseLostError):
        rig.deliver(run, attempt=2)
    assert rig.deliver(run, attempt=5).state is RunState.RUNNING  # not parked: it is in other hands
    rig.clock.advance(90)
    assert rig.deliver(run, attempt=2).state is RunState.SUCCEEDED


def test_another_run_of_the_session_waits_for_its_turn(url: str) -> None:
    rig = Rig(url=url)
    rig.say(LIKES)
    run = rig.end()
    rig.opened_cache.lock(rig.key(), "another-run", 600)
    with pytest.raises(LeaseLostError):
        rig.deliver(run)
    rig.opened_cache.unlock(rig.key(), "another-run")
    assert rig.deliver(run).state is RunState.SUCCEEDED


def test_the_lock_is_given_back_whatever_happens(url: str) -> None:
    rig = Rig(url=url, on_step=Trips("judge", StorageUnavailableError()))
    rig.say(LIKES)
    run = rig.end()
    with pytest.raises(StorageUnavailableError):
        rig.deliver(run)
    assert rig.opened_cache.lock(rig.key(), "somebody", 600)
    rig.opened_cache.unlock(rig.key(), "somebody")
    rig.deliver(run)
    assert rig.opened_cache.lock(rig.key(), "somebody", 600)


def test_without_the_cache_nothing_is_lost_and_nothing_is_new_again(url: str) -> None:
    rig = Rig(url=url, cache=NoCache())
    rig.settle(LIKES, "好的")
    run = rig.settle(LIKES, "好的", ALLERGY)
    assert run.counts["new"] == 1
    assert rig.contents() == ["用户喜欢吃辣", "用户对花生过敏"]


def test_a_flushed_cache_makes_nothing_new_again(url: str) -> None:
    rig = Rig(url=url)
    rig.settle(LIKES, "好的")
    forgetful = Rig(url=url)  # its own empty cache
    run = forgetful.settle(LIKES, "好的", ALLERGY)
    assert run.counts["new"] == 1


def test_too_little_time_is_left_to_the_next_invocation(url: str) -> None:
    chat = ScriptedChat(memories(NUTS))
    rig = Rig(url=url, chat=chat)
    rig.say(ALLERGY)
    run = rig.end()
    with pytest.raises(DeadlineExceededError):
        rig.deliver(run, seconds=9)
    assert chat.asked == []
    assert plan_of(rig.deliver(run, attempt=2)).judge == "model"


class Flaky(NoEmbedder):
    """An embedder that is away for the first calls."""

    name, dimensions = "flaky-1", 2

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        self.failures -= 1
        if self.failures >= 0:
            raise InferenceUnavailableError
        return [b"\0\0\x80?\0\0\0\0" for _ in texts]


def test_replacing_never_leaves_a_topic_empty_when_embedding_fails(url: str) -> None:
    embedder = Flaky(0)
    rig = Rig(url=url, embedder=embedder)
    rig.settle("偏好：用户的车牌尾号是 37", session="monday")
    rig.clock.advance(86_400)
    embedder.failures = 1
    rig.say("偏好：用户换车了，车牌尾号是 82", session="tuesday")
    run = rig.end("tuesday")
    with pytest.raises(InferenceUnavailableError):
        rig.deliver(run)
    assert rig.contents() == ["用户的车牌尾号是 37"]
    rig.deliver(run, attempt=2)
    (memory,) = rig.memories()
    assert (memory.content, memory.embedding_model) == ("用户换车了，车牌尾号是 82", "flaky-1")


def test_at_the_last_attempt_a_memory_is_kept_without_its_vector(url: str) -> None:
    rig = Rig(url=url, embedder=Flaky(99))
    rig.say(LIKES)
    assert rig.deliver(rig.end(), attempt=5).state is RunState.SUCCEEDED
    assert rig.memories()[0].embedding_model == ""


def test_an_erased_users_notice_is_taken_off_the_queue(url: str) -> None:
    rig = Rig(url=url)
    notice = RunNotice(tenant="home", session_id="gone", run_id="gone", upto_seq=3)
    run = rig.consolidate(notice, attempt=1, remaining_seconds=lambda: 60)
    assert (run.state, run.error_code) == (RunState.FAILED, "not_found")


def test_what_follows_never_undoes_the_run_and_is_made_up_for(url: str) -> None:
    seen: list[tuple[str, int]] = []

    def summarise(run: Run, talk: Conversation) -> None:
        seen.append((run.run_id, len(talk.fresh)))
        raise InferenceUnavailableError

    rig = Rig(url=url, afterwards=(summarise, lambda run, _talk: seen.append((run.run_id, 0))))
    rig.say(LIKES, "好的")
    run = rig.end()
    assert rig.deliver(run).state is RunState.SUCCEEDED
    rig.deliver(run, attempt=1)
    rig.deliver(run, attempt=2)
    assert seen == [(run.run_id, 2), (run.run_id, 0)] * 2


def test_a_refused_collection_refuses_its_memories_only(url: str) -> None:
    rig = Rig(url=url)
    run = rig.settle(LIKES, "经验：鱼要先煎再炖", agent="recipe_adviser")
    assert run.state is RunState.SUCCEEDED
    assert "refused" not in run.counts


def test_two_sessions_that_end_together_store_a_fact_once(url: str) -> None:
    late: list[Callable[[], object]] = []
    first = Rig(url=url, on_step=lambda step: late.pop()() if step == "plan" and late else None)
    second = Rig(url=url)
    first.say("偏好：用户的紧急联系人是陈女士", session="one")
    second.say("偏好：用户的紧急联系人是陈女士", session="two")
    one, two = first.end("one"), second.end("two")
    late.append(lambda: second.deliver(two))  # both have looked before either has written
    run = first.deliver(one)
    assert run.state is RunState.SUCCEEDED
    assert first.contents() == ["用户的紧急联系人是陈女士"]
    assert run.receipts[0].memory_id == first.memories()[0].memory_id


def test_a_flip_in_a_session_that_is_settled_late_does_not_win(url: str) -> None:
    rig = Rig(url=url)
    rig.say(LIKES, session="backlog")
    rig.clock.advance(3_600)
    rig.settle(DISLIKES, session="today")
    rig.deliver(rig.end("backlog"))
    assert rig.contents() == ["用户不喜欢吃辣"]


def test_no_failure_code_is_lost(url: str) -> None:
    rig = Rig(url=url, on_step=Trips("fresh", StrataError("odd")))
    rig.say(LIKES)
    assert rig.deliver(rig.end()).error_code == "internal"


def test_two_sessions_that_end_together_and_contradict_each_other_leave_one_statement(url: str) -> None:
    late: list[Callable[[], object]] = []
    first = Rig(url=url, on_step=lambda step: late.pop()() if step == "prune" and late else None)
    second = Rig(url=url)
    first.say(LIKES, session="one")
    second.say(DISLIKES, session="two", at=first.clock.now() - timedelta(hours=1))
    one, two = first.end("one"), second.end("two")
    late.append(lambda: second.deliver(two))  # written while the other has looked already
    first.deliver(one)
    assert first.contents() == ["用户喜欢吃辣"]
    assert first.everything()["用户不喜欢吃辣"] == "superseded"


def overtaken(url: str, ours: tuple[str, int], meanwhile: Callable[[Rig], object]) -> Rig:
    """Somebody liked it hot on monday; while our run has planned and not yet written, something else happens."""
    happens: list[Callable[[Rig], object]] = [meanwhile]
    first = Rig(url=url, on_step=lambda step: happens.pop()(first) if step == "plan" and happens else None)
    Rig(url=url, clock=first.clock).settle(LIKES, session="monday")
    first.clock.advance(86_400)
    text, minute = ours
    first.say(text, session="ours", at=first.clock.now() - timedelta(minutes=60 - minute))
    assert first.deliver(first.end("ours")).state is RunState.SUCCEEDED
    return first


def theirs(text: str, minute: int) -> Callable[[Rig], object]:
    """Another session, settled meanwhile, in which something was said in that minute."""

    def settle(rig: Rig) -> object:
        said_at = rig.clock.now() - timedelta(minutes=60 - minute)
        return Rig(url=rig.url, clock=rig.clock).settle(text, session="theirs", at=said_at)

    return settle


def test_what_was_outdated_before_it_could_be_renewed_is_said_anew(url: str) -> None:
    rig = overtaken(url, (LIKES, 30), theirs(DISLIKES, 20))
    assert rig.contents() == ["用户喜欢吃辣"]


def test_what_was_said_again_before_it_could_be_outdated_stays(url: str) -> None:
    rig = overtaken(url, (DISLIKES, 20), theirs(LIKES, 30))
    assert rig.contents() == ["用户喜欢吃辣"]
    assert rig.everything()["用户不喜欢吃辣"] == "superseded"


def test_what_was_deleted_before_it_could_be_renewed_stays_away(url: str) -> None:
    def delete(rig: Rig) -> None:
        (memory,) = rig.memories()
        edit = MemoryEdit(memory_id=memory.memory_id, change=ChangeKind.DELETE, reason="wrong")
        rig.store.edit(Access(tenant="home", agent_id="ann", system=True), memory.collection, edit, now=rig.clock.now())

    assert overtaken(url, (LIKES, 30), delete).contents() == []
