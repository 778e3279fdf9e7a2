"""The deployed doors behind real HTTP, on one machine, with agents that have keys.

A stack for each file: there is one product to a process, and the files of other folders start theirs in between.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from strata import MemoryClient
from strata.local.stack import LocalStack

Http = httpx.Client
NewClient = Callable[..., MemoryClient]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    running = LocalStack(data_dir=Path(tmp_path_factory.mktemp("stack")), port=0)
    running.start()
    running.wait_ready()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def admin(stack: LocalStack) -> Iterator[MemoryClient]:
    with MemoryClient(stack.url, "admin", stack.admin_key, timeout_seconds=30.0) as client:
        yield client


@pytest.fixture(scope="module")
def agent_client(stack: LocalStack, admin: MemoryClient) -> Iterator[NewClient]:
    """Make an agent of a given name with its own key; the same one if it is asked for again."""
    known: dict[str, MemoryClient] = {}

    def make(agent_id: str, **profile: object) -> MemoryClient:
        if agent_id not in known:
            fields = {"target_id": "model", "long_memory_provider": "MYSQL", "open_long_memory": True, **profile}
            admin.call("PUT", f"/v1/agents/{agent_id}", fields)
            key = admin.call("POST", f"/v1/agents/{agent_id}/keys", {})["key"]
            known[agent_id] = MemoryClient(stack.url, agent_id, key, timeout_seconds=30.0, retries=0)
        return known[agent_id]

    yield make
    for client in known.values():
        client.close()


@pytest.fixture(scope="module")
def http(stack: LocalStack, agent_client: NewClient) -> Iterator[Http]:
    """Plain HTTP with an agent's key, for what the client would never send."""
    key = agent_client("prober")._http.headers["authorization"]
    with httpx.Client(base_url=stack.url, headers={"authorization": key}, timeout=30.0) as client:
        yield client


@pytest.fixture(scope="module")
def keyless(stack: LocalStack) -> Iterator[Http]:
    """Plain HTTP without a key."""
    with httpx.Client(base_url=stack.url, timeout=30.0) as client:
        yield client
