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


def printed(stack: LocalStack, *arguments: str, typed: str | None = None) -> str:
    options = ("--endpoint", stack.url, "--key", stack.admin_key)
    done = CliRunner().invoke(root, ["runs", *arguments, *options], input=typed, catch_exceptions=False)
    assert done.exit_code == (0 if typed in {None, "y"} else 1), done.output
    return done.stdout


def strata(stack: LocalStack, *arguments: str) -> Any:
    return json.loads(printed(stack, *arguments, "--json"))


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


def facts(admin: MemoryClient, user: str) -> dict[str, str]:
    """What a run wrote, by memory id; episodes follow some time after the run."""
    found = admin.call("GET", f"/v1/collections/{quoted(f'user:{user}')}/memories")["memories"]
    return {memory["memory_id"]: memory["content"] for memory in found if memory["memory_type"] != "episode"}


def contents(admin: MemoryClient, user: str) -> list[str]:
    return list(facts(admin, user).values())


def test_a_failed_run_is_planned_anew_replayed_and_undone(
    failed: dict[str, Any], admin: MemoryClient, stack: LocalStack
) -> None:
    run_id, user = failed["run_id"], failed["user"]
    assert run_id in [run["run_id"] for run in strata(stack, "list", "--state", "failed")["runs"]]
    planned = strata(stack, "dry-run", run_id)
    assert (planned["judge"], [write["action"] for write in planned["plan"]]) == ("rules", ["insert"])
    assert contents(admin, user) == []
    assert strata(stack, "show", run_id)["state"] == "failed"
    assert strata(stack, "replay", run_id)["attempts"] == 0
    assert failed["client"].wait_for_run(run_id, timeout_seconds=30.0)["state"] == "succeeded"
    assert len(contents(admin, user)) == 1
    assert_shown_and_asked(stack, admin, run_id, user)
    done = strata(stack, "undo", run_id, "--yes")
    assert (done["state"], done["applied"], done["left"]) == ("undone", True, [])
    assert contents(admin, user) == []


def assert_shown_and_asked(stack: LocalStack, admin: MemoryClient, run_id: str, user: str) -> None:
    """An undo shows what it would take back; unless the answer is yes nothing is written."""
    (fact,) = facts(admin, user)
    shown = strata(stack, "undo", run_id, "--dry-run")
    assert (shown["state"], shown["applied"]) == ("succeeded", False)
    (step,) = [step for step in shown["steps"] if step["memory_id"] == fact]
    assert (step["collection"], step["change"], step["to_version"]) == (f"user:{user}", "undo", 0)
    assert (shown["left"], shown["leaving"]) == ([], [])
    told = printed(stack, "undo", run_id, typed="n")
    assert fact in told
    assert "0 memories left as they are" in told
    assert "succeeded" in printed(stack, "show", run_id)
    assert [event["kind"] for event in admin.call("GET", "/v1/events", query={"memory_id": fact})["events"]] == [
        "memory.inserted"
    ]
    assert list(facts(admin, user)) == [fact]


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


@pytest.mark.parametrize("body", [{"dry_run": "perhaps"}, {"dry_run": None}, {"dry-run": True}, [], "dry_run"])
def test_what_is_no_dry_run_undoes_nothing(admin: MemoryClient, body: object) -> None:
    with pytest.raises(StrataError) as refused:
        admin.call("POST", "/v1/runs/never/undo", body)
    assert refused.value.status in {400, 422}


@pytest.mark.parametrize("limit", [0, 501, "many"])
def test_how_many_is_bounded(admin: MemoryClient, limit: object) -> None:
    with pytest.raises(StrataError) as refused:
        admin.call("POST", "/v1/runs/replay", query={"limit": limit})
    assert refused.value.status == 422
