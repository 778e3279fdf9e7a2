"""Answers from what was delivered, and a judge of them, where a chat model is configured.

Both are asked at temperature 0; their prompts are data, and the result names model, judge and the prompts' digests.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import files

from strata.errors import ConfigurationError
from strata.evaluation.report import Cell, Interval, Table
from strata.evaluation.retrieval.material import Conversation, Question
from strata.evaluation.statistics import wilson
from strata.evaluation.subject import Subject
from strata.evaluation.task import Options, Record, Step
from strata.ports import Chat
from strata.ranking.tokens import is_dense

MAX_TOKENS = 200
TIMEOUT_SECONDS = 60.0
RIGHT = re.compile(r"\b(?:right|correct|yes)\b|对|正确")
WRONG = re.compile(r"\b(?:wrong|incorrect|not\s+(?:right|correct)|no)\b|错|不对|不正确")
THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the answers add to a report; nothing without a model."""

    metrics: Mapping[str, float] = field(default_factory=dict)
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    tables: Sequence[Table] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


def steps(conversation: Conversation) -> Iterator[Step]:
    """Give one step for each question that counts and has a right answer."""
    for question in _answerable(conversation):
        asked = f"question:{conversation.id}:{question.id}"
        yield Step(id=_step_id(conversation, question), kind="answers", work=partial(_answer, question, asked))


def told(options: Options, conversations: Sequence[tuple[Conversation, Mapping[str, Record]]]) -> Answers:
    """Return the score, overall and for each category."""
    if not options.model:
        return Answers()
    by_category: dict[str, list[bool]] = {}
    for conversation, records in conversations:
        for question in _answerable(conversation):
            record = records[_step_id(conversation, question)]
            by_category.setdefault(question.category, []).append(bool(record["right"]))
    groups = {"": [right for found in by_category.values() for right in found]}
    groups |= {f"/{category}": found for category, found in by_category.items()}
    shares = {f"answer_score{name}": sum(found) / max(1, len(found)) for name, found in groups.items()}
    rows: list[list[Cell]] = [
        [name.lstrip("/") or "all", len(found), shares[f"answer_score{name}"]] for name, found in groups.items()
    ]
    return Answers(
        metrics=shares,
        intervals={f"answer_score{name}": wilson(sum(found), len(found)) for name, found in groups.items()},
        tables=[Table(title=f"Answers of {options.model}", columns=("category", "questions", "right"), rows=rows)],
        facts={"model": options.model, "answer_judge": options.model, "prompts": _digests()},
    )


def _answerable(conversation: Conversation) -> list[Question]:
    return [question for question in conversation.questions if question.counts and question.answer]


def _step_id(conversation: Conversation, question: Question) -> str:
    return f"answer:{conversation.id}:{question.id}"


def _answer(question: Question, asked: str, subject: Subject, done: Mapping[str, Record]) -> Record:
    if subject.chat is None:
        raise ConfigurationError("No chat model is configured.", hint="Set STRATA_INFERENCE_CHAT_URL and …_CHAT_MODEL.")
    language = "zh" if is_dense(question.text) else "en"
    remembered = f"{done[asked]['prompt']}\n\n{question.text}"
    answer = _said(subject.chat, prompt(f"answer.{language}"), remembered)
    compared = f"Question: {question.text}\nRight answer: {question.answer}\nAnswer: {answer}"
    verdict = _said(subject.chat, prompt(f"judge.{language}"), compared)
    return {"answer": answer, "verdict": verdict, "right": is_right(verdict)}


def is_right(verdict: str) -> bool:
    """Read the judge's word; whatever says wrong, or says neither, is wrong."""
    word = THOUGHT.sub("", verdict).casefold()
    return bool(RIGHT.search(WRONG.sub("", word))) and not WRONG.search(word)


@cache
def prompt(name: str) -> str:
    """Return a prompt by its name, ``answer.en``."""
    return files("strata.evaluation").joinpath("prompts", f"{name}.txt").read_text("utf-8").strip()


def _said(chat: Chat, system: str, text: str) -> str:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    return chat.complete(messages, max_tokens=MAX_TOKENS, timeout_seconds=TIMEOUT_SECONDS).text.strip()


def _digests() -> str:
    names = ("answer.en", "answer.zh", "judge.en", "judge.zh")
    return ", ".join(f"{name} {hashlib.sha256(prompt(name).encode()).hexdigest()[:12]}" for name in names)
