"""Episodes: the turns of a finished session, kept so that what no judge thought worth a fact can still be found.

A turn is understood by what it answers. It is therefore embedded together with its predecessor, each with its speaker's
name, and remembers where it stood, so that a search can listen to its neighbours.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from strata.clock import Clock
from strata.dedup.fingerprint import fingerprint
from strata.errors import InferenceUnavailableError
from strata.model.memories import MemoryType, Source
from strata.model.messages import Kind, Message, Role
from strata.model.runs import Run
from strata.observability import logger
from strata.policy.names import derived_id, user_layer
from strata.policy.retention import expiry
from strata.ports import Access, Embedder, MemoryDraft, MemoryStore
from strata.sharing.index import EPISODE

MAX_TURN_CHARS = 1_000
"""What is kept of a turn: more is never delivered, and the session has all of it."""
MAX_PREVIOUS_CHARS = 300
"""What is embedded of the turn before it: its end, which is what was answered."""
CUT = "…"
BATCH = 32
IMPORTANCE = 3

SPEAKERS = frozenset({Role.USER, Role.ASSISTANT})


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing somebody said."""

    message: Message
    speaker: str
    text: str

    @property
    def line(self) -> str:
        """The turn as it is kept and read: who said what."""
        return f"{self.speaker}: {self.text}"


class Episodes:
    """Indexes the turns of a run. Doing it twice changes nothing."""

    def __init__(
        self, store: MemoryStore, embedder: Embedder, clock: Clock, types: Callable[[], Mapping[str, MemoryType]]
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._types = types

    def __call__(self, run: Run, messages: Sequence[Message], new: Sequence[int], zone: tzinfo) -> int:
        """Keep the turns of a run and return how many were written.

        ``messages`` are those of the session around and of the run, oldest first and clean of secrets; ``new`` are the
        ``seq`` of those that belong to the run. Raises StorageUnavailableError, NotFoundError (not writable).
        """
        access = Access(tenant=run.tenant, agent_id=run.agent_id)
        turns = turns_of(messages)
        written = 0
        for batch in _batches(list(self._drafts(run, turns, frozenset(new), zone))):
            for draft in self._embedded(batch):
                written += self._store.insert(access, draft, now=self._clock.now()).created
        return written

    def _drafts(
        self, run: Run, turns: Sequence[Turn], new: frozenset[int], zone: tzinfo
    ) -> Iterator[tuple[MemoryDraft, str]]:
        """Give each new turn as a draft, with the text to embed."""
        ttl_seconds = self._types()[EPISODE].ttl_seconds
        for previous, turn in zip((None, *turns), turns, strict=False):
            if turn.message.seq in new:
                yield self._draft(run, turn, previous, zone, ttl_seconds), embedding_text(turn, previous)

    def _draft(self, run: Run, turn: Turn, previous: Turn | None, zone: tzinfo, ttl_seconds: int) -> MemoryDraft:
        message = turn.message
        return MemoryDraft(
            memory_id=derived_id(run.tenant, run.session_id, EPISODE, str(message.seq)),
            collection=user_layer(run.user_id),
            memory_type=EPISODE,
            content=turn.line,
            fingerprint=fingerprint(turn.line),
            metadata={
                "source": "session",
                "session_id": run.session_id,
                "seq": message.seq,
                "previous_seq": previous.message.seq if previous else 0,
                "speaker": turn.speaker,
                "said_date": message.said_at.astimezone(zone).date().isoformat(),
            },
            ttl_seconds=ttl_seconds,
            importance=IMPORTANCE,
            said_at=message.said_at,
            expires_at=expiry(ttl_seconds, self._clock.now()),
            run_id=run.run_id,
            user_id=run.user_id,
            sources=(Source(session_id=run.session_id, seq=message.seq),),
        )

    def _embedded(self, batch: Sequence[tuple[MemoryDraft, str]]) -> list[MemoryDraft]:
        """Add vectors; without a model the turns are found by their words alone."""
        if not self._embedder.name:
            return [draft for draft, _ in batch]
        try:
            vectors = self._embedder.embed([text for _, text in batch])
        except InferenceUnavailableError as error:
            logger.warning("episodes.not_embedded", extra={"code": error.code})
            return [draft for draft, _ in batch]
        return [
            replace(draft, embedding=vector, embedding_model=self._embedder.name)
            for (draft, _), vector in zip(batch, vectors, strict=True)
        ]


def turns_of(messages: Sequence[Message]) -> list[Turn]:
    """Return what people and agents said to each other; tools, events and system prompts are no turns."""
    return [
        Turn(message=message, speaker=message.name or message.role.value, text=text)
        for message in messages
        if message.kind is Kind.CHAT and message.role in SPEAKERS and (text := _spoken(message))
    ]


def embedding_text(turn: Turn, previous: Turn | None) -> str:
    """Return what is embedded for a turn."""
    if previous is None:
        return turn.line
    return f"{previous.speaker}: {previous.text[-MAX_PREVIOUS_CHARS:]}\n{turn.line}"


def _spoken(message: Message) -> str:
    content = message.content
    if isinstance(content, tuple):
        content = "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))
    text = (content or "").strip()
    return text if len(text) <= MAX_TURN_CHARS else text[:MAX_TURN_CHARS].rstrip() + CUT


def _batches(drafts: Sequence[tuple[MemoryDraft, str]]) -> Iterator[Sequence[tuple[MemoryDraft, str]]]:
    return (drafts[start : start + BATCH] for start in range(0, len(drafts), BATCH))
