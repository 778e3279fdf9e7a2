"""Agents and their keys: shown once, stored hashed, gone soon after they are revoked."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from strata import config
from strata.clock import FakeClock
from strata.errors import AuthenticationError, ForbiddenError, NotFoundError, ValidationError
from strata.model.agents import AgentProfile, AgentRole, Caller, ProviderName
from strata.sharing.agents import Authenticator
from strata.storage.engine import open_database
from strata.storage.schema import migrate
from strata.storage.tables import api_keys
from tests.fakes.library import Shelf

BOOTSTRAP = "sk_bootstrap_only_for_the_first_minutes"


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    clock = FakeClock()
    database = open_database(config.Database(url=f"sqlite:///{tmp_path / 'strata.db'}"), clock)
    migrate(database)
    shelf = Shelf(database, clock, "t")
    shelf.agents.put(shelf.admin_caller, AgentProfile(tenant="ignored", agent_id="shopper"))
    yield shelf
    database.close()


@pytest.fixture
def authenticate(shelf: Shelf) -> Authenticator:
    settings = config.Auth(bootstrap_admin_key=BOOTSTRAP, default_tenant="t")
    return Authenticator(shelf.agent_store, shelf.clock, settings)


def test_a_profile_is_of_the_callers_tenant(shelf: Shelf) -> None:
    profile = AgentProfile(
        tenant="other", agent_id="coach", target_id="model-1", open_long_memory=True, context_rounds=3,
        long_memory_provider=ProviderName.MYSQL, role=AgentRole.ADMIN, display_name="烹饪教练",
    )  # fmt: skip
    assert shelf.agents.put(shelf.admin_caller, profile) == replace(profile, tenant="t")
    assert shelf.agents.get(shelf.admin_caller, "coach") == replace(profile, tenant="t")
    changed = shelf.agents.put(shelf.admin_caller, replace(profile, display_name="教练"))
    assert shelf.agents.page(shelf.admin_caller, limit=10) == [changed, shelf.agent_store.get("t", "shopper")]


def test_a_key_proves_its_agent(shelf: Shelf, authenticate: Authenticator) -> None:
    new = shelf.agents.create_key(shelf.admin_caller, "shopper")
    caller = authenticate(new.secret, request_id="q1")
    expected = Caller(tenant="t", agent_id="shopper", role=AgentRole.AGENT, key_id=new.key.key_id, request_id="q1")
    assert caller == expected


def test_a_secret_is_stored_nowhere(shelf: Shelf) -> None:
    new = shelf.agents.create_key(shelf.admin_caller, "shopper")
    with shelf.database.engine.connect() as connection:
        rows = [str(tuple(row)) for row in connection.execute(select(api_keys))]
    secret = new.secret.rpartition(f"{new.key.key_id}_")[2]
    assert rows
    assert not any(secret in row for row in rows)
    assert not any(secret in str(event.detail) for event in shelf.events.after("t", 0, limit=100))


@pytest.mark.parametrize("spoil", ["", "x", "sk_", "Bearer", "\ud800", "💥"])
def test_a_wrong_key_proves_nothing(authenticate: Authenticator, spoil: str) -> None:
    with pytest.raises(AuthenticationError):
        authenticate(spoil)


def test_a_right_id_with_a_wrong_secret_proves_nothing(shelf: Shelf, authenticate: Authenticator) -> None:
    new = shelf.agents.create_key(shelf.admin_caller, "shopper")
    last = "A" if new.secret[-1] != "A" else "B"
    with pytest.raises(AuthenticationError):
        authenticate(new.secret[:-1] + last)


def test_a_revoked_key_is_trusted_no_longer_than_half_a_minute(shelf: Shelf, authenticate: Authenticator) -> None:
    new = shelf.agents.create_key(shelf.admin_caller, "shopper")
    authenticate(new.secret)
    shelf.clock.advance(10)
    authenticate(new.secret)  # using a key does not make its trust longer
    shelf.agents.revoke_key(shelf.admin_caller, "shopper", new.key.key_id)
    shelf.clock.advance(config.Auth().cache_seconds - 10)
    with pytest.raises(AuthenticationError):
        authenticate(new.secret)
    assert config.Auth.model_fields["cache_seconds"].metadata[1].le <= 30


def test_rotation_gives_a_new_key_and_ends_the_old_one(shelf: Shelf, authenticate: Authenticator) -> None:
    old = shelf.agents.create_key(shelf.admin_caller, "shopper")
    before = shelf.kinds()
    new = shelf.agents.rotate_key(shelf.admin_caller, "shopper", old.key.key_id)
    assert shelf.kinds() == [*before, "key.rotated"]
    (told,) = shelf.events.page("t", limit=1)
    assert (told.detail["key_id"], told.detail["replaces"]) == (new.key.key_id, old.key.key_id)
    assert authenticate(new.secret).agent_id == "shopper"
    with pytest.raises(AuthenticationError):
        authenticate(old.secret)
    with pytest.raises(NotFoundError):
        shelf.agents.rotate_key(shelf.admin_caller, "shopper", old.key.key_id)
    states = [key.revoked_at is None for key in shelf.agents.keys(shelf.admin_caller, "shopper")]
    assert sorted(states) == [False, True]


def test_two_rotations_of_one_key_at_once_make_one_key(shelf: Shelf) -> None:
    old = shelf.agents.create_key(shelf.admin_caller, "shopper").key
    before = shelf.kinds()
    rivals = [replace(old, key_id=f"new-{number}", secret_hash="0" * 64) for number in range(2)]
    shelf.agent_store.add_key(rivals[0], replaces=old.key_id)
    with pytest.raises(NotFoundError):
        shelf.agent_store.add_key(rivals[1], replaces=old.key_id)
    with pytest.raises(NotFoundError):
        shelf.agent_store.add_key(replace(rivals[1], agent_id="coach"), replaces="new-0")
    live = [key.key_id for key in shelf.agent_store.keys("t", "shopper") if key.revoked_at is None]
    assert (live, shelf.kinds()) == (["new-0"], [*before, "key.rotated"])


def test_the_bootstrap_key_works_until_there_is_an_administrator(shelf: Shelf, authenticate: Authenticator) -> None:
    first = authenticate(BOOTSTRAP)
    assert (first.tenant, first.is_admin) == ("t", True)
    shelf.agents.put(first, AgentProfile(tenant="t", agent_id="root", role=AgentRole.ADMIN))
    root = shelf.agents.create_key(first, "root")
    assert authenticate(root.secret).is_admin
    shelf.clock.advance(config.Auth().cache_seconds)
    with pytest.raises(AuthenticationError):
        authenticate(BOOTSTRAP)


def test_an_empty_bootstrap_key_opens_nothing(shelf: Shelf) -> None:
    with pytest.raises(AuthenticationError):
        Authenticator(shelf.agent_store, shelf.clock, config.Auth())("")


def test_agents_do_not_administer(shelf: Shelf) -> None:
    agent = replace(shelf.admin_caller, role=AgentRole.AGENT, agent_id="shopper")
    for call in (
        lambda: shelf.agents.put(agent, AgentProfile(tenant="t", agent_id="x")),
        lambda: shelf.agents.create_key(agent, "shopper"),
        lambda: shelf.agents.revoke_key(agent, "shopper", "k"),
        lambda: shelf.agents.keys(agent, "shopper"),
        lambda: shelf.agents.page(agent, limit=1),
        lambda: shelf.agents.create_key(shelf.admin_caller, "shopper", role=AgentRole.ADMIN),
    ):
        with pytest.raises(ForbiddenError):
            call()
    assert shelf.agents.get(agent, "shopper").agent_id == "shopper"
    with pytest.raises(NotFoundError):
        shelf.agents.get(replace(agent, agent_id="coach"), "shopper")


@pytest.mark.parametrize("agent_id", ["", "a\x00", "x" * 129, "system:purge"])
def test_an_agents_id_is_an_id(shelf: Shelf, agent_id: str) -> None:
    with pytest.raises(ValidationError):
        shelf.agents.put(shelf.admin_caller, AgentProfile(tenant="t", agent_id=agent_id))


def test_every_change_leaves_one_event(shelf: Shelf) -> None:
    new = shelf.agents.create_key(shelf.admin_caller, "shopper")
    shelf.agents.revoke_key(shelf.admin_caller, "shopper", new.key.key_id)
    shelf.agents.revoke_key(shelf.admin_caller, "shopper", new.key.key_id)
    assert shelf.kinds() == ["agent.put", "key.created", "key.revoked"]
    assert {event.actor for event in shelf.events.after("t", 0, limit=10)} == {"admin"}
