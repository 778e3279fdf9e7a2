"""A worker in a process of its own that kills itself, for real, at a named step."""

import multiprocessing
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from strata.clock import FakeClock
from strata.consolidation.replay import notice_of
from strata.model.messages import JsonObject
from strata.model.runs import RunState
from strata.ports import ChatReply
from tests.doubles.open import provider_for
from tests.fakes.chat import memories
from tests.fakes.rig import NOW, Rig

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.faults.warm"])


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a scenario plays: what outlives the process."""

    url: str
    cache_url: str
    folder: Path
    memos_url: str = ""
    """Of the double, which runs in the test's own process; empty for agents that use the native library."""

    def rig(self, *, later_seconds: float = 0, doom: str = "") -> Rig:
        """A worker here, ``later_seconds`` after the beginning, that dies at the step ``doom``."""
        clock = FakeClock(NOW)
        clock.advance(later_seconds)
        return Rig(
            url=self.url,
            cache_url=self.cache_url,
            clock=clock,
            chat=LoggedChat(self.folder / "asked"),
            provider=provider_for("memos", self.memos_url, clock) if self.memos_url else None,
            on_step=Doom(doom),
            pool_size=1,
        )

    def asked(self) -> int:
        """How often the judge was asked, in all processes together."""
        log = self.folder / "asked"
        return len(log.read_text().splitlines()) if log.exists() else 0


class Doom:
    """Kills the process when a step is reached; ``written#2`` is the second of its name."""

    def __init__(self, step: str) -> None:
        self._step, _, place = step.partition("#")
        self._left = int(place or 1)

    def __call__(self, step: str) -> None:
        if self._step and step.partition(" ")[0] == self._step:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class LoggedChat:
    """Answers always the same and notes each question in a file."""

    model = "logged-1"
    ANSWER = memories(
        {"content": "用户对花生过敏", "category": "identity_safety", "messages": [1], "safety": True},
        {"content": "用户已搬到厦门", "category": "preference_taboo", "messages": [2]},
        {"content": "用户喜欢喝茶", "category": "preference_taboo", "messages": [3]},
        {"content": "鱼要先煎再炖", "category": "collaboration_experience", "messages": [4]},
    )

    def __init__(self, log: Path) -> None:
        self._log = log

    def complete(
        self,
        messages: Sequence[JsonObject],
        *,
        schema: JsonObject | None = None,
        max_tokens: int,
        timeout_seconds: float,
    ) -> ChatReply:
        if "<conversation>" not in str(messages[1]["content"]):
            return ChatReply(text="no second opinion", finish_reason="stop")
        with self._log.open("a") as log:
            log.write("asked\n")
        return ChatReply(text=self.ANSWER, finish_reason="stop", prompt_tokens=100, completion_tokens=20)


def deliver(place: Place, run_id: str, *, tenant: str, attempt: int, later_seconds: float, doom: str) -> None:
    """Deliver the run's notice; runs in the child."""
    rig = place.rig(later_seconds=later_seconds, doom=doom)
    rig.tenant = tenant
    run = rig.runs.get(rig.tenant, run_id)
    assert run is not None
    done = rig.consolidate(notice_of(run), attempt=attempt, remaining_seconds=lambda: 60)
    assert done.state is RunState.SUCCEEDED


def deliver_in_a_process(place: Place, run_id: str, **how: object) -> int:
    """Deliver in a process of its own and return its exit code; -9 if it was killed."""
    child = CONTEXT.Process(target=deliver, args=(place, run_id), kwargs=how)
    child.start()
    child.join(60)
    return int(child.exitcode or 0)
