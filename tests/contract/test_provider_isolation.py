"""Two hundred users and twenty agents at every external provider: nobody is told what is another's."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from strata.clock import FakeClock
from strata.ports import Access, MemoryDraft, ProviderQuery, ProviderScope
from tests.contract.test_provider_faults import BEHAVIOURS
from tests.doubles.open import KINDS, opened

USERS = [f"user {number}" if number % 3 else f"User-{number}" for number in range(200)]
AGENTS = [f"agent-{number}" for number in range(20)]
TENANTS = ("acme", "Acme")
LOADS = 400


def owner_of(content: str) -> str:
    return content.partition("|")[0]


@pytest.mark.parametrize("kind", KINDS)
def test_no_load_of_anybody_shows_a_memory_of_somebody_else(kind: str) -> None:
    clock, chosen = FakeClock(), random.Random(7)
    with opened(kind, clock, BEHAVIOURS[kind].at_random(7), write_timeout_seconds=60.0) as it:
        access = Access(tenant="acme", agent_id="")

        def store(tenant: str, collection: str, agent: str) -> None:
            user = collection.removeprefix("user:") if collection.startswith("user:") else ""
            scope = ProviderScope(tenant=tenant, user_id=user, agent_id=agent)
            owner = f"{tenant} {collection}"
            draft = MemoryDraft(
                memory_id=f"m-{tenant}-{collection}",
                collection=collection,
                memory_type="user_preference",
                content=f"{owner}| likes green tea in the evening",
                fingerprint=owner,
                said_at=clock.now(),
            )
            it.provider.add(scope, draft, now=clock.now())

        def load(tenant: str, user: str, agent: str) -> tuple[set[str], set[str]]:
            scope = ProviderScope(tenant=tenant, user_id=user, agent_id=agent)
            collections = (f"user:{user}", f"agent:{agent}")
            query = ProviderQuery(
                scope=scope, access=access, text="who likes green tea in the evening", collections=collections,
                deadline_seconds=60.0,
            )  # fmt: skip
            found = {hit.memory.memory_id for hit in it.provider.search(query).hits}
            return found, {f"m-{tenant}-{name}" for name in collections}

        everything = [(TENANTS[number % 2], f"user:{user}", AGENTS[number % 20]) for number, user in enumerate(USERS)]
        everything += [(tenant, f"agent:{agent}", agent) for tenant in TENANTS for agent in AGENTS]
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda one: store(*one), everything))
            clock.advance(10)
            loads = [(chosen.choice(TENANTS), chosen.choice(USERS), chosen.choice(AGENTS)) for _ in range(LOADS)]
            outcomes = list(threads.map(lambda one: load(*one), loads))
        assert all(found <= own for found, own in outcomes)
        assert sum(len(found) for found, _ in outcomes) > LOADS  # the searches did find what is one's own
