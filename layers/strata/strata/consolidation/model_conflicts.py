"""What a new memory means for stored ones, asked of a model: one request for each collection.

The model sees new memories as letters and stored ones as numbers, and its answer is read as a mapping between those.
An id that was not offered is ignored and logged, so nothing outside the offer can be touched, whoever it belongs to.
It may overrule the guard on what may stand side by side. It may not call two statements the same that the guard found
to contradict each other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from strata.consolidation import prompts
from strata.consolidation.board import Entry, Finding, Findings, Relation
from strata.consolidation.fields import integers
from strata.consolidation.parse import items_of
from strata.consolidation.proposals import Proposal
from strata.consolidation.prune import Held
from strata.consolidation.texts import is_chinese
from strata.consolidation.transcript import quoted
from strata.errors import InferenceUnavailableError, JudgeOutputError
from strata.model.messages import JsonObject
from strata.observability import count, logger
from strata.ports import Chat

MOST_NEAR = 8
"""Stored memories offered for one new one."""
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ACTIONS: Mapping[str, Relation] = {
    "write": Relation.NEAR,
    "skip": Relation.SAME,
    "refine": Relation.DETAIL,
    "supersede": Relation.AGAINST,
}
_PROVEN = frozenset({Relation.SAME, Relation.WITHIN, Relation.BEYOND})
"""What the guard can prove needs no second opinion."""
SCHEMA: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "required": ["decisions"],
    "properties": {
        "decisions": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["new", "action", "old"],
                "properties": {
                    "new": {"type": "string"},
                    "action": {"type": "string", "enum": list(_ACTIONS)},
                    "old": {"type": "array", "items": {"type": "integer"}},
                },
            },
        }
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """One new memory with the stored ones it is offered, by number."""

    letter: str
    proposal: Proposal
    offered: Mapping[int, Entry]
    findings: Findings


class ModelConflicts:
    """Asks a chat model."""

    def __init__(self, chat: Chat, *, max_tokens: int) -> None:
        self._chat = chat
        self._max_tokens = max_tokens

    def __call__(self, groups: Sequence[Held], *, timeout_seconds: float) -> dict[tuple[str, str], Finding]:
        """Return the findings that the model replaces; empty if there is nothing to ask or no usable answer."""
        questions = _questions(groups)
        if not questions:
            return {}
        try:
            return self._asked(questions, timeout_seconds)
        except (InferenceUnavailableError, JudgeOutputError) as error:
            logger.warning("conflicts.rules", extra={"code": error.code, **error.fields})
            count("ConflictsByRules")
            return {}

    def _asked(self, questions: Sequence[_Question], timeout_seconds: float) -> dict[tuple[str, str], Finding]:
        language = "zh" if is_chinese(" ".join(question.proposal.content for question in questions)) else "en"
        reply = self._chat.complete(
            prompts.request("conflicts", language, *_sections(questions)),
            schema=SCHEMA,
            max_tokens=self._max_tokens,
            timeout_seconds=timeout_seconds,
        )
        by_letter = {question.letter: question for question in questions}
        changed: dict[tuple[str, str], Finding] = {}
        for decision in items_of(reply):
            letter, relation = _read(decision)
            if letter in by_letter and relation is not None:
                changed |= _changed(by_letter[letter], relation, _targets(decision))
        return changed


def _questions(groups: Sequence[Held]) -> list[_Question]:
    questions: list[_Question] = []
    number = 0
    for group in groups:
        for proposal in group.proposals:
            near = group.near(proposal)[:MOST_NEAR]
            open_ones = [entry for entry in near if _relation(group.findings, proposal, entry) not in _PROVEN]
            if len(open_ones) < len(near) or not open_ones or len(questions) == len(_LETTERS):
                continue  # proven already, or nothing near
            offered = {number + place: entry for place, entry in enumerate(open_ones)}
            number += len(open_ones)
            letter = _LETTERS[len(questions)]
            questions.append(_Question(letter=letter, proposal=proposal, offered=offered, findings=group.findings))
    return questions


def _sections(questions: Sequence[_Question]) -> tuple[str, str]:
    new = [_line(question.letter, question.proposal.content, question.proposal.order[0]) for question in questions]
    stored = [
        _line(f"{question.letter} {number}", entry.content, entry.order[0])
        for question in questions
        for number, entry in question.offered.items()
    ]
    return prompts.section("new_memories", new), prompts.section("stored_memories", stored)


def _line(name: str, content: str, said_at: datetime) -> str:
    return f"{name} ({said_at:%Y-%m-%d}): {quoted(content)}"


def _read(decision: object) -> tuple[str, Relation | None]:
    if not isinstance(decision, Mapping):
        return "", None
    action = str(decision.get("action", "")).strip().lower()
    return str(decision.get("new", "")).strip().upper()[:1], _ACTIONS.get(action)


def _targets(decision: object) -> list[int]:
    return list(integers(decision.get("old"))) if isinstance(decision, Mapping) else []


def _changed(question: _Question, relation: Relation, targets: Sequence[int]) -> dict[tuple[str, str], Finding]:
    """Apply one decision: the entries it names get its relation, the others stand beside."""
    unknown = [number for number in targets if number not in question.offered]
    if unknown:
        logger.warning("conflicts.unknown_ids", extra={"ids": unknown})
    named = {number for number in targets if number in question.offered}
    if relation is not Relation.NEAR and not named:
        return {}  # a decision about nothing that was offered is no decision
    changed: dict[tuple[str, str], Finding] = {}
    for number, entry in question.offered.items():
        pair = (question.proposal.key, entry.id)
        found = relation if number in named else Relation.NEAR
        if found is Relation.SAME and _relation(question.findings, question.proposal, entry) is Relation.AGAINST:
            continue  # the guard's veto
        changed[pair] = Finding(relation=found, reason=f"model: {found.value}")
    return changed


def _relation(findings: Findings, proposal: Proposal, entry: Entry) -> Relation:
    found = findings.get((proposal.key, entry.id))
    return Relation.NEAR if found is None else found.relation
