"""The stack serves what the template declares, and loses nothing when it is killed."""

import http.client
import random
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import pytest

from strata.clock import FakeClock, SystemClock
from strata.errors import ConfigurationError
from strata.local.function import FunctionFailed
from strata.local.journal import Journal
from strata.local.notices import LocalRunQueue
from strata.local.queue import FifoQueue
from strata.local.stack import LocalStack
from strata.local.wiring import admin_key, free, settings_for
from strata.model.runs import Lease, Run, RunNotice, RunState
from strata.policy import keys
from tests.local import stub

if TYPE_CHECKING:
    from strata.ports import RunStore

ROOT = Path(__file__).parents[2]
PROGRAM = "import sys, pathlib; from tests.local import stub; stub.serve(pathlib.Path(sys.argv[1]))"


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[LocalStack]:
    stack = stub.stack(tmp_path)
    stack.start()
    yield stack
    stack.stop()


def post(url: str, path: str) -> int:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    try:
        connection.request("POST", path)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


def book(folder: Path) -> list[str]:
    path = folder / "book"
    return path.read_text().splitlines() if path.exists() else []


def test_a_request_goes_through_the_queue_to_the_worker(stack: LocalStack, tmp_path: Path) -> None:
    stack.wait_ready()
    assert post(stack.url, "/v1/sessions/s1/notes/r1") == 202

    assert stack.wait_idle(10)
    assert book(tmp_path) == ["s1 r1"]


def test_schedules_of_the_template_can_be_run_now(stack: LocalStack) -> None:
    assert stack.run_now("tidy") == {"did": "tidy"}


def test_after_stopping_nobody_listens_and_it_can_start_again(tmp_path: Path) -> None:
    first = stub.stack(tmp_path)
    first.start()
    url = first.url
    first.stop()
    with pytest.raises(ConnectionRefusedError):
        post(url, "/v1/sessions/s1/notes/r1")

    second = stub.stack(tmp_path)
    second.start()
    assert post(second.url, "/v1/sessions/s1/notes/r2") == 202
    assert second.wait_idle(10)
    second.stop()
    assert book(tmp_path) == ["s1 r2"]


def test_a_folder_belongs_to_one_stack(stack: LocalStack, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="Another local stack"):
        stub.stack(tmp_path).start()


def test_a_port_that_is_taken_is_said_and_leaves_nothing_running(stack: LocalStack, tmp_path: Path) -> None:
    other = tmp_path / "other"
    port = urlsplit(stack.url).port
    assert port is not None
    taken = LocalStack(data_dir=other / "data", port=port, template_path=stub.write(other), wiring=stub.Stub)
    with pytest.raises(OSError, match="in use"):
        taken.start()

    free = stub.stack(other)
    free.start()
    free.stop()


def test_a_schema_that_cannot_be_migrated_stops_the_start(tmp_path: Path) -> None:
    stack = stub.stack(tmp_path)
    (tmp_path / "functions" / "maintenance" / "app.py").write_text("def handler(*_):\n    raise RuntimeError\n")

    with pytest.raises(ConfigurationError, match="schema") as refused:
        stack.start()
    assert isinstance(refused.value.__cause__, FunctionFailed)


def test_what_a_killed_process_had_in_hand_is_freed_and_delivered_at_once(tmp_path: Path) -> None:
    stack = stub.stack(tmp_path)
    (tmp_path / "data").mkdir()
    with closing(Journal(tmp_path / "data" / "queue.db")) as journal:
        dying = FifoQueue(stack.deployment.queues["Runs"], journal, SystemClock())
        notice = RunNotice(tenant="t", session_id="s", run_id="r", upto_seq=1)
        LocalRunQueue(dying).send(notice)
        [in_hand] = dying.receive()
    stub.interruptions.clear()

    stack.start()
    assert stack.wait_idle(10)
    stack.stop()

    assert stub.interruptions == [in_hand.body]
    assert book(tmp_path) == ["s r"]


class Ledger:
    """As much of a run store as the recovery needs."""

    def __init__(self, state: RunState) -> None:
        self.run = Run(
            tenant="t",
            run_id="r",
            session_id="s",
            user_id="u",
            agent_id="a",
            state=state,
            from_seq=1,
            upto_seq=1,
            fence=7,
            created_at=FakeClock().now(),
        )
        self.released: list[int] = []

    def get(self, _tenant: str, run_id: str) -> Run | None:
        return self.run if run_id == "r" else None

    def release(self, lease: Lease, _tenant: str, **_: object) -> None:
        self.released.append(lease.fence)


@pytest.mark.parametrize(
    ("state", "run_id", "released"),
    [
        (RunState.RUNNING, "r", [7]),
        (RunState.PLANNED, "r", [7]),
        (RunState.QUEUED, "r", []),
        (RunState.SUCCEEDED, "r", []),
        (RunState.RUNNING, "erased", []),
    ],
)
def test_only_the_lease_of_a_run_that_was_worked_on_is_ended(state: RunState, run_id: str, released: list[int]) -> None:
    ledger = Ledger(state)

    free(cast("RunStore", ledger), RunNotice(tenant="t", session_id="s", run_id=run_id, upto_seq=1), FakeClock().now())

    assert ledger.released == released


def test_before_the_start_there_is_no_url(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="not been started"):
        _ = stub.stack(tmp_path).url


def test_without_a_template_there_is_no_stack(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        LocalStack(data_dir=tmp_path, template_path=tmp_path / "template.yaml")


def test_the_admin_key_is_made_once_and_is_nobody_else_s(tmp_path: Path) -> None:
    key = admin_key(tmp_path)

    assert keys.parsed(key) is not None
    assert admin_key(tmp_path) == key
    assert stat.S_IMODE((tmp_path / "admin.key").stat().st_mode) == 0o600


def test_settings_are_the_template_s_then_local_then_the_environment_s(tmp_path: Path) -> None:
    deployment = stub.stack(tmp_path).deployment
    settings = settings_for(deployment, tmp_path, {"STRATA_CACHE_URL": "redis://elsewhere", "OTHER": "x"})

    assert settings.database.tls is False
    assert settings.database.url == f"sqlite:///{tmp_path / 'strata.db'}"
    assert settings.cache.url == "redis://elsewhere"
    assert settings.auth.bootstrap_admin_key == admin_key(tmp_path)


def test_the_deployed_template_needs_no_setting_that_is_missing_here(tmp_path: Path) -> None:
    deployment = LocalStack(data_dir=tmp_path, template_path=ROOT / "template.yaml").deployment
    settings = settings_for(deployment, tmp_path, {})

    assert settings.queue.url == ""
    assert settings.cache.url == "memory://"
    assert settings.queue.max_receives == deployment.queues["RunQueue"].max_receives


class Victim:
    """A stack in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder)], stdout=subprocess.PIPE, cwd=ROOT)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().decode().strip()

    def kill(self) -> None:
        self.process.kill()

    def bury(self) -> None:
        self.process.communicate()


@pytest.mark.slow
def test_killed_at_any_moment_it_loses_no_acknowledged_notice(tmp_path: Path) -> None:
    chance = random.Random(20260310)
    acknowledged: list[str] = []
    for generation in range(4):
        victim = Victim(tmp_path)
        Timer(chance.uniform(0.02, 0.3), victim.kill).start()
        acknowledged += list(noted_until_the_end(victim, generation))
        victim.bury()

    survivor = stub.stack(tmp_path)
    survivor.start()
    assert survivor.wait_idle(20)
    survivor.stop()

    written = list(dict.fromkeys(book(tmp_path)))
    assert len(acknowledged) > 20
    for session in ("s0", "s1", "s2"):
        promised = [line for line in acknowledged if line.startswith(session)]
        assert [line for line in written if line in promised] == promised


def noted_until_the_end(victim: Victim, generation: int) -> Iterator[str]:
    """Send notices until nobody answers any more; yield those that were acknowledged."""
    for number in count():
        session, run = f"s{number % 3}", f"{generation}-{number}"
        try:
            status = post(victim.url, f"/v1/sessions/{session}/notes/{run}")
        except (OSError, http.client.HTTPException):
            return
        if status == 202:
            yield f"{session} {run}"
