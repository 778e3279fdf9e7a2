"""The material of a retrieval task, whatever file it came from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing somebody said."""

    id: str
    """What evidence names. Turns that are one piece of evidence, as a question and its reply, share it."""
    speaker: str
    text: str
    said_at: datetime
    by_user: bool = True

    @property
    def line(self) -> str:
        """Who said what."""
        return f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Turns in order."""

    id: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something asked afterwards, and the turns that hold the answer."""

    id: str
    text: str
    category: str
    evidence: tuple[str, ...]
    """Ids of turns that exist; a question without any is asked of nobody."""
    answer: str = ""
    counts: bool = True
    """Whether it counts in the overall numbers; adversarial questions stand apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Everything said between the same people, and the questions about it."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    is_sentences: bool = False
    """Its turns are memories already: the native library takes them one by one, as they are."""

    @property
    def turns(self) -> Iterator[Turn]:
        """Every turn, in the order of speech."""
        return (turn for session in self.sessions for turn in session.turns)

    def session_of(self) -> Mapping[str, str]:
        """Return the session of each turn, by their ids."""
        return {turn.id: session.id for session in self.sessions for turn in session.turns}


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A data file, read."""

    conversations: tuple[Conversation, ...]
    notes: tuple[str, ...] = ()
    """What had to be repaired or left out."""


def limited(conversations: Sequence[Conversation], limit: int | None) -> tuple[Conversation, ...]:
    """Return the conversations of the first ``limit`` questions, with those questions; none without a question."""
    kept, left = [], limit
    for conversation in conversations:
        questions = conversation.questions[:left] if left is not None else conversation.questions
        left = None if left is None else left - len(questions)
        if questions:
            kept.append(replace(conversation, questions=questions))
    return tuple(kept)
