"""The pure rules of the library: names, lives, keys, rights, and which change wins."""

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from uuid import RFC_4122, UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.errors import ValidationError, VersionConflictError
from strata.model.memories import ChangeKind, Collection, CollectionKind, ConflictPolicy, Registration
from strata.policy import keys
from strata.policy.access import default_collection, effective, exceeds
from strata.policy.names import (
    CHANCE_BITS,
    checked_collection,
    checked_id,
    checked_text,
    checked_type_name,
    derived_id,
    joined_key,
    timed_id,
)
from strata.policy.retention import MAX_TTL_SECONDS, checked_instant, checked_ttl, expiry
from strata.policy.versions import is_conflict

NOW = datetime(2026, 3, 10, 8, tzinfo=UTC)
HOME = Collection(tenant="t", name="home", kind=CollectionKind.SHARED)
ids = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=128)


# --- names


@given(ids)
def test_any_utf8_is_an_id(text: str) -> None:
    assert checked_id(text, "user_id") == text


@pytest.mark.parametrize("value", ["", "a" * 129, "a\x00b", "a\nb", "a\x7f", "\x9f", "\ud800", None, 3, b"a"])
def test_what_is_no_id_is_refused_without_being_repeated(value: object) -> None:
    with pytest.raises(ValidationError) as refused:
        checked_id(value, "user_id")
    assert "user_id" in refused.value.message


def test_a_personal_layer_takes_a_whole_id_behind_its_prefix() -> None:
    longest = "💥" * 128
    assert checked_collection(f"user:{longest}") == f"user:{longest}"
    for name in ("user:", "agent:" + "a" * 129, "a" * 129):
        with pytest.raises(ValidationError):
            checked_collection(name)


@pytest.mark.parametrize("name", ["", "Price", "1x", "a-b", "a" * 42, "a;drop", "价格", "a\n"])
def test_a_type_name_can_be_part_of_a_table_name(name: str) -> None:
    with pytest.raises(ValidationError):
        checked_type_name(name)
    assert checked_type_name("a" * 41) == "a" * 41


@pytest.mark.parametrize("text", ["a\x00", "\udfff", "x" * 11])
def test_a_text_no_store_would_keep_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        checked_text(text, "content", limit=10)


@given(st.lists(ids, min_size=2, max_size=2), st.lists(ids, min_size=2, max_size=2))
def test_joined_keys_never_collide(one: list[str], other: list[str]) -> None:
    assert (joined_key(*one) == joined_key(*other)) is (one == other)
    assert (derived_id(*one) == derived_id(*other)) is (one == other)


def test_a_separator_inside_an_id_joins_to_another_key() -> None:
    assert joined_key("a:b", "c") != joined_key("a", "b:c")


@given(st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(9_999, 12, 30)))  # noqa: DTZ001 (zone follows)
def test_a_new_id_is_a_uuid_that_sorts_by_time(naive: datetime) -> None:
    now = naive.replace(tzinfo=UTC)
    name, later = timed_id(now, 0), timed_id(now + timedelta(milliseconds=1), 2**CHANCE_BITS - 1)
    made = UUID(name)
    assert (made.version, made.variant, made.hex) == (7, RFC_4122, name)
    assert abs(made.int // 2**80 - now.timestamp() * 1_000) <= 1
    assert name[:12] <= later[:12]


@given(st.integers(0, 2**CHANCE_BITS - 1), st.integers(0, 2**CHANCE_BITS - 1))
def test_ids_of_one_moment_differ_as_chance_does(one: int, other: int) -> None:
    assert (timed_id(NOW, one) == timed_id(NOW, other)) is (one == other)
    assert UUID(timed_id(NOW, one)).variant == RFC_4122


def test_ids_and_texts_refuse_the_same_characters_as_ever() -> None:
    for code in range(0x11000):
        is_control = unicodedata.category(chr(code)) in {"Cc", "Cs"}
        assert _is_refused(checked_id, chr(code)) is is_control, code
        assert _is_refused(lambda text, field: checked_text(text, field, limit=9), chr(code)) is (
            code == 0 or 0xD800 <= code <= 0xDFFF
        ), code


def _is_refused(check: Callable[[str, str], str], text: str) -> bool:
    try:
        check(text, "field")
    except ValidationError:
        return True
    return False


# --- lives


@pytest.mark.parametrize("ttl", [-1, None, "3600", "7d", True, False, 1.5, 1e12, MAX_TTL_SECONDS + 1])
def test_only_whole_seconds_up_to_a_century_are_a_life(ttl: object) -> None:
    with pytest.raises(ValidationError):
        checked_ttl(ttl)


@given(st.integers(0, MAX_TTL_SECONDS))
def test_a_life_ends_exactly_its_seconds_later(ttl: int) -> None:
    ends = expiry(checked_ttl(ttl), NOW)
    assert ends == (NOW + timedelta(seconds=ttl) if ttl else None)


def test_days_are_86400_seconds_across_daylight_saving() -> None:
    eastern = timezone(timedelta(hours=-5))
    stored = datetime(2026, 3, 7, 7, tzinfo=eastern)
    assert expiry(86_400, stored) == datetime(2026, 3, 8, 12, tzinfo=UTC)


def test_an_offset_names_an_instant() -> None:
    assert checked_instant("2026-03-10T08:00:00+08:00", "expires_at") == datetime(2026, 3, 10, tzinfo=UTC)
    assert checked_instant("2026-03-10T00:00:00Z", "expires_at") == datetime(2026, 3, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    ["2026-03-10", "2026-03-10T08:00:00", "soon", "", 5, datetime(2026, 3, 10), "9999-12-31T23:59:59-14:00"],  # noqa: DTZ001
)
def test_what_names_no_instant_is_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        checked_instant(value, "expires_at")


# --- keys


def test_a_key_is_shown_parsed_and_compared() -> None:
    secret = "s_-" + "x" * 40
    shown = keys.rendered("0123456789abcdef", secret)
    halves = keys.parsed(shown)
    assert halves == ("0123456789abcdef", secret)
    assert keys.fits(secret, keys.hashed(secret))
    assert not keys.fits(secret[:-1] + "y", keys.hashed(secret))
    assert secret not in keys.hashed(secret)


@pytest.mark.parametrize(
    "text", ["", "sk_", "sk_abc_def", "pk_0123456789abcdef_" + "x" * 43, "sk_01234567_" + "é" * 43]
)
def test_what_is_no_key_is_none(text: str) -> None:
    assert keys.parsed(text) is None


def test_secrets_of_other_lengths_and_alphabets_are_compared() -> None:
    assert keys.same("ключ", "ключ")
    assert not keys.same("ключ", "key")


# --- rights


def registration(**more: object) -> Registration:
    values = {"tenant": "t", "collection": "home", "agent_id": "a", "read": True, "write": True}
    return Registration(**{**values, **more})  # type: ignore[arg-type]


def test_what_exceeds_the_policy_is_refused_as_a_whole() -> None:
    assert not exceeds(registration(), HOME)
    readers = replace(HOME, read_agents=("a",), write_agents=("b",), memory_types=("price_alert",))
    assert exceeds(registration(), readers)
    assert not exceeds(registration(write=False), readers)
    assert exceeds(registration(write=False, memory_types=("user_preference",)), readers)


def test_a_right_is_cut_to_the_present_policy() -> None:
    narrowed = replace(HOME, write_agents=(), memory_types=("price_alert", "shopping_list"))
    held = effective(registration(memory_types=("price_alert", "episode")), narrowed, "a", NOW)
    assert (held.read, held.write, held.memory_types) == (True, False, ("price_alert",))


@pytest.mark.parametrize("ended", [{"revoked_at": NOW}, {"expires_at": NOW}, {"expires_at": NOW - timedelta(days=1)}])
def test_an_ended_right_is_none(ended: dict[str, datetime]) -> None:
    held = effective(registration(**ended), HOME, "a", NOW)
    assert (held.read, held.write) == (False, False)


@pytest.mark.parametrize(
    ("name", "agent", "expected"),
    [("user:u", "a", True), ("agent:a", "a", True), ("agent:a", "b", False), ("home", "a", False)],
)
def test_personal_layers_need_no_registration(name: str, agent: str, expected: bool) -> None:
    collection = default_collection("t", name) or HOME
    held = effective(None, collection, agent, NOW)
    assert (held.read, held.write) == (expected, expected)


def test_an_agents_layer_lets_in_nobody_else() -> None:
    layer = Collection(tenant="t", name="agent:a", kind=CollectionKind.AGENT)
    assert exceeds(registration(collection="agent:a", agent_id="b"), layer)
    held = effective(registration(collection="agent:a", agent_id="b"), layer, "b", NOW)
    assert (held.read, held.write) == (False, False)


def test_a_registration_takes_the_place_of_the_default() -> None:
    layer = Collection(tenant="t", name="user:u", kind=CollectionKind.USER)
    held = effective(registration(collection="user:u", write=False), layer, "a", NOW)
    assert (held.read, held.write) == (True, False)


# --- versions


@pytest.mark.parametrize(
    ("expected", "policy", "conflict"),
    [
        (3, ConflictPolicy.LAST_WRITER_WINS, False),
        (2, ConflictPolicy.LAST_WRITER_WINS, True),
        (None, ConflictPolicy.LAST_WRITER_WINS, False),
        (3, ConflictPolicy.REJECT, False),
    ],
)
def test_an_outdated_change_is_marked(expected: int | None, policy: ConflictPolicy, conflict: bool) -> None:
    assert is_conflict(ChangeKind.UPDATE, present=3, expected=expected, policy=policy) is conflict


@pytest.mark.parametrize("expected", [2, 4, None])
def test_an_outdated_or_blind_rewrite_is_rejected_where_the_collection_says_so(expected: int | None) -> None:
    with pytest.raises(VersionConflictError) as refused:
        is_conflict(ChangeKind.UPDATE, present=3, expected=expected, policy=ConflictPolicy.REJECT)
    assert refused.value.fields == {"present_version": 3, "expected_version": expected}


def test_what_acts_on_a_memory_as_it_is_needs_no_version() -> None:
    assert not is_conflict(ChangeKind.DELETE, present=3, expected=None, policy=ConflictPolicy.REJECT)
