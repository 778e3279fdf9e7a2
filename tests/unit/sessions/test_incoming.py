"""What is checked and computed of a message before it is stored."""

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata import config
from strata.errors import ValidationError
from strata.model.messages import Kind, NewMessage, Role
from strata.model.sessions import SessionKey
from strata.sessions.incoming import check_request, counted, digest, refuse_unstorable, sorted_out
from strata.tokens.counter import TokenCounter

KEY = SessionKey(tenant="home", session_id="s")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


def said(content: Any = "好", **fields: Any) -> NewMessage:
    return NewMessage(**{"role": Role.USER, "content": content, **fields})


def md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def test_the_digest_is_md5_of_role_and_content() -> None:
    assert digest(said("不吃香菜")) == md5("user:不吃香菜")
    assert digest(said("不吃香菜", role=Role.ASSISTANT)) == md5("assistant:不吃香菜")
    assert digest(said("", role=Role.ASSISTANT)) == md5("assistant:")


def test_two_calls_without_text_have_two_digests() -> None:
    calls = [{"id": name, "function": {"name": "f", "arguments": "{}"}} for name in ("1", "2")]
    one, other = (digest(said(None, tool_calls=(call,))) for call in calls)
    assert one != other


def test_parts_are_digested_as_json() -> None:
    assert digest(said(({"type": "text", "text": "看"},))) == md5('user:[{"type":"text","text":"看"}]')


@given(json_values)
def test_any_json_without_nul_can_be_stored(value: object) -> None:
    refuse_unstorable(value, "metadata")


@pytest.mark.parametrize(
    "value",
    [
        "a\x00",
        {"a": ["\x00"]},
        {"\x00": 1},
        "\ud83d",
        ["\ude00"],
        {"\ud800": 1},
        float("nan"),
        float("inf"),
        b"a",
        {1, 2},
    ],
    ids=repr,
)
def test_nul_halves_of_characters_and_what_is_no_json_are_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        refuse_unstorable(value, "metadata")


def test_text_that_only_looks_like_an_escape_is_text() -> None:
    for text in ["\\u0000", "\\ud83d", "%00", "\x01\x1f"]:
        assert counted(said(text), TokenCounter()).message.content == text


def test_content_may_be_null_only_beside_calls() -> None:
    with pytest.raises(ValidationError):
        counted(said(None), TokenCounter())
    assert counted(said(None, tool_calls=({"id": "1"},)), TokenCounter()).tokens > 0
    assert counted(said(""), TokenCounter()).tokens > 0


def test_a_sub_agents_session_keeps_chat_only() -> None:
    mixed = [said("a"), said("b", kind=Kind.TOOL), said("c", kind=Kind.EVENT), said("d", role=Role.TOOL)]
    kept, skipped = sorted_out(SessionKey(tenant="home", session_id="agent:buyer"), mixed)
    assert [message.content for message in kept] == ["a", "d"]
    assert [one.index for one in skipped] == [1, 2]
    assert sorted_out(KEY, mixed) == (tuple(mixed), ())
    assert sorted_out(SessionKey(tenant="home", session_id="Agent:buyer"), mixed)[1] == ()


def test_a_request_has_messages_and_names_that_can_be_stored() -> None:
    settings = config.Session(max_messages_per_append=3)
    check_request(KEY, "ann", [said()] * 3, settings)
    for key, user, number in [(KEY, "ann", 0), (KEY, "ann", 4), (KEY, "", 1), (KEY, "a\nb", 1)]:
        with pytest.raises(ValidationError):
            check_request(key, user, [said()] * number, settings)
    with pytest.raises(ValidationError):
        check_request(SessionKey(tenant="home", session_id="é" * 129), "ann", [said()], settings)
