"""The export of a user of more than 6 MB, which no single answer can hold, over real HTTP and from the shell."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from strata import MemoryClient
from strata.cli import root
from strata.client.transport import quoted
from strata.errors import ForbiddenError, ValidationError
from strata.local.stack import LocalStack
from tests.functions.conftest import NewClient

MOST = 6_000_000
"""Bytes of a Lambda answer, a little less than there may be."""
USER = "export-lin 用户"
PATH = f"/v1/users/{quoted(USER)}/export"
TEXTS = [
    ("今天吃了番茄炒蛋，味道不错。" * 23_000)[:300_000],
    "a plain sentence of nothing but ASCII. " * 25_000,
    'she said "no", and "never" again\n' * 25_000,
    "🥜" * 220_000,
]
"""Nearly a megabyte each, as it is sent."""


@pytest.fixture(scope="module")
def said(agent_client: NewClient) -> list[str]:
    """Let a user say ten long things in two sessions, and have memories."""
    agent = agent_client("export-agent")
    contents = [f"{number} {TEXTS[number % len(TEXTS)]}" for number in range(10)]
    for number, content in enumerate(contents):
        agent.append(f"export-{number // 6}", USER, [{"role": "user", "content": content}])
    for number in range(3):
        agent.insert_memory(f"user:{USER}", "user_preference", f"第 {number} 件事", memory_id=f"export-{number}")
        agent.update_memory(f"user:{USER}", f"export-{number}", content=f"第 {number} 件事，改过")
    return contents


def contents_of(exported: dict[str, Any]) -> list[str]:
    return [message["content"] for session in exported["sessions"] for message in session["messages"]]


def test_each_answer_is_small_enough_and_together_they_are_everything(
    said: list[str], admin: MemoryClient, agent_client: NewClient
) -> None:
    found: list[str] = []
    after: str | None = ""
    count = 0
    while after is not None:
        answer = admin._http.get(PATH, params={"after": after} if after else {})
        page = answer.json()
        assert answer.status_code == 200, page
        assert len(json.dumps({"statusCode": 200, "body": answer.text})) < MOST
        assert page["manifest"]["complete"] is (page["next"] is None)
        found += contents_of(page)
        after, count = page["next"], count + 1
        agent_client("export-agent").append(
            f"export-more-{count}", USER, [{"role": "user", "content": f"more {count}"}]
        )
    assert count > 3
    assert sum(len(content.encode()) for content in said) > MOST
    assert [content for content in found if not content.startswith("more")] == said
    assert len(set(found)) == len(found)


def test_the_client_puts_the_whole_together(said: list[str], admin: MemoryClient) -> None:
    exported = admin.export_user(USER)
    assert [content for content in contents_of(exported) if not content.startswith("more")] == said
    ids = [session["key"]["session_id"] for session in exported["sessions"]]
    assert ids[:2] == ["export-0", "export-1"]
    assert len(set(ids)) == len(ids)
    assert [memory["memory_id"] for memory in exported["memories"]] == ["export-0", "export-1", "export-2"]
    assert all([step["version"] for step in memory["history"]] == [1, 2] for memory in exported["memories"])
    manifest = exported["manifest"]
    assert manifest["complete"]
    assert manifest["parts"]["sessions"]["count"] == len(ids)


def test_the_shell_writes_the_whole_to_a_file(
    said: list[str], admin: MemoryClient, stack: LocalStack, tmp_path: Path
) -> None:
    file = tmp_path / "lin.json"
    options = ("--endpoint", stack.url, "--key", stack.admin_key, "--json")
    done = CliRunner().invoke(root, ["users", "export", USER, str(file), *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    written = json.loads(file.read_text(encoding="utf-8"))
    assert json.loads(done.stdout) == written["manifest"]
    assert set(said) <= set(contents_of(written))
    whole = admin.export_user(USER)
    assert {**written, "manifest": None} == {**whole, "manifest": None}
    assert written["manifest"]["parts"] == whole["manifest"]["parts"]


def test_a_small_user_is_one_answer(admin: MemoryClient, agent_client: NewClient) -> None:
    agent_client("export-agent").append("export-small", "export-wu", [{"role": "user", "content": "你好"}])
    answer = admin.call("GET", "/v1/users/export-wu/export")
    assert (answer["next"], answer["manifest"]["complete"], contents_of(answer)) == (None, True, ["你好"])
    assert admin.export_user("export-wu")["sessions"] == answer["sessions"]


def test_an_export_is_for_administrators_and_goes_on_only_where_one_stopped(
    admin: MemoryClient, agent_client: NewClient
) -> None:
    with pytest.raises(ForbiddenError):
        agent_client("export-agent").export_user(USER)
    for after in ("nonsense", "x" * 5_000):
        with pytest.raises(ValidationError):
            admin.call("GET", PATH, query={"after": after})
