"""Reading data files: what can be read is read, what is wrong is said."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from strata.errors import InputError
from strata.evaluation import source
from strata.evaluation.locomo import Locomo
from strata.evaluation.madial import Madial
from strata.evaluation.memorybank import MemoryBank
from strata.evaluation.retrieval.material import limited
from strata.evaluation.source import DataFile
from strata.evaluation.task import Options


def file(text: str, name: str = "data.json") -> DataFile:
    return DataFile(path=Path(name), text=text, sha256="0" * 64)


def talk(**changes: Any) -> dict[str, Any]:
    """One conversation of LoCoMo's format."""
    return {
        "sample_id": "ann-bo",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I planted a pear tree."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a red bicycle"},
                {"speaker": "Ann", "dia_id": "D1:3", "text": " "},
            ],
            "session_11": [{"speaker": "Bo", "dia_id": "D11:05", "text": "It has fruit."}],
            "session_11_date_time": "9:00 am on 1 June, 2023",
            "session_2": [],
            "session_2_date_time": "9:00 am on 9 May, 2023",
        },
        "qa": [{"question": "What did Ann plant?", "answer": "a pear tree", "evidence": ["D1:1"], "category": 4}],
        **changes,
    }


def locomo(document: object) -> Options:
    return Options(data=file(json.dumps(document)))


def test_sessions_stand_in_the_order_of_their_numbers_with_times_and_captions() -> None:
    [conversation] = Locomo().read(locomo([talk()])).conversations
    assert [session.id for session in conversation.sessions] == ["1", "11"]
    first, second = conversation.sessions[0].turns
    assert (first.line, first.by_user, first.said_at.isoformat()) == (
        "Ann: I planted a pear tree.",
        True,
        "2023-05-08T13:56:00+00:00",
    )
    assert second.text == "Look! [photo: a red bicycle]"
    assert second.said_at > first.said_at


@pytest.mark.parametrize(
    ("evidence", "read"),
    [
        (["D1:1; D1:2"], ("D1:1", "D1:2")),
        (["D1:1", "D1:1"], ("D1:1",)),
        (["D:11:5"], ("D11:5",)),
        (["D11:05"], ("D11:5",)),
        (["(D1:2)", "D", "D9:9"], ("D1:2",)),
        ("D1:1", ("D1:1",)),
        (["D9:9"], None),
        (["D"], None),
        ([], None),
        (None, None),
    ],
)
def test_malformed_evidence_is_read_as_far_as_it_can_be(evidence: object, read: tuple[str, ...] | None) -> None:
    plain = {"question": "Sure?", "answer": "yes", "evidence": ["D1:1"], "category": 1}
    asked = {"question": "What?", "answer": 2022, "evidence": evidence, "category": 2}
    [conversation] = Locomo().read(locomo([talk(qa=[plain, asked])])).conversations
    assert [question.evidence for question in conversation.questions[1:]] == ([read] if read else [])


def test_adversarial_questions_stand_apart() -> None:
    asked = [{"question": "?!", "evidence": ["D1:1"], "category": category} for category in (1, 2, 3, 4, 5)]
    [conversation] = Locomo().read(locomo([talk(qa=asked)])).conversations
    assert [(question.category, question.counts) for question in conversation.questions] == [
        ("multi-hop", True),
        ("temporal", True),
        ("open-domain", True),
        ("single-hop", True),
        ("adversarial", False),
    ]


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        [1],
        "text",
        [{"qa": []}],
        [talk(qa={})],
        [talk(qa=[{"answer": "?"}])],
        [talk(qa=[{"question": " "}])],
        [talk(qa=["?"])],
        [talk(qa=[])],
        [talk(), talk()],
        [talk(conversation={"session_1": [{"speaker": "A", "text": "x"}]})],
        [talk(conversation={"session_1": "x", "session_1_date_time": "1:56 pm on 8 May, 2023"})],
        [talk(conversation={"session_1": [{"text": "x"}], "session_1_date_time": "1:56 pm on 8 May, 2023"})],
        [talk(conversation={"session_1": [7], "session_1_date_time": "1:56 pm on 8 May, 2023"})],
        [talk(conversation={"session_1": [], "session_1_date_time": 8})],
    ],
)
def test_what_is_not_locomo_is_refused_with_a_sentence(document: object) -> None:
    with pytest.raises(InputError) as refused:
        Locomo().plan(locomo(document))
    assert refused.value.message.endswith((".", "'."))


def test_a_limit_takes_the_first_questions_and_their_conversations_only() -> None:
    documents = [talk(sample_id=name) for name in ("one", "two", "three")]
    conversations = Locomo().read(locomo(documents)).conversations
    assert [one.id for one in limited(conversations, 2)] == ["one", "two"]
    assert limited(conversations, None) == conversations


def madial(dialogues: object, memories: object, *, swapped: bool = False) -> Options:
    files = [
        file("\n".join(json.dumps(line, ensure_ascii=False) for line in lines))  # type: ignore[attr-defined]
        for lines in (memories, dialogues)
    ]
    first, second = reversed(files) if swapped else files
    return Options(data=first, extra=second)


DIALOGUE: Mapping[str, Any] = {
    "dialogue": ["<BOD>\n", '<小明>:"我又要比赛了。"\n', '<Assistant>:"加油！"\n', '<小明>:"记得吗？"\n', "<EOD>\n"],
    "test-turn": [3],
    "relevant-id": [1, 9, "1"],
    "user-id": 1,
}
MEMORIES = [
    {"1": {"time": "2023-03-07", "scene": "活动", "emotion": "开心", "event": "小明得了第一名。", "user-id": 1}},
    {"2": {"time": "?", "event": "小红养了猫。", "user-id": 2}},
]


@pytest.mark.parametrize("swapped", [False, True])
def test_a_dialogue_asks_with_what_was_said_before_the_turn_that_is_tested(swapped: bool) -> None:
    [conversation] = Madial().read(madial([DIALOGUE], MEMORIES, swapped=swapped)).conversations
    assert [turn.text for turn in conversation.turns] == ["活动，开心：小明得了第一名。"]
    [question] = conversation.questions
    assert question.evidence == ("1",)
    assert "我又要比赛了" in question.text
    assert "记得吗" not in question.text
    assert "BOD" not in question.text


def test_a_memory_without_a_user_belongs_to_whom_it_names() -> None:
    other = {**DIALOGUE, "dialogue": ["<BOD>\n", "<Lisa>: hi\n", "<Lisa>: well\n", "x"], "user-id": 2}
    events = ["小明 ran.", "Lisa sang.", "Lisa and 小明 met.", "It rained."]
    memories = [{str(place): {"event": event}} for place, event in enumerate(events, start=1)]
    found = Madial().read(madial([DIALOGUE, {**other, "relevant-id": [2]}], memories)).conversations
    assert [[turn.id for turn in one.turns] for one in found] == [["1", "3", "4"], ["2", "3", "4"]]


@pytest.mark.parametrize(
    ("dialogues", "memories"),
    [
        (MEMORIES, MEMORIES),
        ([DIALOGUE], [{"1": {"time": "2023"}}]),
        ([DIALOGUE], [{"1": 2}]),
        ([{"dialogue": 1, "user-id": 1}], MEMORIES),
        ([{**DIALOGUE, "test-turn": []}], MEMORIES),
    ],
)
def test_what_is_not_madial_is_refused(dialogues: object, memories: object) -> None:
    with pytest.raises(InputError):
        Madial().plan(madial(dialogues, memories))


def test_the_second_file_is_looked_for_beside_the_first() -> None:
    assert Madial().companion(file("", "a/zh-memory.json")) == Path("a/zh-dialogue.json")
    assert Madial().companion(file("", "a/zh-dialogue.json")) == Path("a/zh-memory.json")
    assert Madial().companion(file("", "a/zh.json")) is None
    with pytest.raises(InputError):
        Madial().plan(Options(data=file("{}")))


BANK = {
    "小红": {
        "history": {
            "2023-04-27": [{"query": "你好", "response": "您好"}, {"query": "我爱喝茶", "response": "好"}],
            "2023-04-28": [{"query": "今天爬山", "response": ""}],
        }
    }
}


def bank(gold: object, people: object = None) -> Options:
    return Options(data=file(json.dumps(BANK if people is None else people)), extra=file(json.dumps(gold), "gold.json"))


def test_an_exchange_is_one_piece_of_evidence_and_two_turns() -> None:
    gold = [
        {"user": "小红", "question": "我爱喝什么？", "evidence": ["2023-04-27#2"], "answer": "茶"},
        {"user": "小红", "question": "那天？", "evidence": "2023-04-27"},
        {"user": "小红", "question": "没有？", "evidence": ["2023-05-01#1", "?"]},
    ]
    [conversation] = MemoryBank().read(bank(gold)).conversations
    assert [[turn.id for turn in session.turns] for session in conversation.sessions] == [
        ["2023-04-27#1", "2023-04-27#1", "2023-04-27#2", "2023-04-27#2"],
        ["2023-04-28#1"],
    ]
    assert [question.evidence for question in conversation.questions] == [
        ("2023-04-27#2",),
        ("2023-04-27#1", "2023-04-27#2"),
    ]


@pytest.mark.parametrize(
    ("gold", "people"),
    [
        ([{"user": "小红", "question": "?"}], None),
        ([{"user": "小明", "question": "?", "evidence": []}], None),
        ([3], None),
        ([], []),
        ([], {"小红": {"history": []}}),
        ([], {"小红": {"history": {"2023-04-27": ["x"]}}}),
        ([], {"小红": {"history": {"yesterday": [{"query": "x"}]}}}),
    ],
)
def test_what_is_not_memorybank_is_refused(gold: object, people: object) -> None:
    with pytest.raises(InputError):
        MemoryBank().read(bank(gold, people))


def test_memorybank_has_no_evidence_of_its_own() -> None:
    with pytest.raises(InputError) as refused:
        MemoryBank().read(Options(data=file(json.dumps(BANK))))
    assert "--extra" in refused.value.hint


@pytest.mark.parametrize("content", [b"", b" \n ", b"\xff\xfe\x00"])
def test_a_file_without_text_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "data.json").write_bytes(content)
    with pytest.raises(InputError):
        source.read(tmp_path / "data.json")


def test_a_file_that_is_not_there_or_is_a_folder_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(InputError, match="cannot be read"):
            source.read(path)


def test_a_file_is_named_by_the_digest_of_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_bytes(b"\xef\xbb\xbf[1]")
    found = source.read(tmp_path / "data.json")
    assert found.json() == [1]
    assert found.sha256 == hashlib.sha256(b"\xef\xbb\xbf[1]").hexdigest()


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "{}\n[1]\n", "NaN}"])
def test_json_that_is_broken_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        file(text).json()
    with pytest.raises(InputError):
        file(text).json_lines()
