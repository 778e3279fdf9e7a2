"""The rule judge: what is worth keeping of new messages, without asking anybody.

Patterns find facts and say which rule held; a learned weighing doubts them or finds what no pattern knows. Only the
user's own words count; the assistant's are facts about nobody, except that the user agreed to a proposal.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from strata.consolidation.dates import dated, lasts_until
from strata.consolidation.echo import without_echo
from strata.consolidation.personal import is_personal
from strata.consolidation.rule_data import table
from strata.consolidation.rules.adoption import adopted
from strata.consolidation.rules.corrections import corrected
from strata.consolidation.rules.deciding import Verdict, agreed, is_doubtful, verdicts
from strata.consolidation.rules.lexicon import code
from strata.consolidation.rules.patterns import compiled
from strata.consolidation.rules.statements import last_person, names_person, statement, subject_before
from strata.consolidation.rules.units import Unit, units, whole
from strata.consolidation.rules.weighing import Opinion, Weights, weights
from strata.consolidation.rules.wording import Speech, worded
from strata.consolidation.screen import redact
from strata.consolidation.texts import is_of_user, spoken
from strata.consolidation.texts import units as content_units
from strata.errors import InferenceUnavailableError
from strata.model.memories import Candidate, Category, Scope
from strata.model.messages import Message, Role
from strata.ports import Embedder

SHORTEST_LIFE_SECONDS = 3_600
_NOT_SPOKEN = re.compile(
    r"```.*?(?:```|$)|^\s*>.*$|https?://\S+|\[(?:photo|image|picture|video|sticker|图片|照片|视频|表情)[^\]\n]{0,400}\]",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_TOPIC = re.compile(
    r"((?:^|(?<=[。！!.\n]))\s*[^，,。！!？?.\s]{1,16})([？?])(?=\s*(?:[我咱俺他她家这那]|I\b|[Mm]y\b|[Ww]e\b))"
)
_ABOUT_SOMEBODY = frozenset({"user_preference", "temporary_constraint"})
_BARE_RETRACTION_CHARS = 24
"""A longer one names what it takes back."""
_RETRACTABLE = frozenset({"adopted_decision", "shopping_list", "price_alert", "temporary_constraint"})


@dataclass(frozen=True, slots=True)
class _Said:
    """A new message of the user, taken apart."""

    message: Message
    text: str
    proposed: str
    """What the assistant said just before."""
    units: tuple[Unit, ...]
    whole: Unit | None
    """All of it as one unit, if it is short."""
    person: str
    """The person last spoken of before it."""


@dataclass(slots=True)
class _Course:
    """How the talk goes: who was last spoken of, what the assistant said last."""

    person: str = ""
    proposed: str = ""
    said: list[_Said] = field(default_factory=list)


class RuleJudge:
    """Fulfils ``ports.RuleJudge``. Safe to share between threads."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        """``embedder``: used if it is the model that the weights were learned with; otherwise words decide alone."""
        meaning = weights("meaning")
        self._embedder = embedder if embedder is not None and embedder.name.endswith(meaning.model) else None
        self._meaning = meaning
        self._words = weights("words")

    def __call__(self, messages: Sequence[Message], *, zone: str, context: Sequence[Message] = ()) -> list[Candidate]:
        """Return the candidates among ``messages``, in their order; ``context`` is only read to understand them."""
        said = _taken_apart(messages, context)
        opinions = self._opinions([unit for item in said for unit in _weighed(item)])
        result: list[Candidate] = []
        for item in said:
            if _retracts(item.text):
                result = _without_retracted(result, item)
            result += _candidates(item, opinions, zone)
        return result

    def _opinions(self, found: Sequence[Unit]) -> Mapping[int, Opinion]:
        """Return the opinion on each unit, by its identity."""
        by_words = {id(unit): self._words.opinion(unit.features()) for unit in found}
        doubtful = [unit for unit in found if is_doubtful(unit, by_words[id(unit)])]
        vectors = self._vectors([unit.text for unit in doubtful])
        if not vectors:
            return by_words
        pairs = zip(doubtful, vectors, strict=True)
        by_meaning = ((unit, self._meaning.opinion(unit.features(), vector)) for unit, vector in pairs)
        return by_words | {id(unit): agreed(unit, by_words[id(unit)], opinion) for unit, opinion in by_meaning}

    def _vectors(self, texts: Sequence[str]) -> list[bytes]:
        if self._embedder is None or not texts:
            return []
        try:
            return self._embedder.embed(texts, query=True)
        except InferenceUnavailableError:
            return []


def judge(messages: Sequence[Message], *, zone: str, context: Sequence[Message] = ()) -> list[Candidate]:
    """Judge by patterns and words alone; see ``RuleJudge``."""
    return _plain()(messages, zone=zone, context=context)


@cache
def _plain() -> RuleJudge:
    return RuleJudge()


def _taken_apart(messages: Sequence[Message], context: Sequence[Message]) -> list[_Said]:
    new = {message.seq for message in messages}
    course = _Course()
    for message in sorted((*context, *messages), key=lambda message: message.seq):
        if is_of_user(message):
            _follow(course, message, new=message.seq in new)
        elif message.role is Role.ASSISTANT and spoken(message).strip():
            course.proposed = spoken(message)
    return course.said


def _follow(course: _Course, message: Message, *, new: bool) -> None:
    text = redact(_NOT_SPOKEN.sub(" ", without_echo(spoken(message))))
    found = tuple(units(corrected(_with_topics(text))))
    if new:
        course.said.append(_Said(message, text, course.proposed, found, whole(found), course.person))
    course.person = last_person(found) or course.person
    course.proposed = ""


def _with_topics(text: str) -> str:
    """A thing named like a question opens the statement behind it: 凤梨？我妈可吃不得; *Shrimp? I can't touch it.*"""
    return _TOPIC.sub(
        lambda match: f"{match[1]}{'，' if match[2] == '？' else ','}" if _is_thing(match[1]) else match[0], text
    )


def _is_thing(text: str) -> bool:
    return text.strip() != "" and len(code(text.strip()).text) == 1


def _weighed(item: _Said) -> list[Unit]:
    return [*item.units, item.whole] if item.whole else list(item.units)


def _candidates(item: _Said, opinions: Mapping[int, Opinion], zone: str) -> list[Candidate]:
    agreed = adopted(item.text, item.proposed) if item.proposed else None
    if agreed:
        return [_agreement(item, agreed)]
    result: list[Candidate] = []
    person = item.person
    for unit in item.units:
        result += _of_unit(item, unit, verdicts(unit, opinions[id(unit)]), person, zone)
        person = last_person([unit]) or person
    if not result and item.whole:
        result += _of_unit(item, item.whole, verdicts(item.whole, opinions[id(item.whole)]), item.person, zone)
    return result


def _of_unit(item: _Said, unit: Unit, found: Sequence[Verdict], person: str, zone: str) -> Iterable[Candidate]:
    owned = frozenset[int]().union(*(verdict.clauses for verdict in found))
    for verdict in found:
        spoken_of = subject_before(unit, verdict, person)
        yield _candidate(item, unit, verdict, statement(unit, verdict, owned), spoken_of, zone)


def _candidate(item: _Said, unit: Unit, verdict: Verdict, statement: str, person: str, zone: str) -> Candidate:
    rule, said_at = verdict.rule, item.message.said_at
    speech = Speech(
        person=person,
        names_person=names_person(unit, verdict),
        about_person=rule.memory_type in _ABOUT_SOMEBODY,
        shared=rule.scope is Scope.AGENT,
    )
    past = rule.memory_type == "rejection_reason"
    content = worded(dated(statement, said_at=said_at, zone=zone, past=past), speech)
    personal = rule.scope is Scope.AGENT and is_personal(content, ())
    return Candidate(
        content=content,
        category=rule.category,
        importance=rule.importance,
        scope=Scope.USER if personal else rule.scope,
        memory_type=rule.memory_type,
        ttl_seconds=_life(unit.text, item, zone) if rule.dated else None,
        standing=rule.standing,
        safety=rule.safety,
        source_seqs=(item.message.seq,),
        said_at=said_at,
        confidence=round(verdict.confidence, 3),
        rule=rule.name,
        evidence=verdict.evidence,
    )


def _agreement(item: _Said, content: str) -> Candidate:
    return Candidate(
        content=content,
        category=Category.DECISION,
        importance=6,
        scope=Scope.USER,
        memory_type="adopted_decision",
        source_seqs=(item.message.seq,),
        said_at=item.message.said_at,
        rule="adoption.agreed",
        evidence=item.text.strip(),
    )


def _life(text: str, item: _Said, zone: str) -> int | None:
    """Seconds from when it was said until what the text names is over; None = the type's default."""
    until = lasts_until(text, said_at=item.message.said_at, zone=zone)
    if until is None:
        return None
    return max(int((until - item.message.said_at).total_seconds()), SHORTEST_LIFE_SECONDS)


def _retracts(text: str) -> bool:
    return bool(_retraction().search(text.lower()))


@cache
def _retraction() -> re.Pattern[str]:
    return compiled(table("talk")["retraction"]["pattern"], {})


def _without_retracted(found: list[Candidate], said: _Said) -> list[Candidate]:
    """Drop what a message takes back: what it names, or the very last thing if it names nothing."""
    open_to_it = [candidate for candidate in found if candidate.memory_type in _RETRACTABLE]
    named = [item for item in open_to_it if content_units(item.content) & content_units(said.text)]
    if not named and len(said.text) <= _BARE_RETRACTION_CHARS:
        named = [item for item in open_to_it if item.source_seqs == open_to_it[-1].source_seqs]
    return [candidate for candidate in found if candidate not in named]


__all__ = ["RuleJudge", "Weights", "judge"]
