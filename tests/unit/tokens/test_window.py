"""The window: what stays, what leaves, and what is cut."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.model.messages import Kind, Message, Role
from strata.model.sessions import Summary, Window
from strata.tokens.counter import TokenCounter
from strata.tokens.window import MARK, select

NOW = datetime(2026, 3, 10, tzinfo=UTC)
COUNTER = TokenCounter()
SUMMARY = Summary(text="用户在问库存。", tokens=COUNTER.count("用户在问库存。"), upto_seq=4, created_at=NOW)


def message(seq: int, role: Role, content: Any = "", **fields: Any) -> Message:
    made = Message(
        seq=seq, role=role, content=content, kind=Kind.CHAT, message_id=f"m{seq}", agent_id="a", tokens=0,
        digest="", created_at=NOW, said_at=NOW, **fields,
    )  # fmt: skip
    return replace(made, tokens=COUNTER.count_message(made))


def call(seq: int, *ids: str) -> Message:
    calls = tuple({"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids)
    return message(seq, Role.ASSISTANT, None, tool_calls=calls)


def result(seq: int, call_id: str, text: str = "42 件") -> Message:
    return message(seq, Role.TOOL, text, tool_call_id=call_id)


def window(messages: list[Message], max_tokens: int, summary: Summary | None = None, reserve: int = 2_000) -> Window:
    return select(messages, max_tokens=max_tokens, summary=summary, summary_budget=reserve, counter=COUNTER)


STOCK = [
    message(1, Role.USER, "查库存"),
    call(2, "c1"),
    result(3, "c1"),
    message(4, Role.ASSISTANT, "还有 42 件"),
    message(5, Role.USER, "那就下单"),
]


def assert_results_have_their_calls(chosen: Window) -> None:
    made: set[str] = set()
    for one in chosen.messages:
        assert one.role is not Role.TOOL or one.tool_call_id in made
        made |= {made_call["id"] for made_call in one.tool_calls}


def assert_calls_have_their_results(chosen: Window) -> None:
    """But those that nothing but results follows: they may still be answered."""
    answered: set[str | None] = set()
    has_gone_on = False
    for one in reversed(chosen.messages):
        answered.add(one.tool_call_id)
        assert not has_gone_on or {made_call["id"] for made_call in one.tool_calls} <= answered
        has_gone_on = has_gone_on or one.role is not Role.TOOL


def test_all_that_fits_is_returned_as_it_is() -> None:
    chosen = window(STOCK, 8_000, SUMMARY)
    assert chosen == Window(messages=tuple(STOCK), summary=None, tokens=sum(one.tokens for one in STOCK), omitted=0)


@pytest.mark.parametrize("max_tokens", range(1, 2 * sum(one.tokens for one in STOCK)))
def test_at_every_budget_results_have_their_calls_and_the_newest_is_there(max_tokens: int) -> None:
    chosen = window(STOCK, max_tokens)
    assert_results_have_their_calls(chosen)
    assert chosen.messages[-1].seq == 5


def test_the_newest_that_fit_with_the_summary_in_front() -> None:
    chosen = window([message(seq, Role.USER, "好" * 50) for seq in range(1, 201)], 1_000, SUMMARY)
    assert chosen.summary == SUMMARY
    assert [one.seq for one in chosen.messages] == list(range(201 - len(chosen.messages), 201))
    assert chosen.omitted == 200 - len(chosen.messages)
    assert 900 - 250 < chosen.tokens <= 1_000


def test_the_summary_is_there_when_older_messages_were_not_even_read() -> None:
    chosen = window([message(41, Role.USER, "还有吗")], 8_000, SUMMARY)
    assert (chosen.summary, chosen.omitted) == (SUMMARY, 0)


def test_parallel_calls_leave_together() -> None:
    messages = [message(1, Role.USER, "比价"), call(2, "x", "y"), result(3, "x"), result(4, "y", "9 元" * 40)]
    messages.append(message(5, Role.USER, "好"))
    chosen = window(messages, (messages[-1].tokens + messages[-2].tokens + 2) * 4 // 3)
    assert [one.seq for one in chosen.messages] == [5]


def test_what_was_said_between_a_call_and_its_result_stays_with_them() -> None:
    messages = [call(1, "x"), message(2, Role.USER, "快点"), result(3, "x"), message(4, Role.USER, "好")]
    assert [one.seq for one in window(messages, 8_000).messages] == [1, 2, 3, 4]
    assert [one.seq for one in window(messages, (sum(one.tokens for one in messages[1:])) * 4 // 3).messages] == [4]


def test_a_result_without_its_call_is_left_out() -> None:
    chosen = window([result(7, "gone"), message(8, Role.USER, "那就下单")], 8_000)
    assert [one.seq for one in chosen.messages] == [8]
    assert chosen.omitted == 1


def test_a_call_that_nobody_answered_before_the_talk_went_on_is_left_out() -> None:
    talk = [message(1, Role.USER, "查库存"), call(2, "c1"), message(3, Role.USER, "算了，先下单")]
    assert [one.seq for one in window(talk, 8_000).messages] == [1, 3]
    assert [one.seq for one in window(talk[:2], 8_000).messages] == [1, 2]


def test_of_two_calls_the_answered_one_stays_and_so_does_what_was_said_beside_it() -> None:
    spoken = replace(call(2, "c1", "c2"), content="我查一下")
    chosen = window([message(1, Role.USER, "查"), spoken, result(3, "c2"), message(4, Role.USER, "嗯")], 8_000)
    assert [one.seq for one in chosen.messages] == [1, 2, 3, 4]
    assert chosen.messages[1].content == "我查一下"
    assert [one["id"] for one in chosen.messages[1].tool_calls] == ["c2"]
    assert chosen.tokens == sum(COUNTER.count_message(one) for one in chosen.messages)
    assert window([spoken, message(5, Role.USER, "嗯")], 8_000).messages[0].tool_calls == ()


def test_a_later_call_of_the_same_id_is_not_the_answer_to_an_earlier_one() -> None:
    talk = [call(1, "call_0"), message(2, Role.USER, "还在吗"), call(3, "call_0"), result(4, "call_0")]
    assert [one.seq for one in window([*talk, message(5, Role.USER, "好")], 8_000).messages] == [2, 3, 4, 5]


@pytest.mark.parametrize("calls", [({},), ({"id": None},), ({"id": ["a"]},), ({"id": {"a": 1}}, {"id": "c1"})])
def test_a_call_without_a_usable_id_harms_nothing(calls: Any) -> None:
    talk = [message(1, Role.ASSISTANT, None, tool_calls=calls), result(2, "c1"), message(3, Role.USER, "?")]
    assert window(talk, 8_000).messages[-1].seq == 3


def test_a_call_without_text_and_its_result_fit_together() -> None:
    messages = [message(1, Role.USER, "杭州明天下雨吗"), call(2, "t1"), result(3, "t1", "小雨 12-17°C")]
    assert window(messages, 8_000).messages == tuple(messages)


def test_a_newest_message_that_alone_is_too_large_is_cut_with_a_mark() -> None:
    messages = [message(seq, Role.USER, "好") for seq in range(1, 6)]
    messages.append(message(6, Role.USER, "请逐条核对下面的合同条款，" * 600))
    chosen = window(messages, 200)
    (only,) = chosen.messages
    assert str(only.content).endswith(MARK)
    assert str(only.content).startswith("请逐条核对下面的合同条款，请逐条")
    assert (chosen.truncated_seq, chosen.omitted) == (6, 5)
    assert 100 < chosen.tokens <= 200


def test_a_result_that_is_too_large_is_cut_and_keeps_its_call() -> None:
    messages = [call(1, "c"), result(2, "c", "库存 " * 5_000)]
    chosen = window(messages, 400)
    assert [one.seq for one in chosen.messages] == [1, 2]
    assert chosen.tokens <= 400
    assert chosen.truncated_seq == 2


def test_of_a_message_in_parts_the_part_that_does_not_fit_is_cut() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    parts = ({"type": "text", "text": "看这个"}, image, {"type": "text", "text": "合同 " * 4_000})
    (cut,) = window([message(1, Role.USER, parts)], 2_000).messages
    assert isinstance(cut.content, tuple)
    assert cut.content[:2] == parts[:2]
    assert str(cut.content[2]["text"]).endswith(MARK)
    (small,) = window([message(1, Role.USER, parts)], 200).messages
    assert small.content == (parts[0], {"type": "text", "text": MARK})


def test_an_oversize_summary_is_cut_to_its_share() -> None:
    text = "用户很喜欢吃辣。" * 2_000
    summary = Summary(text=text, tokens=COUNTER.count(text), upto_seq=1, created_at=NOW)
    chosen = window([message(2, Role.USER, "好")], 8_000, summary)
    assert chosen.summary is not None
    assert chosen.summary.text.endswith(MARK)
    assert chosen.summary.tokens == COUNTER.count(chosen.summary.text) <= 2_000
    assert chosen.tokens <= 8_000


def test_an_empty_session_has_an_empty_window() -> None:
    assert window([], 8_000) == Window(messages=(), summary=None, tokens=0, omitted=0)


def test_nothing_is_tokenised_when_nothing_must_be_cut() -> None:
    def refuse() -> None:
        raise AssertionError

    messages = [message(seq, Role.USER, "好" * 50) for seq in range(1, 201)]
    chosen = select(messages, max_tokens=800, summary=SUMMARY, summary_budget=200, counter=TokenCounter(refuse))
    assert chosen.messages


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    kinds = draw(st.lists(st.sampled_from(["user", "assistant", "call", "result", "stray"]), min_size=1, max_size=30))
    made: list[Message] = []
    calls: list[str] = []
    for seq, kind in enumerate(kinds, start=1):
        text = draw(st.sampled_from(["好", "查库存", "一段很长的话" * 30, "word " * 100]))
        if kind == "call":
            calls = [f"c{seq}-{number}" for number in range(draw(st.integers(1, 3)))]
            made.append(call(seq, *calls))
        elif kind == "result" and calls:
            made.append(result(seq, draw(st.sampled_from(calls)), text))
        elif kind == "stray":
            made.append(result(seq, "never made", text))
        else:
            made.append(message(seq, Role.ASSISTANT if kind == "assistant" else Role.USER, text))
    return made


@given(conversations(), st.integers(1, 3_000), st.booleans())
def test_invariants(messages: list[Message], max_tokens: int, with_summary: bool) -> None:
    chosen = window(messages, max_tokens, SUMMARY if with_summary else None)
    assert_calls_have_their_results(chosen)
    seqs = [one.seq for one in chosen.messages]
    assert seqs == sorted(seqs)
    assert seqs[-1] == messages[-1].seq
    assert len(chosen.messages) + chosen.omitted == len(messages)
    least = 40 + sum(len(one.tool_calls) * 60 for one in chosen.messages)
    assert chosen.tokens <= max(max_tokens, len(chosen.messages) * least)
    if chosen.truncated_seq is None:
        told = [replace(one, tool_calls=(), tokens=0) for one in messages]
        assert all(replace(one, tool_calls=(), tokens=0) in told for one in chosen.messages)
        assert all(one in messages or one.tokens == COUNTER.count_message(one) for one in chosen.messages)
        assert chosen.tokens <= max_tokens
    if messages[-1].tool_call_id != "never made":
        assert_results_have_their_calls(chosen)
    for made_call in chosen.messages:
        for made in made_call.tool_calls:
            answers = {one.seq for one in messages if one.tool_call_id == made["id"]}
            assert answers <= set(seqs)
