"""Answers that models really give instead of the one they were asked for: read whole, or not at all."""

from typing import Any

import pytest

from strata.consolidation.no_facts import is_of_assistant, is_placeholder, is_refusal
from strata.consolidation.parse import items_of
from strata.consolidation.prompts import instructions
from strata.errors import JudgeOutputError
from strata.ports import ChatReply
from tests.unit.consolidation.test_judges import A, U, kept, talk

INSTRUCTIONS = instructions("judge", "zh")
AB = ["a", "b"]
CONTENT_A = [{"content": "a"}]
READ: dict[str, tuple[str, list[Any]]] = {
    "tilde fence": ('~~~json\n{"memories":["a","b"]}\n~~~', AB),
    "fence never closed": ('```json\n{"memories":["a","b"]}', AB),
    "bold": ('**{"memories":["a","b"]}**', AB),
    "answer tag": ('<answer>{"memories":["a","b"]}</answer>', AB),
    "assigned in a program": ('const found = {memories: ["a", "b",],};', AB),
    "fenced draft, fenced answer": ('```\n{"memories":["x"]}\n```\nBetter:\n```\n{"memories":["a","b"]}\n```', AB),
    "channels": (
        '<|channel|>analysis<|message|>or {"memories":["x"]}<|end|><|channel|>final<|message|>{"memories":["a","b"]}',
        AB,
    ),
    "nested thoughts": ('<think>1 <think>2</think> {"memories":["x"]}</think>{"memories":["a","b"]}', AB),
    "thoughts with attributes": ('<think time="3">{"memories":["x"]}</think>{"memories":["a","b"]}', AB),
    "afterthought": ('{"memories":["a","b"]}<think>or {"memories":["x"]}?</think>', AB),
    "afterthought without an end": ('{"memories":["a","b"]}\n<think>or {"memories":["x"]}', AB),
    "braces in prose behind": ('{"memories":["a","b"]}\nNote: {nothing else} matters.', AB),
    "schema before": ('{"type":"object","properties":{"memories":{"type":"array"}}}\n{"memories":["a","b"]}', AB),
    "schema behind": ('{"memories":["a","b"]}\nI kept to {"type":"object","properties":{}}.', AB),
    "a list a line": ('["a"]\n["b"]', AB),
    "a frame a line": ('{"memories":["a"]}\n{"memories":["b"]}', AB),
    "an item a line": ('{"content":"a"},\n{"content":"b"}', [{"content": "a"}, {"content": "b"}]),
    "a list of lists": ('[["a"],["b"]]', AB),
    "a key twice": ('{"memories":["a"],"memories":["b"]}', AB),
    "a key twice, single quotes": ("{'memories':['a'],'memories':['b']}", AB),
    "a key twice, the second empty": ('{"memories":["a","b"],"memories":[]}', AB),
    "encoded twice in its frame": ('{"memories":"[\\"a\\",\\"b\\"]"}', AB),
    "almost JSON, encoded twice": ('{"arguments":"{\'memories\':[\'a\',\'b\',]}"}', AB),
    "single quotes around": ("'{\"memories\":[\"a\",\"b\"]}'", AB),
    "calls of a tool": (
        '{"tool_calls":[{"type":"function","function":{"name":"save","arguments":"{\\"memories\\":[{\\"content\\":\\"a\\"}]}"}}]}',
        CONTENT_A,
    ),
    "deep in envelopes": ('{"data":{"result":{"output":{"memories":["a","b"]}}}}', AB),
    "null under one name": ('{"memories":null,"facts":["a","b"]}', AB),
    "reasons beside": ('{"reasoning":["perhaps he lives in Rome"],"memories":["a","b"]}', AB),
    "what was rejected beside": ('{"rejected":["He is a spy"],"preference":["a"],"safety":["b"]}', [
        {"content": "a", "category": "preference"}, {"content": "b", "category": "safety"},
    ]),
    "a group of one without its list": ('{"memories":{"preference":["a"],"safety":"b"}}', [
        {"content": "a", "category": "preference"}, {"content": "b", "category": "safety"},
    ]),
    "full-width signs": ('｛"memories"：［｛"content"："a"｝］｝', CONTENT_A),
    "full-width digits": ('{"memories":[{"content":"a","importance":８}]}', [{"content": "a", "importance": 8}]),
    "corner quotes": ("｛「memories」：［「a」，「b」］｝", AB),
    "curly quotes": ("{“memories”: [“a”, “b”]}", AB),
    "apostrophes in single quotes": ("{'memories': ['I don't', 'he's tall']}", ["I don't", "he's tall"]),
    "signs of comments in a text": ('{"memories":["no. #12","see http://x//y"],}', ["no. #12", "see http://x//y"]),
    "byte order mark and zero width": ('\ufeff{\u200b"memories":["a","b"]}', AB),
    "half a surrogate pair": ('{"memories":["\\ud83d\\ude00","\\ud83d"]}', ["😀", "\ud83d"]),
    "a raw line break": ('{"memories":["a\nb"]}', ["a\nb"]),
    "one bracket too many": ('{"memories":["a","b"]}}]', AB),
    "a comma forgotten between objects": ('[{"content":"a"} {"content":"b"}]', [{"content": "a"}, {"content": "b"}]),
}  # fmt: skip
REFUSED: dict[str, tuple[str, str]] = {
    "cut within a list": ('{"memories":["a","b"', "truncated"),
    "cut behind a list": ('{"memories":["a","b"]', "truncated"),
    "cut within a name": ('{"memories":[{"content":"a","imp', "truncated"),
    "cut behind a colon": ('{"memories":[{"content":"a","importance":', "truncated"),
    "cut within a number": ('{"memories":[{"content":"a","importance":1', "truncated"),
    "cut in the second line": ('{"content":"a"}\n{"content":"b', "truncated"),
    "cut and fenced all the same": ('```json\n{"memories":[{"content":"a"},\n```', "malformed"),
    "an ellipsis": ('{"memories":["a", ...]}', "malformed"),
    "two strings without a comma": ('{"memories":["a" "b"]}', "malformed"),
    "a quotation with a comma behind": ('{"memories":["He said "no", then left"]}', "malformed"),
    "a last line that is none": ('{"content":"a"}\n{"content": b}', "malformed"),
    "two sentences under one name": ('{"memories":[{"content":"a","content":"b"}]}', "malformed"),
    "the same, single quotes": ("{'memories':[{'content':'a','content':'b'}]}", "malformed"),
    "the format quoted behind": ('{"memories":["a"]}\nas in {"memories": [...]}', "malformed"),
    "an empty answer behind": ('{"memories":["a"]}\nWere there nothing, I would say {"memories":[]}.', "ambiguous"),
    "a draft taken back": ('{"memories":["a"]}\nBut that was a joke: {"memories":[]}', "ambiguous"),
    "only what was rejected": ('{"rejected":["He is a spy"],"confidence":0.2}', "no_items"),
    "only what was ignored": ('{"ignored_facts":["He is a spy"]}', "no_items"),
    "an error": ('{"error":{"message":"context too long"}}', "no_items"),
    "an error with a text": ('{"error":"rate limited","text":"Please retry"}', "no_items"),
    "a refusal in an envelope": ('{"response":"I cannot help with that."}', "no_items"),
    "thoughts alone": ('<think>{"memories":["a"]}', "empty"),
    "thoughts and a word": ('<think>{"memories":["a"]}</think>\nDone.', "no_json"),
    "a list for people": ("- a\n- b", "no_json"),
    "YAML": ("memories:\n  - content: a", "no_json"),
    "XML": ("<memories><memory>a</memory></memories>", "no_json"),
    "nothing but brackets": ("[" * 100_000, "no_json"),
    "endless": ('{"memories":[' + '"x",' * 120_000 + '"x"]}', "too_long"),
}


@pytest.mark.parametrize(("answer", "items"), READ.values(), ids=READ.keys())
def test_what_can_be_read_is_read_whole(answer: str, items: list[Any]) -> None:
    assert items_of(ChatReply(text=answer, finish_reason="stop")) == items


@pytest.mark.parametrize(("answer", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_read_whole_is_not_read(answer: str, reason: str) -> None:
    with pytest.raises(JudgeOutputError) as refused:
        items_of(ChatReply(text=answer, finish_reason="stop"))
    assert refused.value.fields["reason"] == reason


@pytest.mark.parametrize("finish_reason", ["SAFETY", "error", "guardrail_intervened", "content_filtered", "MAX_TOKENS"])
def test_an_answer_that_somebody_broke_off_is_not_read(finish_reason: str) -> None:
    with pytest.raises(JudgeOutputError):
        items_of(ChatReply(text='{"memories":["a"]}', finish_reason=finish_reason))


@pytest.mark.parametrize(
    "sentence",
    [
        "I'm unable to determine any memories",
        "There are no memories to extract.",
        "No relevant information found.",
        "No new facts were found",
        "Nothing worth remembering here",
        "The conversation contains no facts worth remembering",
        "The chat does not contain any personal information.",
        "As a large language model, I have no memory",
        "对话中没有值得记忆的信息",
        "未发现长期记忆",
        "本次对话无可提取的记忆。",
        "暂无相关信息",
        "作为一名AI，我无法记住",
    ],
)
def test_refusals_are_known_by_what_they_say(sentence: str) -> None:
    assert is_refusal(sentence)


SAID = talk(
    (U, "I can't eat gluten, and no pork; keep it halal"),
    (U, "I don't have a car"),
    (U, "我不能处理生肉，我没有记忆力问题"),
)


@pytest.mark.parametrize(
    "fact", ["I can't eat gluten", "No pork; keep it halal", "I don't have a car", "我不能处理生肉", "没有记忆力问题"]
)
def test_a_fact_that_begins_like_a_refusal_is_kept(fact: str) -> None:
    assert kept(SAID, fact) == [fact]


@pytest.mark.parametrize("text", ["", "…", "<content>", "string", "[memory]", "（内容）", "your text here"])
def test_placeholders_are_no_sentences(text: str) -> None:
    assert is_placeholder(text)


@pytest.mark.parametrize("text", ["茶", "7", "contents of the box", "memory foam mattress"])
def test_short_sentences_are_no_placeholders(text: str) -> None:
    assert not is_placeholder(text)


def test_what_the_assistant_did_is_no_fact_about_the_user() -> None:
    assert is_of_assistant("The assistant recommended basil")
    assert is_of_assistant("助手推荐了兰亭")
    assert not is_of_assistant("User's assistant Ines books the rooms")
    assert not is_of_assistant("用户的助理姓王")


ASKED = talk((U, "我吃虾嗓子会肿"), (A, "我个人喜欢安静的湖边。您对虾过敏吗？"), (U, "对，别再推荐虾了"))


def test_a_yes_is_an_answer_to_the_question_and_to_nothing_else() -> None:
    assert kept(ASKED, "用户对虾过敏", "用户喜欢安静的湖边") == ["用户对虾过敏"]


def test_marks_of_the_transcript_are_no_part_of_a_sentence() -> None:
    assert kept(ASKED, "[1] [[NEW]] user: 我吃虾嗓子会肿") == ["我吃虾嗓子会肿"]


def test_instructions_that_come_back_are_no_memories() -> None:
    judged = talk((U, "我吃虾嗓子会肿"))
    sentence = next(line for line in INSTRUCTIONS.splitlines() if len(line) > 20 and "{" not in line)
    assert kept(judged, "用户吃虾嗓子会肿", sentence.strip("- ")) == ["用户吃虾嗓子会肿"]


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": [99]},
        {"messages": "1-3"},
        {"messages": [float("nan"), True, -1, 10**30, {"id": 1}]},
        {"importance": "high"},
        {"importance": float("inf")},
        {"category": ["identity_safety"]},
        {"category": {"a": 1}},
        {"scope": ["user"]},
        {"ttl_days": "for ever"},
        {"ttl_seconds": -5},
        {"type": 7},
    ],
    ids=str,
)
def test_a_field_that_is_nonsense_costs_no_memory(fields: dict[str, Any]) -> None:
    assert kept(ASKED, {"content": "用户吃虾嗓子会肿", **fields}) == ["用户吃虾嗓子会肿"]


@pytest.mark.parametrize("item", [42, None, True, [], {}, {"content": 7}, {"content": None}, {"id": 3}], ids=str)
def test_what_has_no_sentence_is_left_out_and_the_rest_stays(item: Any) -> None:
    assert kept(ASKED, item, "用户吃虾嗓子会肿") == ["用户吃虾嗓子会肿"]
