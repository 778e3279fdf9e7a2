"""What the summary's model is asked."""

from datetime import UTC, datetime
from typing import Any

from strata.model.messages import Kind, Message, Role
from strata.model.sessions import Summary
from strata.sessions.folding import MESSAGE_TOKENS, PORTION_TOKENS, portions, request
from strata.tokens.counter import TokenCounter

NOW = datetime(2026, 3, 10, 8, 30, tzinfo=UTC)
COUNTER = TokenCounter()


def message(seq: int, content: Any = "好", tokens: int = 10, role: Role = Role.USER) -> Message:
    return Message(
        seq=seq, role=role, content=content, kind=Kind.CHAT, message_id=f"m{seq}", agent_id="a", tokens=tokens,
        digest="", created_at=NOW, said_at=NOW,
    )  # fmt: skip


def test_portions_are_bounded_whole_and_in_order() -> None:
    made = list(portions([message(seq, tokens=900) for seq in range(1, 21)]))
    assert [one.seq for portion in made for one in portion] == list(range(1, 21))
    assert all(sum(one.tokens for one in portion) <= PORTION_TOKENS for portion in made)
    assert len(made) == 4


def test_one_huge_message_is_a_portion_and_counts_as_it_is_cut() -> None:
    huge = message(2, "很" * 50_000, tokens=50_000)
    made = list(portions([message(1), huge, message(3)]))
    assert [[one.seq for one in portion] for portion in made] == [[1, 2, 3]]
    (_, asked) = request(None, made[0], COUNTER)
    assert COUNTER.count(str(asked["content"])) < MESSAGE_TOKENS + 300


def test_nothing_is_no_portion() -> None:
    assert list(portions([])) == []


def test_a_request_holds_the_summary_so_far_and_each_message_on_a_line() -> None:
    before = Summary(text="用户在炖牛肉。", tokens=5, upto_seq=1, created_at=NOW)
    system, asked = request(
        before, [message(2, "要炖多久？\n两小时？"), message(3, "两小时", role=Role.ASSISTANT)], COUNTER
    )
    assert system["role"] == "system"
    lines = str(asked["content"]).splitlines()
    assert lines[:3] == ["<summary>", '"用户在炖牛肉。"', "</summary>"]
    assert lines[4:] == [
        "<messages>",
        '#2 user 2026-03-10 08:30: "要炖多久？\\n两小时？"',
        '#3 assistant 2026-03-10 08:30: "两小时"',
        "</messages>",
    ]
