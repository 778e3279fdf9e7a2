"""Two hundred users and twenty agents at every provider, side by side: nobody is told what is another's."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from strata.clock import FakeClock
from strata.ports import Access, MemoryDraft, Provider, ProviderQuery, ProviderScope
from tests.contract.providers import native_provider
from tests.contract.test_provider_faults import BEHAVIOURS
from tests.doubles import open as doubles

USERS = [f"user {number}" if number % 3 else f"User-{number}" for number in range(200)]
AGENTS = [f"agent-{number}" for number in range(20)]
TENANTS = ("acme", "Acme")
LOADS = 400
SEED = 7


@contextmanager
def provider_of(kind: str, clock: FakeClock) -> Iterator[Provider]:
    """A provider of a kind; the external ones with a service of odd habits."""
    if kind == "native":
        yield native_provider(clock)
        return
    with doubles.opened(kind, clock, BEHAVIOURS[kind].at_random(SEED), write_timeout_seconds=60.0) as opened:
        yield opened.provider


def store(provider: Provider, clock: FakeClock, tenant: str, collection: str, agent: str) -> None:
    layer, _, owner = collection.partition(":")
    draft = MemoryDraft(
        memory_id=f"m-{tenant}-{collection}",
        collection=collection,
        memory_type="user_preference",
        content=f"{tenant} {collection} likes green tea in the evening",
        fingerprint=f"{tenant} {collection}",
        said_at=clock.now(),
    )
    scope = ProviderScope(tenant=tenant, user_id=owner if layer == "user" else "", agent_id=agent)
    provider.add(scope, draft, now=clock.now())


def found(provider: Provider, tenant: str, user: str, agent: str) -> set[str]:
    """The ids that one context load of an agent for a user is given."""
    query = ProviderQuery(
        scope=ProviderScope(tenant=tenant, user_id=user, agent_id=agent),
        access=Access(tenant=tenant, agent_id=agent),
        text="who likes green tea in the evening",
        collections=(f"user:{user}", f"agent:{agent}"),
        deadline_seconds=60.0,
    )
    return {hit.memory.memory_id for hit in provider.search(query).hits}


@pytest.mark.parametrize("kind", ["native", *doubles.KINDS])
def test_no_load_of_anybody_shows_a_memory_of_somebody_else(kind: str) -> None:
    clock, chosen = FakeClock(), random.Random(SEED)
    stored = [(TENANTS[number % 2], f"user:{user}", AGENTS[number % 20]) for number, user in enumerate(USERS)]
    stored += [(tenant, f"agent:{agent}", agent) for tenant in TENANTS for agent in AGENTS]
    loads = [(chosen.choice(TENANTS), chosen.choice(USERS), chosen.choice(AGENTS)) for _ in range(LOADS)]
    with provider_of(kind, clock) as provider, ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda one: store(provider, clock, *one), stored))
        clock.advance(10)
        outcomes = list(threads.map(lambda one: found(provider, *one), loads))
    for (tenant, user, agent), ids in zip(loads, outcomes, strict=True):
        assert ids <= {f"m-{tenant}-user:{user}", f"m-{tenant}-agent:{agent}"}
    assert sum(map(len, outcomes)) > LOADS  # what is one's own was found
