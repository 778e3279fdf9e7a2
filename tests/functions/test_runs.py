"""Runs over real HTTP and from the shell: what failed is seen, planned anew, brought back, and taken back."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from strata import MemoryClient
from strata.cli import root
from strata.client.transport import quoted
from strata.errors import ForbiddenError, NotFoundError, StrataError
from strata.local.stack import LocalStack
from tests.functions.conftest import NewClient

SAID = {"role": "user", "content": "我对花生过敏，吃了会喉咙肿。"}


def strata(stack: LocalStack, *arguments: str) -> Any:
    options = ("--endpoint", stack.url, "--key", stack.admin_key)
    done = CliRunner().invoke(root, ["runs", *arguments, *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


def mend(admin: MemoryClient, agent_id: str) -> None:
    """Let an agent whose provider was never set up use the library."""
    profile = {"target_id": "model", "long_memory_provider": "MYSQL", "open_long_memory": True}
    admin.call("PUT", f"/v1/agents/{agent_id}", profile)


@pytest.fixture
def failed(agent_client: NewClient, admin: MemoryClient, request: pytest.FixtureRequest) -> dict[str, Any]:
    """A run that failed because its agent's provider has no address; by now it has another one."""
    name = request.node.name.removeprefix("test_")[:40]
    agent = f"runs-{name}"
    client = agent_client(agent, long_memory_provider="MEM0")
    admin.call(
        "PUT", f"/v1/agents/{agent}", {"target_id": "model", "long_memory_provider": "MEM0", "open_long_memory": True}
    )
    client.append(f"s-{name}", f"u-{name}", [SAID])
    run = client.wait_for_run(client.end_session(f"s-{name}"), timeout_seconds=30.0)
    assert run["state"] == "failed"
    mend(admin, agent)
    return {**run, "client": client, "user": f"u-{name}"}


def contents(admin: MemoryClient, user: str) -> list[str]:
    found = admin.call("GET", f"/v1/collections/{quoted(f'user:{user}')}/memories")["memories"]
    return [memory["content"] for memory in found if memory["memory_type"] != "episode"]


def test_a_failed_run_is_planned_anew_replayed_and_undone(
    failed: dict[str, Any], admin: MemoryClient, stack: LocalStack
) -> None:
    run_id, user = failed["run_id"], failed["user"]
    assert run_id in [run["run_id"] for run in strata(stack, "list", "--state", "failed", "--json")["runs"]]
    planned = strata(stack, "dry-run", run_id, "--json")
    assert (planned["judge"], [write["action"] for write in planned["plan"]]) == ("rules", ["insert"])
    assert contents(admin, user) == []
    assert strata(stack, "show", run_id)["state"] == "failed"
    assert strata(stack, "replay", run_id)["attempts"] == 0
    assert failed["client"].wait_for_run(run_id, timeout_seconds=30.0)["state"] == "succeeded"
    assert len(contents(admin, user)) == 1
    assert strata(stack, "undo", run_id, "--yes")["state"] == "undone"
    assert contents(admin, user) == []


def test_everything_that_stopped_is_replayed_with_one_command(
    failed: dict[str, Any], admin: MemoryClient, stack: LocalStack
) -> None:
    assert failed["run_id"] in [run["run_id"] for run in strata(stack, "replay", "--all")["runs"]]
    assert failed["client"].wait_for_run(failed["run_id"], timeout_seconds=30.0)["state"] == "succeeded"
    assert len(contents(admin, failed["user"])) == 1
    assert failed["run_id"] not in [run["run_id"] for run in strata(stack, "replay", "--all")["runs"]]


def test_ending_again_settles_what_failed(failed: dict[str, Any], admin: MemoryClient) -> None:
    client: MemoryClient = failed["client"]
    assert client.end_session(failed["session_id"]) == failed["run_id"]
    assert client.wait_for_run(failed["run_id"], timeout_seconds=30.0)["state"] == "succeeded"
    assert len(contents(admin, failed["user"])) == 1


def test_nothing_was_judged_for_want_of_a_model(stack: LocalStack) -> None:
    assert strata(stack, "rejudge", "--all", "--limit", "5") == {"runs": [], "before": None}


@pytest.mark.parametrize("arguments", [("replay",), ("rejudge",), ("replay", "r1", "--all")])
def test_one_run_or_all_of_them(stack: LocalStack, arguments: tuple[str, ...]) -> None:
    done = CliRunner().invoke(root, ["runs", *arguments, "--endpoint", stack.url, "--key", stack.admin_key])
    assert done.exit_code == 2


PATHS = ["/v1/runs/x/dry-run", "/v1/runs/x/replay", "/v1/runs/x/rejudge", "/v1/runs/replay", "/v1/runs/rejudge"]


@pytest.mark.parametrize("path", PATHS)
def test_agents_do_not_operate(agent_client: NewClient, path: str) -> None:
    with pytest.raises(ForbiddenError):
        agent_client("runs-stranger").call("POST", path)


@pytest.mark.parametrize("action", ["dry-run", "replay", "rejudge", "undo"])
def test_a_run_that_never_was_is_not_found(admin: MemoryClient, action: str) -> None:
    with pytest.raises(NotFoundError):
        admin.call("POST", f"/v1/runs/never/{action}")


@pytest.mark.parametrize("limit", [0, 501, "many"])
def test_how_many_is_bounded(admin: MemoryClient, limit: object) -> None:
    with pytest.raises(StrataError) as refused:
        admin.call("POST", "/v1/runs/replay", query={"limit": limit})
    assert refused.value.status == 422
