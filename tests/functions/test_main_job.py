"""The main job over HTTP: told to one agent, settled, and in the context of another."""

import json
from collections.abc import Mapping
from typing import Any

import httpx

from strata import MemoryClient
from strata.local.stack import LocalStack
from tests.functions.conftest import NewClient


def said(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


def settle(client: MemoryClient, session: str, user: str, *texts: str) -> Mapping[str, Any]:
    client.append(session, user, said(*texts), zone="Asia/Shanghai")
    return client.wait_for_run(client.end_session(session))


def test_an_allergy_told_to_one_agent_reaches_another_whatever_it_is_asked(agent_client: NewClient) -> None:
    adviser, shopper = agent_client("adviser"), agent_client("buyer")
    run = settle(adviser, "am", "lin", "我对花生过敏，吃一点就起疹子。", "今天番茄三块五一斤，挺便宜的。")
    assert run["state"] == "succeeded"
    loaded = shopper.load_context("noon", "lin", "厨房的垃圾袋还有吗？")
    constraints = [item["content"] for item in loaded.memories["constraints"]]
    assert any("花生" in text and "过敏" in text for text in constraints)
    assert "花生" in loaded.prompt
    stored = [record for record in adviser.memories("user:lin") if record.memory_type == "user_preference"]
    assert not any("番茄" in record.content for record in stored)


def test_a_repeated_fact_is_stored_once_and_a_similar_one_beside_it(agent_client: NewClient) -> None:
    adviser, shopper = agent_client("adviser"), agent_client("buyer")
    settle(adviser, "one", "wang", "我不吃香菜。")
    settle(shopper, "two", "wang", "提醒一下，我不吃香菜。", "我不吃芹菜。")
    settle(shopper, "two", "wang", "我不吃香菜！")
    contents = [record.content for record in adviser.memories("user:wang") if record.memory_type != "episode"]
    assert sum("香菜" in text for text in contents) == 1
    assert sum("芹菜" in text for text in contents) == 1


def test_a_complaint_about_a_dish_is_found_by_its_meaning(agent_client: NewClient) -> None:
    coach, adviser = agent_client("coach"), agent_client("adviser")
    settle(coach, "dinner", "chen", "上次那个牛肉炖得有点老，孩子嚼不动。")
    loaded = adviser.load_context("tomorrow", "chen", "容易咀嚼的高蛋白菜谱")
    delivered = [item["content"] for lane in loaded.memories.values() for item in lane]
    assert any("嚼不动" in text for text in delivered)


def test_ending_twice_is_ending_once(agent_client: NewClient) -> None:
    agent = agent_client("adviser")
    agent.append("twice", "zhao", said("I'm allergic to shellfish."))
    first, second = agent.end_session("twice"), agent.end_session("twice")
    assert first == second
    agent.wait_for_run(first)
    assert agent.end_session("twice") == first
    facts = [record for record in agent.memories("user:zhao") if record.memory_type != "episode"]
    assert len(facts) == 1


def test_off_is_off(agent_client: NewClient) -> None:
    adviser, silent = agent_client("adviser"), agent_client("silent", open_long_memory=False)
    settle(adviser, "loud", "sun", "I'm allergic to sesame.")
    loaded = silent.load_context("quiet", "sun", "What can I cook?")
    assert not any(loaded.memories.values())
    assert loaded.degraded


def test_the_document_describes_every_route(stack: LocalStack) -> None:
    document = httpx.get(f"{stack.url}/v1/openapi.json").json()
    described = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    assert described == {(route.method, route.path) for route in stack.deployment.routes}
    assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"


def test_health_names_every_dependency(stack: LocalStack) -> None:
    answer = httpx.get(f"{stack.url}/v1/health")
    assert answer.status_code == 200
    assert json.loads(answer.text)["dependencies"]["database"]["state"] == "ok"


def test_text_comes_back_byte_for_byte(agent_client: NewClient) -> None:
    agent = agent_client("adviser")
    texts = ["报销已提交 🧾👍🏽", "👨\u200d👩\u200d👧 一家三口", "می\u200cخواهم", "<|endoftext|> {x} %s \\u4e2d"]
    agent.append("bytes", "qian", said(*texts))
    assert [message["content"] for message in agent.messages("bytes")] == texts
