"""Counting and cutting: control strings, long runs, Chinese, what a message adds to its text."""

import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.model.messages import NewMessage, Role
from strata.tokens.counter import IMAGE_TOKENS, MESSAGE_TOKENS, TokenCounter, bundled_vocabulary, estimate

CHINESE = "今天下午和客户确认了合同里的付款条款并约好下周再谈"
COUNTER = TokenCounter()
ESTIMATING = TokenCounter(lambda: None)

hanzi = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=200)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


def message(content: Any = None, **fields: Any) -> NewMessage:
    return NewMessage(role=Role.USER, content=content, **fields)


def test_the_vocabulary_is_there_without_a_download() -> None:
    assert bundled_vocabulary() is not None


def test_chinese_and_english_are_counted_as_cl100k_does() -> None:
    assert COUNTER.count("hello world") == 2
    assert COUNTER.count(CHINESE * 4) == 100


def test_a_control_string_is_ordinary_text() -> None:
    text = "请解释 <|endoftext|> 在训练数据里的作用"
    assert COUNTER.count(text) > COUNTER.count("请解释  在训练数据里的作用")
    assert COUNTER.truncate(text, 100, "…") == text


RUNS = {"a": "a" * 1_000_000, "caret": "^" * 1_000_000, "blanks": " " * 999_999 + "a", "zh": "喝" * 1_000_000}


@pytest.mark.parametrize("text", RUNS.values(), ids=RUNS.keys())
def test_a_megabyte_of_one_character_is_counted(text: str) -> None:
    assert COUNTER.count(text) > 1_000


@pytest.mark.parametrize("counter", [COUNTER, ESTIMATING], ids=["vocabulary", "estimate"])
def test_a_megabyte_is_cut(counter: TokenCounter) -> None:
    cut = counter.truncate("请逐条核对下面的合同条款，" * 80_000, 6_000, "…")
    assert 0 < counter.count(cut) <= 6_000


@given(hanzi)
def test_the_estimate_never_undercounts_chinese(text: str) -> None:
    assert estimate(text) >= COUNTER.count(text)


def test_the_estimate_of_english_is_sensible() -> None:
    text = "The quick brown fox jumps over the lazy dog, and the dog does not mind at all. " * 20
    assert COUNTER.count(text) <= estimate(text) <= 2 * COUNTER.count(text)


def test_without_a_vocabulary_the_estimate_counts_and_cuts() -> None:
    assert ESTIMATING.count(CHINESE) == estimate(CHINESE)
    cut = ESTIMATING.truncate(CHINESE * 40, 100, "…")
    assert cut.endswith("…")
    assert COUNTER.count(cut) <= ESTIMATING.count(cut) <= 100


@given(texts, st.integers(4, 60))
def test_a_cut_text_fits_and_begins_as_it_did(text: str, limit: int) -> None:
    cut = COUNTER.truncate(text, limit, "…")
    assert COUNTER.count(cut) <= limit
    assert text == cut or text.startswith(cut.removesuffix("…"))


def test_a_cut_uses_the_room_it_has() -> None:
    cut = COUNTER.truncate("word " * 30_000, 10_000, "…")
    assert 9_990 <= COUNTER.count(cut) <= 10_000


@pytest.mark.parametrize("family", ["👨‍👩‍👧", "👍🏽", "❤️", "e\u0301"])
def test_a_cut_never_parts_what_a_reader_sees_as_one(family: str) -> None:
    for limit in range(2, 60):
        cut = COUNTER.truncate(family * 20, limit, "|").removesuffix("|")
        assert cut == family * (len(cut) // len(family))


def test_where_the_mark_does_not_fit_it_stands_alone() -> None:
    assert COUNTER.truncate(CHINESE, 0, "…") == "…"


def test_a_message_costs_its_text_and_a_fixed_frame() -> None:
    assert COUNTER.count_message(message("hello world")) == 2 + MESSAGE_TOKENS
    assert COUNTER.count_message(message("hello world", name="ann")) > 2 + MESSAGE_TOKENS


def test_text_parts_are_counted_and_images_have_a_fixed_price() -> None:
    small = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    large = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    words = {"type": "text", "text": "hello world"}
    assert COUNTER.count_message(message((words, small))) == 2 + IMAGE_TOKENS + MESSAGE_TOKENS
    assert COUNTER.count_message(message((words, large))) == COUNTER.count_message(message((words, small)))


def test_a_call_without_text_is_counted_by_its_arguments() -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"杭州"}'}}
    assert COUNTER.count_message(message(tool_calls=(call,))) > MESSAGE_TOKENS + 15


def test_nothing_is_downloaded_not_even_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "/nowhere")
    bundled_vocabulary.cache_clear()
    assert TokenCounter().count("今天") == 2
