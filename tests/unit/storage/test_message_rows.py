"""What is written of a message: mere text takes a short way to the same bytes."""

import json
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from strata.model.messages import Kind, NewMessage, Role
from strata.storage import message_rows

NOW = datetime(2026, 3, 10, 8, 0, 0, 123456, tzinfo=UTC)
text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
plain = st.builds(
    NewMessage,
    role=st.sampled_from(Role),
    kind=st.sampled_from(Kind),
    content=text,
    said_at=st.none() | st.datetimes(timezones=st.just(UTC)),
)


@given(plain)
def test_mere_text_is_written_and_told_apart_like_any_message(new: NewMessage) -> None:
    fields = message_rows._fields(new)
    assert fields == {"content": new.content}
    said_at = new.said_at.timestamp() if new.said_at else None
    canonical = message_rows._canonical([new.role.value, new.kind.value, said_at, fields])
    assert message_rows._told(new) == (message_rows._compact(fields), canonical)


@given(plain, text)
def test_whatever_is_added_to_a_text_makes_it_another_message(new: NewMessage, more: str) -> None:
    body, asked = message_rows._told(new)
    for other in (
        replace(new, name=more or "n"),
        replace(new, metadata={more: more}),
        replace(new, tool_calls=({"id": more},)),
        replace(new, content=f"{new.content}{more}."),
        replace(new, content=None, tool_calls=({"id": more},)),
    ):
        other_body, other_asked = message_rows._told(other)
        assert (other_body, other_asked) != (body, asked)
        assert json.loads(other_body)
