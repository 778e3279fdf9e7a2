"""Who may use which route: every route of the API, over real HTTP, for everybody who may come by.

A route that is not named here fails the test, so that none is added without a decision.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from strata import MemoryClient
from strata.bootstrap import Runtime
from strata.clock import SystemClock
from strata.config import Database, Settings
from strata.local.stack import LocalStack
from strata.local.template import read
from strata.model.agents import AgentProfile, AgentRole, Caller
from tests.benchmarks.conftest import NoQueue
from tests.functions.conftest import NewClient

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
HOME = "matrix-home"
AGENTS = ("owner", "writer", "reader", "other_type", "unregistered", "revoked")
EVERYBODY = (*AGENTS, "admin", "other_tenant")
READERS = {"owner", "writer", "reader", "admin"}
WRITERS = {"owner", "writer", "admin"}
ADMIN = {"admin"}
PUBLIC = {"GET /v1/health", "GET /v1/openapi.json"}

MEMORY = "/v1/collections/{collection}/memories/{memory_id}"
IN_COLLECTION: dict[str, tuple[set[str], object]] = {
    "GET /v1/collections/{collection}": (READERS | {"other_type"}, None),
    "GET /v1/collections/{collection}/memories": (READERS | {"other_type"}, None),
    "POST /v1/collections/{collection}/memories/search": (READERS | {"other_type"}, {"query": "香菜"}),
    "POST /v1/collections/{collection}/memories": (WRITERS, {"memory_type": "user_preference", "content": "爱喝茶"}),
    f"GET {MEMORY}": (READERS, None),
    f"GET {MEMORY}/history": (READERS, None),
    f"GET {MEMORY}/reads": (READERS, None),
    f"GET {MEMORY}/impact": (READERS, None),
    f"POST {MEMORY}/rollback": (WRITERS, {"version": 1}),
    f"PATCH {MEMORY}": (WRITERS, {"content": "不吃芹菜了"}),
    f"DELETE {MEMORY}": (WRITERS, None),
}
"""Routes whose answer depends on the rights in the collection: who is answered 2xx; everybody else finds nothing."""
ADMINISTRATION: dict[str, object] = {
    "GET /v1/agents": None,
    "PUT /v1/agents/{agent_id}": {},
    "POST /v1/agents/{agent_id}/keys": {},
    "GET /v1/agents/{agent_id}/keys": None,
    "DELETE /v1/agents/{agent_id}/keys/{key_id}": None,
    "PUT /v1/collections/{collection}": {},
    "DELETE /v1/collections/{collection}": None,
    "GET /v1/quarantine": None,
    "GET /v1/quarantine/{quarantine_id}": None,
    "POST /v1/quarantine/{quarantine_id}/release": None,
    "POST /v1/quarantine/{quarantine_id}/reject": None,
    "GET /v1/audits": None,
    "GET /v1/audits/{week}": None,
    "GET /v1/events": None,
    "GET /v1/users/{user_id}/export": None,
    "DELETE /v1/users/{user_id}": None,
    "POST /v1/runs/{run_id}/replay": None,
    "POST /v1/runs/{run_id}/rejudge": None,
    "POST /v1/runs/{run_id}/undo": None,
    "POST /v1/runs/{run_id}/dry-run": None,
    "POST /v1/runs/replay": None,
    "POST /v1/runs/rejudge": None,
}
"""Routes for administrators: everybody else is forbidden."""
OF_ANOTHER = {
    "GET /v1/agents/{agent_id}",
    "PUT /v1/collections/{collection}/registrations/{agent_id}",
    "GET /v1/collections/{collection}/registrations/{agent_id}",
    "DELETE /v1/collections/{collection}/registrations/{agent_id}",
    "GET /v1/runs/{run_id}",
    "GET /v1/sessions/{session_id}",
    "POST /v1/sessions/{session_id}/messages",
    "GET /v1/sessions/{session_id}/messages",
    "PUT /v1/sessions/{session_id}/working",
    "GET /v1/sessions/{session_id}/working",
    "DELETE /v1/sessions/{session_id}/working",
    "PUT /v1/sessions/{session_id}/participants/{agent_id}",
    "DELETE /v1/sessions/{session_id}/participants/{agent_id}",
    "POST /v1/sessions/{session_id}/end",
    "POST /v1/sessions/{session_id}/resume",
    "POST /v1/context",
}
"""Routes about what belongs to an agent: another agent, and another tenant, finds nothing."""
OWN = {"GET /v1/runs"}
"""Everybody is shown what is theirs."""


@dataclass
class House:
    """Keys of everybody, and a memory and a session of the owner."""

    url: str
    keys: dict[str, str]
    memory_id: str
    again: Callable[[], str]
    """Makes another memory with two versions."""

    def ask(self, name: str, route: str, body: object = None, **ids: str) -> httpx.Response:
        method, path = route.split(" ")
        places = {"collection": HOME, "memory_id": self.memory_id, "session_id": "matrix-session", **ids}
        known = {"agent_id": "owner", "key_id": "x", "run_id": "x", "week": "2026-W01", "user_id": "nobody"}
        url = self.url + path.format(**{"quarantine_id": "x", **known, **places})
        headers = {"authorization": f"Bearer {self.keys[name]}"} if name in self.keys else {}
        return httpx.request(method, url, json=body, headers=headers, timeout=30.0)


@pytest.fixture(scope="module")
def house(stack: LocalStack, admin: MemoryClient, agent_client: NewClient) -> House:
    clients = {name: agent_client(f"matrix-{name}") for name in AGENTS}
    admin.call("PUT", f"/v1/collections/{HOME}", {})
    for name, rights in {
        "owner": {"read": True, "write": True},
        "writer": {"read": True, "write": True},
        "revoked": {"read": True, "write": True},
        "reader": {"read": True, "write": False},
        "other_type": {"read": True, "write": True, "memory_types": ["price_alert"]},
    }.items():
        admin.call("PUT", f"/v1/collections/{HOME}/registrations/matrix-{name}", rights)
    admin.call("DELETE", f"/v1/collections/{HOME}/registrations/matrix-revoked")
    numbers = iter(range(1_000))

    def again() -> str:
        words = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥"[next(numbers)]
        made = clients["owner"].insert_memory(HOME, "user_preference", f"不吃{words}").memory_id
        clients["owner"].update_memory(HOME, made, content=f"不吃{words}味的糖")
        return made

    clients["owner"].append("matrix-session", "matrix-user", [{"role": "user", "content": "你好"}])
    keys = {name: client._http.headers["authorization"].partition(" ")[2] for name, client in clients.items()}
    keys |= {"admin": stack.admin_key, "other_tenant": _key_of_another_tenant(stack)}
    return House(stack.url, keys, again(), again)


def _key_of_another_tenant(stack: LocalStack) -> str:
    settings = Settings(database=Database(url=f"sqlite:///{stack._data_dir / 'strata.db'}"))
    runtime = Runtime(settings, clock=SystemClock(), queue=NoQueue())
    caller = Caller(tenant="another", agent_id="admin", role=AgentRole.ADMIN)
    profile = AgentProfile(tenant="another", agent_id="owner", target_id="m", open_long_memory=True)
    runtime.agents.put(caller, profile)
    key = runtime.agents.create_key(caller, "owner").secret
    runtime.close()
    return key


def test_every_route_is_decided_about() -> None:
    served = {f"{route.method} {route.path}" for route in read(TEMPLATE).routes}
    assert served == set(IN_COLLECTION) | set(ADMINISTRATION) | OF_ANOTHER | OWN | PUBLIC


def test_nobody_comes_in_without_a_key(house: House) -> None:
    for route in (*IN_COLLECTION, *ADMINISTRATION, *OF_ANOTHER, *OWN):
        assert house.ask("nobody", route, {}).status_code == 401, route


@pytest.mark.parametrize("route", IN_COLLECTION)
def test_rights_in_a_collection(house: House, route: str) -> None:
    allowed, body = IN_COLLECTION[route]
    answered = set()
    for name in EVERYBODY:
        answer = house.ask(name, route, body)
        if answer.is_success:
            answered.add(name)
            if not route.startswith("GET"):
                house.memory_id = house.again()
        else:
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), name
            assert "不吃" not in answer.text
    assert answered == allowed


def test_the_other_types_reader_is_shown_nothing_of_this_one(house: House) -> None:
    assert house.ask("other_type", "GET /v1/collections/{collection}/memories").json()["memories"] == []
    found = house.ask("other_type", "POST /v1/collections/{collection}/memories/search", {"query": "不吃"})
    assert found.json()["results"] == []


@pytest.mark.parametrize("route", ADMINISTRATION)
def test_administration_is_for_administrators(house: House, route: str) -> None:
    for name in (*AGENTS, "other_tenant"):
        answer = house.ask(name, route, ADMINISTRATION[route])
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), name


@pytest.mark.parametrize("route", sorted(OF_ANOTHER))
def test_what_belongs_to_an_agent_is_not_there_for_another(house: House, route: str) -> None:
    bodies: dict[str, object] = {
        "POST /v1/sessions/{session_id}/messages": {
            "user_id": "matrix-user",
            "messages": [{"role": "user", "content": "x"}],
        },
        "PUT /v1/sessions/{session_id}/working": {"values": {}},
        "POST /v1/context": {"session_id": "matrix-session", "user_id": "matrix-user", "message": "x"},
    }
    strangers = ["unregistered"] if "sessions" in route or "context" in route else ["unregistered", "other_tenant"]
    for name in strangers:
        answer = house.ask(name, route, bodies.get(route, {}), agent_id="matrix-owner")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), answer.text


def test_a_list_of_runs_is_ones_own(house: House) -> None:
    run = house.ask("owner", "POST /v1/sessions/{session_id}/end", {}).json()["run_id"]
    for name, seen in (("owner", True), ("unregistered", False), ("other_tenant", False), ("admin", True)):
        listed = [one["run_id"] for one in house.ask(name, "GET /v1/runs").json()["runs"]]
        assert (run in listed) is seen, name
        assert house.ask(name, "GET /v1/runs/{run_id}", run_id=run).is_success is seen
