"""A worker in a process of its own that kills itself, for real, at a named point."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from strata.clock import FakeClock
from strata.consolidation.replay import notice_of
from strata.model.messages import JsonObject
from strata.model.runs import RunState
from strata.ports import ChatReply
from strata.providers.answers import Answer
from strata.providers.deadline import Deadline
from strata.providers.http import Call, Endpoint
from strata.storage import engine
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

    def rig(self, *, later_seconds: float = 0, on_step: Callable[[str], None] = lambda _step: None) -> Rig:
        """A worker here, ``later_seconds`` after the beginning."""
        clock = FakeClock(NOW)
        clock.advance(later_seconds)
        return Rig(
            url=self.url,
            cache_url=self.cache_url,
            clock=clock,
            chat=LoggedChat(self.folder / "asked", on_step),
            provider=provider_for("memos", self.memos_url, clock) if self.memos_url else None,
            on_step=on_step,
            pool_size=1,
        )

    def asked(self) -> int:
        """How often the judge was asked, in all processes together."""
        log = self.folder / "asked"
        return len(log.read_text().splitlines()) if log.exists() else 0


MODEL, COMMIT, REQUEST = "model", "COMMIT", "request"
"""Points besides the pipeline's steps: the model has answered; a transaction is about to be committed; a provider has
answered a request."""


class Doom:
    """Kills the process at a point; ``written#2`` is the second of its name. Without a point it takes notes."""

    def __init__(self, point: str, notes: Path) -> None:
        self._name, _, place = point.partition("#")
        self._left = int(place or 1)
        self._notes = notes

    def __call__(self, step: str) -> None:
        name = step.partition(" ")[0]
        if not self._name:
            with self._notes.open("a") as notes:
                notes.write(f"{name}\n")
        elif name == self._name:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        """Look into what the pipeline does not tell, in this process and for good: transactions and requests."""
        say, sent = engine._say, Endpoint._sent

        def watched_say(connection: Connection, command: str) -> None:
            if command == COMMIT:
                self(COMMIT)
            say(connection, command)

        def watched_sent(endpoint: Endpoint, call: Call, deadline: Deadline) -> Answer:
            answer = sent(endpoint, call, deadline)
            self(REQUEST)
            return answer

        engine._say = watched_say
        setattr(Endpoint, "_sent", watched_sent)  # noqa: B010 a method, for a type checker, is not to be replaced


class LoggedChat:
    """Answers always the same and notes each question in a file."""

    model = "logged-1"
    ANSWER = memories(
        {"content": "用户对花生过敏", "category": "identity_safety", "messages": [1], "safety": True},
        {"content": "用户已搬到厦门", "category": "preference_taboo", "messages": [2]},
        {"content": "用户喜欢喝茶", "category": "preference_taboo", "messages": [3]},
        {"content": "鱼要先煎再炖", "category": "collaboration_experience", "messages": [4]},
    )

    def __init__(self, log: Path, on_step: Callable[[str], None]) -> None:
        self._log = log
        self._on_step = on_step

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
        self._on_step(MODEL)
        return ChatReply(text=self.ANSWER, finish_reason="stop", prompt_tokens=100, completion_tokens=20)


def deliver(place: Place, run_ids: Mapping[str, str], *, attempt: int, later_seconds: float, doom: str) -> None:
    """Deliver the notices of runs, by tenant; in the child. Nothing that happens before the first one is a point."""
    fate = Doom(doom, place.folder / "points")
    rig = place.rig(later_seconds=later_seconds, on_step=fate)
    fate.watch()
    for tenant, run_id in run_ids.items():
        rig.tenant = tenant
        run = rig.runs.get(rig.tenant, run_id)
        assert run is not None
        done = rig.consolidate(notice_of(run), attempt=attempt, remaining_seconds=lambda: 60)
        assert done.state is RunState.SUCCEEDED


def deliver_in_a_process(place: Place, run_ids: Mapping[str, str], **how: object) -> int:
    """Deliver in a process of its own and return its exit code; -9 if it was killed."""
    child = CONTEXT.Process(target=deliver, args=(place, run_ids), kwargs=how)
    child.start()
    child.join(300)
    return int(child.exitcode or 0)
