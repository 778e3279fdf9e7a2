"""A judge's answer is read whatever it is wrapped in, and refused if it is not whole."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.consolidation.parse import items_of
from strata.errors import JudgeOutputError
from strata.ports import ChatReply

FACTS = st.lists(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30), min_size=1, max_size=4
)


def read(text: str, finish_reason: str = "stop") -> list[object]:
    return items_of(ChatReply(text=text, finish_reason=finish_reason))


def reason(text: str, finish_reason: str = "stop") -> object:
    with pytest.raises(JudgeOutputError) as caught:
        read(text, finish_reason)
    return caught.value.fields["reason"]


def test_prose_and_fences_around_are_no_part_of_it() -> None:
    answer = (
        '好的，提取结果如下：\n```json\n{"memories":["用户常驻成都","用户每周二打羽毛球"]}\n```\n如需调整请告诉我。'
    )
    assert read(answer) == ["用户常驻成都", "用户每周二打羽毛球"]


@pytest.mark.parametrize(
    "answer",
    [
        '<think>候选：{"facts":["用户可能住在北京"]} 不对，他说的是出差。</think>\n{"facts":["用户下周去北京出差"]}',
        '<thinking>{"facts":["x"]}</thinking><think>{"facts":["y"]}</think>{"facts":["用户下周去北京出差"]}',
        '候选：{"facts":["用户可能住在北京"]}。\n</think>\n{"facts":["用户下周去北京出差"]}',
        'First draft: {"facts":["用户可能住在北京"]}. Better:\n{"facts":["用户下周去北京出差"]}',
    ],
)
def test_nothing_from_the_thoughts_counts(answer: str) -> None:
    assert read(answer) == ["用户下周去北京出差"]


def test_a_tag_in_a_fact_is_no_thought() -> None:
    assert read('{"facts":["他喜欢 <think> 这个标签", "a</think>b"]}') == ["他喜欢 <think> 这个标签", "a</think>b"]


@pytest.mark.parametrize(
    ("answer", "items"),
    [
        ('{"facts":["User drives a blue van"]}', ["User drives a blue van"]),
        ('["User drives a blue van"]', ["User drives a blue van"]),
        ('{"facts":[null,42,{"text":"User drives a blue van"}]}', [None, 42, {"text": "User drives a blue van"}]),
        ('{"result":{"memories":[{"content":"a"}]}}', [{"content": "a"}]),
        ('{"name":"save","arguments":"{\\"memories\\":[\\"a\\"]}"}', ["a"]),
        ('"{\\"memories\\":[\\"a\\"]}"', ["a"]),
        ('{"content":"a"}\n{"content":"b"}', [{"content": "a"}, {"content": "b"}]),
        ('{"memories":{"0":{"content":"a"},"1":{"content":"b"}}}', [{"content": "a"}, {"content": "b"}]),
        ('{"memory":{"content":"a"}}', [{"content": "a"}]),
        (
            '{"preference_taboo":["a"],"identity_safety":[{"content":"b"}]}',
            [{"category": "preference_taboo", "content": "a"}, {"category": "identity_safety", "content": "b"}],
        ),
        ('{"memories":[]}', []),
        ("[]", []),
        ('Message [12] and [[NEW]] give {"memories":["a"]}', ["a"]),
    ],
)
def test_other_frames_are_understood(answer: str, items: list[object]) -> None:
    assert read(answer) == items


@pytest.mark.parametrize(
    ("answer", "items"),
    [
        ("{'facts': ['User plays cello',], 'done': True}", ["User plays cello"]),
        ('{"facts": ["User plays cello",], "score": None}', ["User plays cello"]),
        ('{"facts": ["User plays cello"] // one only\n}', ["User plays cello"]),
        ('{"facts": ["User plays cello"], /* all */ # done\n}', ["User plays cello"]),
        ("{'facts': ['User's cello is old', 'b']}", ["User's cello is old", "b"]),
        ("{facts: ['a' 'b']}", None),
        ("{facts: ['a', 'b'], n: 08}", ["a", "b"]),
        ("｛“facts”：［“用户不吃香菜”，“用户说“要辣”就好”］｝", ["用户不吃香菜", "用户说“要辣”就好"]),
        ('{"facts": ["他说"不要香菜"了"]}', ['他说"不要香菜"了']),
        (r'{"facts": ["C:\dir", "it\'s", "\u7528户", "bad \u12"]}', ["C:\\dir", "it's", "用户", "bad \\u12"]),
        ('{"facts": ["two\nlines"]}', ["two\nlines"]),
    ],
)
def test_almost_json_is_read_or_refused_but_never_misread(answer: str, items: list[object] | None) -> None:
    if items is None:
        assert reason(answer) in {"malformed", "truncated"}
    else:
        assert read(answer) == items


@pytest.mark.parametrize("finish_reason", ["length", "max_tokens", "content_filter", "LENGTH"])
def test_an_answer_that_was_cut_off_counts_as_none(finish_reason: str) -> None:
    assert reason('{"memories":["whole after all"]}', finish_reason) == "truncated"


@pytest.mark.parametrize(
    "answer",
    [
        '{"operations":[{"op":"DELETE","id":"0"},{"op":"ADD","text":"用户对青霉素',
        '{"memories":[{"content":"用户对花生过敏"},',
        '{"memories":[{"content":"用户对花生过敏"}',
        "```json\n{'memories': ['a', 'b'",
        '{"memories":["a"]}\n{"memories":["b',
    ],
)
def test_a_smaller_truth_is_never_made_of_a_broken_one(answer: str) -> None:
    assert reason(answer) == "truncated"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("<think>only thoughts", "empty"),
        ("<think>only thoughts</think>", "empty"),
        ("not json", "no_json"),
        ("I'm sorry, I can't help with that.", "no_json"),
        ("{}", "no_items"),
        ("[1, 2]", "no_items"),
        ('{"memories":null}', "no_items"),
        ('{"memories":[{"content":"A"},{"content": B"}]}', "malformed"),
        ('{"memories":[{"content":"A"}}', "malformed"),
        ("[" * 2_000 + '"', "truncated"),
        ('{"a":' * 200 + '"x"' + "}" * 200, "no_items"),
    ],
)
def test_what_is_no_answer_says_why(answer: str, why: str) -> None:
    assert reason(answer) == why


@given(FACTS)
def test_every_fact_survives_strict_json(facts: list[str]) -> None:
    assert read(json.dumps({"memories": facts}, ensure_ascii=False)) == facts


@given(FACTS, st.data())
def test_no_prefix_of_an_answer_is_an_answer(facts: list[str], data: st.DataObject) -> None:
    whole = json.dumps({"memories": [{"content": fact} for fact in facts]}, ensure_ascii=False)
    cut = data.draw(st.integers(0, len(whole) - 1))
    reason(whole[:cut])


@given(st.text(max_size=200))
def test_any_text_is_items_or_a_reason(text: str) -> None:
    with suppress(JudgeOutputError):
        assert isinstance(read(text), list)
