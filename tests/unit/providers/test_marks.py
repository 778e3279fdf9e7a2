"""What is written beside a memory comes back as the memory, whatever a service does to it on the way."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.model.agents import ProviderName
from strata.model.memories import AccessPolicy, Memory, MemoryStatus
from strata.ports import MemoryDraft, ProviderScope
from strata.providers.items import UNKNOWN_AGE, Item, instant, number
from strata.providers.marks import belongs, marks_of, memory_of, tag_mark

NOW = datetime(2026, 3, 10, 8, 0, tzinfo=UTC)
SCOPE = ProviderScope(tenant="t", user_id="alice", agent_id="chef", session_id="s1")

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
instants = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
drafts = st.builds(
    MemoryDraft,
    memory_id=texts,
    collection=st.sampled_from(["user:alice", "agent:chef", "household_001"]),
    memory_type=st.sampled_from(["user_preference", "task_experience", "my_type"]),
    content=texts.map(str.strip).filter(bool),
    fingerprint=st.just("f"),
    metadata=st.dictionaries(texts, st.one_of(texts, st.integers(), st.lists(texts)), max_size=3),
    policy=st.builds(AccessPolicy, read_agents=st.none() | st.lists(texts, max_size=3).map(tuple)),
    ttl_seconds=st.integers(0, 10**8),
    standing=st.booleans(),
    safety=st.booleans(),
    importance=st.integers(1, 10),
    said_at=instants,
    expires_at=st.none() | instants,
    superseded_by=st.none() | texts,
    user_id=st.just("alice"),
    confidence=st.floats(0, 1),
)
NAMES = [
    f"strata_{name}"
    for name in "id type agent user said_at expires_at ttl_seconds importance confidence standing safety fingerprint "
    "run superseded_by read_agents write_agents metadata".split()
]


def item(marks: dict[str, Any], text: str = "user: [10:00]: rewritten", **changes: Any) -> Item:
    return Item(external_id="x-1", cube="cube", text=text, marks=marks, created_at=NOW, **changes)


def read(entry: Item, collection: str = "user:alice") -> Memory:
    return memory_of(entry, ProviderName.MEMOS, "t", collection)


@given(drafts)
def test_a_memory_comes_back_as_it_was_written(draft: MemoryDraft) -> None:
    through = json.loads(json.dumps(marks_of(SCOPE, draft), ensure_ascii=False))
    memory = read(item(through), draft.collection)
    for name in ("memory_id", "memory_type", "content", "ttl_seconds", "standing", "safety", "importance", "said_at"):
        assert getattr(memory, name) == getattr(draft, name), name
    assert memory.expires_at == draft.expires_at
    assert memory.superseded_by == draft.superseded_by
    assert memory.policy == draft.policy
    assert memory.confidence == pytest.approx(draft.confidence)
    assert {key: memory.metadata[key] for key in draft.metadata} == dict(draft.metadata)
    assert memory.agent_id == "chef"


@given(drafts)
def test_marks_are_flat_plain_and_not_reserved(draft: MemoryDraft) -> None:
    marks = marks_of(SCOPE, draft)
    assert {type(value) for value in marks.values()} <= {str, int, float}
    assert all(name.startswith("strata_") and name.isascii() and name.replace("_", "").isalnum() for name in marks)


@given(drafts)
def test_flattened_to_text_it_is_still_the_memory(draft: MemoryDraft) -> None:
    memory = read(item({name: str(value) for name, value in marks_of(SCOPE, draft).items()}), draft.collection)
    assert (memory.standing, memory.safety, memory.importance) == (draft.standing, draft.safety, draft.importance)
    assert memory.expires_at == draft.expires_at


@given(st.dictionaries(st.sampled_from(NAMES), st.none() | st.integers() | texts | st.lists(st.none()), min_size=1))
def test_marks_that_make_no_sense_break_nothing(marks: dict[str, Any]) -> None:
    assert read(item(marks, "tea")).content


def test_the_words_that_were_judged_are_the_words_delivered() -> None:
    marks = {"strata_content": "Likes tea"}
    assert read(item(marks, "The user plans to visit Paris on 2025-05-26")).content == "Likes tea"
    assert (
        read(item(marks, "Likes tea, and coffee since May", rewritten=True)).content
        == "Likes tea, and coffee since May"
    )


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("user: [08:22 AM on 30 November, 2026]: I ride a bicycle\n", "I ride a bicycle"),
        ("user: I ride a bicycle", "I ride a bicycle"),
        ("assistant: [2026-01-02 10:00]: 好的", "好的"),
        ("note to self: [x] buy milk", "note to self: [x] buy milk"),
        ("user:", ""),
    ],
)
def test_role_and_time_are_no_part_of_a_memory_of_others(raw: str, clean: str) -> None:
    assert read(item({}, raw)).content == clean


def test_entries_of_others_get_the_type_of_their_place() -> None:
    assert read(item({})).memory_type == "user_preference"
    assert read(item({}), "household").memory_type == "user_preference"
    assert read(item({}), "agent:chef").memory_type == "task_experience"
    assert read(item({}, preference=True), "agent:chef").memory_type == "user_preference"
    assert read(item({})).memory_id == "x-1"


def test_an_agents_layer_names_no_user() -> None:
    draft = MemoryDraft(
        memory_id="m", collection="agent:chef", memory_type="task_experience", content="Soak beans", fingerprint="f",
        said_at=NOW, user_id="alice",
    )  # fmt: skip
    marks = marks_of(SCOPE, draft)
    assert "alice" not in json.dumps(marks)
    assert "s1" not in marks.values()


def test_an_allow_list_that_cannot_be_read_allows_nobody() -> None:
    assert read(item({"strata_read_agents": "[broken"})).policy.read_agents == ()
    assert read(item({"strata_read_agents": '["chef"]'})).policy.read_agents == ("chef",)
    assert read(item({})).policy.read_agents is None


def test_an_entry_that_says_it_belongs_elsewhere_does_not_belong() -> None:
    assert belongs(item({}), "t", "user:alice")
    assert belongs(item({"strata_tenant": "t", "strata_collection": "user:alice"}), "t", "user:alice")
    assert not belongs(item({"strata_tenant": "other"}), "t", "user:alice")
    assert not belongs(item({"strata_collection": "user:bob"}), "t", "user:alice")


def test_superseded_and_expired_are_not_live() -> None:
    assert read(item({"strata_superseded_by": "m-2"})).status is MemoryStatus.SUPERSEDED
    assert not read(item({"strata_expires_at": NOW.isoformat()})).is_live(NOW)
    assert read(item({"strata_expires_at": (NOW + timedelta(seconds=1)).isoformat()})).is_live(NOW)


def test_a_temporary_id_is_not_told() -> None:
    assert read(item({"strata_id": "m"}, provisional=True)).metadata == {"provider": "MEMOS", "provisional": True}
    assert read(item({"strata_id": "m"})).metadata == {"provider": "MEMOS", "external_id": "x-1"}


@given(texts, texts)
def test_tag_names_are_plain_and_stay_apart(one: str, other: str) -> None:
    assert (tag_mark(one) == tag_mark(other)) is (one == other)
    assert tag_mark(one).isascii()
    assert tag_mark(one).replace("_", "").isalnum()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-04-16T18:22:03.442726000+00:00", datetime(2026, 4, 16, 18, 22, 3, 442726, tzinfo=UTC)),
        ("2026-04-16T18:22:03Z", datetime(2026, 4, 16, 18, 22, 3, tzinfo=UTC)),
        ("2026-04-16 20:22:03+02:00", datetime(2026, 4, 16, 18, 22, 3, tzinfo=UTC)),
        ("2026-04-16T18:22:03", datetime(2026, 4, 16, 18, 22, 3, tzinfo=UTC)),
        (1765359875901, datetime(2025, 12, 10, 9, 44, 35, 901000, tzinfo=UTC)),
        ("1765359875901", datetime(2025, 12, 10, 9, 44, 35, 901000, tzinfo=UTC)),
        (1765359875, datetime(2025, 12, 10, 9, 44, 35, tzinfo=UTC)),
        ("yesterday", None), ("", None), (None, None), (True, None), (float("nan"), None), (1e300, None), ([], None),
    ],
)  # fmt: skip
def test_times_of_every_spelling(value: object, expected: datetime | None) -> None:
    assert instant(value) == expected


def test_an_unknown_age_is_old() -> None:
    assert memory_of(
        Item(external_id="x", cube="c", text="tea"), ProviderName.MEM0, "t", "user:alice"
    ).said_at == UNKNOWN_AGE  # fmt: skip


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, 0.5),
        ("0.5", 0.5),
        (1, 1.0),
        (float("inf"), None),
        ("nan", None),
        (True, None),
        ("x", None),
        (None, None),
        (10**400, None),
    ],
)
def test_numbers_of_every_spelling(value: object, expected: float | None) -> None:
    assert number(value) == expected
