"""Names of collections at providers: no two collide, every service takes them."""

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.errors import NotFoundError, ValidationError
from strata.ports import ProviderScope
from strata.providers.scopes import checked_collection, conversation_of, cube_of, layer_of

ids = st.one_of(
    st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=128),
    st.sampled_from(
        ["a", "A", "á", "a ", "a:b", "a.b", "~a", "user", "agent:a", "shared", "strata", "🎩", "💥", "付" * 128]
    ),
)
collections = st.one_of(ids, ids.map("user:{}".format), ids.map("agent:{}".format))


@given(ids, collections, ids, collections)
def test_no_two_collections_share_a_name(tenant: str, collection: str, other_tenant: str, other: str) -> None:
    same = (tenant, collection) == (other_tenant, other)
    assert (cube_of(tenant, collection) == cube_of(other_tenant, other)) is same


@given(ids, collections)
def test_every_service_takes_the_name(tenant: str, collection: str) -> None:
    assert re.fullmatch(r"[a-z0-9_.~-]{1,100}", cube_of(tenant, collection))
    assert re.fullmatch(r"[a-z0-9_.~-]{1,100}", conversation_of(tenant, collection))


def test_ids_that_differ_little_stay_apart_even_where_case_and_accents_do_not_count() -> None:
    ids = ["Tenant-A", "tenant-a", "tenant-a ", "ténant-a", "t-🎩", "t-💥", "a:b", "a", "b", "a.b", "a/b", "a|b", "a_b"]
    names = {cube_of(tenant, f"user:{user}") for tenant, user in product(ids, ids)}
    assert len({name.casefold() for name in names}) == len(ids) ** 2


def test_a_plain_name_can_be_read() -> None:
    assert cube_of("acme", "user:alice") == "strata.user.acme.alice"
    assert cube_of("acme", "agent:chef") == "strata.agent.acme.chef"
    assert cube_of("acme", "household_001") == "strata.shared.acme.household_001"
    assert layer_of(cube_of("acme", "agent:chef")) == "agent"


def test_layers_do_not_meet() -> None:
    assert len({cube_of("t", name) for name in ("user:x", "agent:x", "x", "users:x", "User:x", "user")}) == 6


@pytest.mark.parametrize(("tenant", "collection"), [("t", "user:"), ("t", "agent:"), ("t", ""), ("", "user:x")])
def test_nameless_collections_are_refused(tenant: str, collection: str) -> None:
    with pytest.raises(ValidationError):
        cube_of(tenant, collection)


def test_a_scope_reaches_its_own_layers_and_shared_collections() -> None:
    scope = ProviderScope(tenant="t", user_id="alice", agent_id="chef")
    assert [checked_collection(scope, name) for name in ("user:alice", "agent:chef", "household")]
    for name in ("user:bob", "agent:shopper", "user:alice ", "user:Alice"):
        with pytest.raises(NotFoundError):
            checked_collection(scope, name)


def test_a_job_of_the_product_names_nobody_and_reaches_what_it_names() -> None:
    job = ProviderScope(tenant="t", user_id="", agent_id="")
    assert checked_collection(job, "user:bob") == cube_of("t", "user:bob")


def test_an_operator_may_reach_every_agent_of_the_tenant_and_still_no_other_user() -> None:
    operator = ProviderScope(tenant="t", user_id="alice", agent_id="ops")
    assert checked_collection(operator, "agent:chef", whole_tenant=True) == cube_of("t", "agent:chef")
    with pytest.raises(NotFoundError):
        checked_collection(operator, "user:bob", whole_tenant=True)


def test_no_session_has_no_name() -> None:
    assert conversation_of("t", "") == ""
