"""The story of a polluted memory, over real HTTP: what cannot happen, and how what did happen is taken back."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from strata import MemoryClient
from strata.clock import SystemClock
from strata.local.stack import LocalStack
from strata.maintenance.weeks import week_of
from tests.functions.conftest import NewClient

HOME = "pollution-home"
PRICE = "番茄今天三块五一斤,比上周便宜"


@pytest.fixture(scope="module")
def household(admin: MemoryClient, agent_client: NewClient) -> dict[str, MemoryClient]:
    admin.call("PUT", f"/v1/collections/{HOME}", {})
    clients = {name: agent_client(f"pollution-{name}") for name in ("adviser", "shopper", "coach")}
    for client in clients.values():
        client.register_agent(HOME, read=True, write=True)
    return clients


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
def test_a_price_reaches_no_preference_at_any_threshold(household: dict[str, MemoryClient], mode: str) -> None:
    household["adviser"].insert_memory(HOME, "user_preference", "喜欢番茄,熟一点的")
    household["shopper"].insert_memory(HOME, "price_alert", PRICE)
    for threshold in (0.0, 0.25, 0.5, 0.75, 1.0):
        found = household["coach"].search_similar(
            HOME, PRICE, threshold, memory_types=["user_preference"], mode=mode, top_k=50
        )
        assert PRICE not in [record.content for record in found]
        assert {record.memory_type for record in found} <= {"user_preference"}


def test_a_bad_memory_is_found_traced_rolled_back_and_gone_from_contexts(
    household: dict[str, MemoryClient], admin: MemoryClient, stack: LocalStack
) -> None:
    good, bad = "全家对花生过敏,不能吃花生", "全家都爱吃花生酱"
    adviser, shopper, coach = (household[name] for name in ("adviser", "shopper", "coach"))
    memory = adviser.insert_memory(HOME, "user_preference", good, standing=True, safety=True).memory_id
    adviser.update_memory(HOME, memory, metadata={"source": "doctor"}, expected_version=1)
    assert shopper.update_memory(HOME, memory, content=bad, expected_version=1).conflict

    asked = {"collections": [HOME]}
    assert bad in coach.load_context("pollution-s1", "pollution-u", "晚上吃什么?", **asked).prompt
    coach.insert_memory(HOME, "shopping_list", "花生酱两罐", metadata={"session_id": "pollution-s1"})

    assert memory in _contested(stack)
    shown = admin.rollback(HOME, memory, 2, dry_run=True)
    assert [(one.agent_id, one.session_id, one.version) for one in shown.readers] == [
        ("pollution-coach", "pollution-s1", 3)
    ]
    assert [one["content"] for one in admin.impact(HOME, memory, version=3).written] == ["花生酱两罐"]

    admin.rollback(HOME, memory, 2, reason="poisoned")
    prompt = coach.load_context("pollution-s2", "pollution-u", "晚上吃什么?", **asked).prompt
    assert good in prompt
    assert bad not in prompt
    assert [step.change for step in admin.history(HOME, memory)] == ["insert", "update", "update", "rollback"]


def _contested(stack: LocalStack) -> str:
    """Make this week's report, as an operator does beside the database, and return its page."""
    page = Path(stack._data_dir) / "report.html"
    week = week_of(SystemClock().now())
    call = [sys.executable, "-m", "strata.cli", "audit", "make", week, "--html", str(page)]
    environment = {**os.environ, "STRATA_CLI_DATA_DIR": str(stack._data_dir)}
    subprocess.run(call, env=environment, capture_output=True, check=True, timeout=120)
    return page.read_text(encoding="utf-8")
