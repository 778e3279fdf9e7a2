"""Reading the judge's word, and asking for it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from strata.errors import ConfigurationError
from strata.evaluation.retrieval import answering
from strata.evaluation.retrieval.material import Conversation, Question, Session, Turn
from strata.evaluation.subject import Subject
from strata.evaluation.task import Options
from tests.fakes.chat import ScriptedChat

TURN = Turn(id="1", speaker="Ann", text="hello", said_at=datetime(2026, 3, 1, tzinfo=UTC))


def conversation(*questions: Question) -> Conversation:
    return Conversation(id="a", sessions=(Session(id="1", turns=(TURN,)),), questions=questions)


def question(text: str, **more: Any) -> Question:
    return Question(**{"id": "1", "text": text, "category": "c", "evidence": ("1",), "answer": "yes", **more})


@pytest.mark.parametrize(
    "verdict", ["right", "Right.", "对", "正确。", "The answer is correct", "<think>wrong?</think>right"]
)
def test_right_is_right(verdict: str) -> None:
    assert answering.is_right(verdict)


@pytest.mark.parametrize(
    "verdict",
    ["wrong", "错", "不对", "不正确", "incorrect", "not right", "not correct", "", "maybe", "right or wrong", "…"],
)
def test_everything_else_is_wrong(verdict: str) -> None:
    assert not answering.is_right(verdict)


@pytest.mark.parametrize(("text", "language"), [("Who is it?", "en"), ("是谁？", "zh")])
def test_the_prompts_speak_the_questions_language(text: str, language: str) -> None:
    chat = ScriptedChat("somebody", "right")
    [step] = answering.steps(conversation(question(text)))
    done = {"question:a:1": {"prompt": "<memory>it is Bo</memory>"}}
    record = step.work(Subject(endpoint="", key="", scope="s", chat=chat), done)
    assert record == {"answer": "somebody", "verdict": "right", "right": True}
    systems = [messages[0]["content"] for messages in chat.asked]
    assert systems == [answering.prompt(f"answer.{language}"), answering.prompt(f"judge.{language}")]
    assert "it is Bo" in str(chat.asked[0][1]["content"])
    assert "it is Bo" not in str(chat.asked[1][1]["content"]), "the judge sees the right answer, not the memories"


def test_questions_that_stand_apart_or_have_no_answer_are_not_answered() -> None:
    asked = conversation(question("a", counts=False), question("b", answer=""))
    assert list(answering.steps(asked)) == []


def test_a_model_that_is_gone_is_named() -> None:
    [step] = answering.steps(conversation(question("a")))
    with pytest.raises(ConfigurationError):
        step.work(Subject(endpoint="", key="", scope="s"), {"question:a:1": {"prompt": ""}})


def test_the_score_is_told_by_category() -> None:
    asked = conversation(question("a"), question("b", id="2", category="d"), question("c", id="3", category="d"))
    verdicts = (True, False, True)
    records = {f"answer:a:{place}": {"right": right} for place, right in enumerate(verdicts, start=1)}
    told = answering.told(Options(model="m"), [(asked, records)])
    assert told.metrics == {"answer_score": 2 / 3, "answer_score/c": 1.0, "answer_score/d": 0.5}
    assert told.facts["model"] == told.facts["answer_judge"] == "m"
    assert answering.told(Options(), [(asked, {})]) == answering.Answers()
