"""The product on one machine, killed while it works: what was acknowledged is there, and nothing is there twice."""

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Timer
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from strata.local.wiring import admin_key

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PROGRAM = """
import pathlib, sys, threading
from strata.local.stack import LocalStack
stack = LocalStack(data_dir=pathlib.Path(sys.argv[1]), port=0)
stack.start()
print(stack.url, flush=True)
while sys.stdin.readline():
    print("idle" if stack.wait_idle(60) else "busy", flush=True)
"""
SESSIONS = 3
FACTS = ["我对花生过敏。", "我不吃香菜。", "我不吃芹菜。", "I am allergic to shellfish."]


class Stack:
    """A local stack in a process of its own."""

    def __init__(self, folder: Path) -> None:
        environment = {"PATH": "/usr/bin:/bin", "STRATA_INFERENCE_LOCAL_EMBEDDING": "false"}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(folder)], cwd=ROOT, env=environment, **pipes
        )
        self.url = self._line()

    def wait_idle(self) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write("idle?\n")
        self.process.stdin.flush()
        return self._line()

    def kill(self) -> None:
        self.process.kill()

    def bury(self) -> None:
        self.process.communicate()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return str(self.process.stdout.readline()).strip()


class Household:
    """An agent that talks to whatever stack is up, and remembers what was acknowledged."""

    def __init__(self, folder: Path) -> None:
        self._admin = {"Authorization": f"Bearer {admin_key(folder)}"}
        self._key: dict[str, str] = {}
        self._sessions = count()
        self.acknowledged: dict[str, list[str]] = {}
        self.ended: list[str] = []

    def enlist(self, url: str) -> None:
        profile = {"target_id": "model", "long_memory_provider": "MYSQL", "open_long_memory": True}
        httpx.put(f"{url}/v1/agents/cook", json=profile, headers=self._admin, timeout=30).raise_for_status()
        made = httpx.post(f"{url}/v1/agents/cook/keys", json={}, headers=self._admin, timeout=30).raise_for_status()
        self._key = {"Authorization": f"Bearer {made.json()['key']}"}

    def talk(self, url: str, end: Callable[[], None]) -> None:
        """Open session after session until nobody answers; after a few of them, bring the end about."""
        with httpx.Client(base_url=url, headers=self._key, timeout=30) as client, suppress(httpx.TransportError):
            for number in count():
                self._session(client)
                if number == SESSIONS:
                    end()

    def get(self, url: str, path: str) -> Any:
        return httpx.get(f"{url}{path}", headers=self._key, timeout=30).raise_for_status().json()

    def _session(self, client: httpx.Client) -> None:
        session = f"s{next(self._sessions)}"
        kept = self.acknowledged.setdefault(session, [])
        for number, fact in enumerate(random.Random(session).sample(FACTS, 2)):
            message = {"message_id": f"{session}-{number}", "role": "user", "content": fact}
            body = {"user_id": "u1", "messages": [message]}
            client.post(f"/v1/sessions/{session}/messages", json=body).raise_for_status()
            kept.append(message["message_id"])
        client.post(f"/v1/sessions/{session}/end", json={}).raise_for_status()
        self.ended.append(session)


@pytest.fixture
def household(tmp_path: Path) -> Household:
    return Household(tmp_path)


@pytest.fixture
def survivor(tmp_path: Path, household: Household) -> Iterator[Stack]:
    """A stack that was killed three times while the household talked, up again and done with its work."""
    chance = random.Random(7)
    for generation in range(3):
        victim = Stack(tmp_path)
        if generation == 0:
            household.enlist(victim.url)
        household.talk(victim.url, Timer(chance.uniform(0, 0.3), victim.kill).start)
        victim.bury()
    stack = Stack(tmp_path)
    assert stack.wait_idle() == "idle"
    yield stack
    stack.kill()
    stack.bury()


def test_nothing_acknowledged_is_lost_and_nothing_is_repeated(household: Household, survivor: Stack) -> None:
    assert len(household.ended) >= 3 * SESSIONS
    for session, kept in household.acknowledged.items():
        if kept:
            messages = household.get(survivor.url, f"/v1/sessions/{session}/messages")["messages"]
            assert [message["message_id"] for message in messages][: len(kept)] == kept
            assert [message["seq"] for message in messages] == list(range(1, len(messages) + 1))

    runs = household.get(survivor.url, "/v1/runs?limit=500")["runs"]
    assert {run["session_id"] for run in runs} >= set(household.ended)
    assert {run["state"] for run in runs} == {"succeeded"}

    memories = household.get(survivor.url, f"/v1/collections/{quote('user:u1', safe='')}/memories")["memories"]
    facts = [memory["content"] for memory in memories if memory["memory_type"] != "episode"]
    for word in ("花生", "香菜", "芹菜", "shellfish"):
        assert sum(word in fact for fact in facts) == 1, facts
