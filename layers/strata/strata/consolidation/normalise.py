"""Step 4, normalise: every field of a candidate filled and within its bounds, or the candidate dropped.

Type and life come from the category unless the judge named a type that exists. What is about a person leaves the
agent's layer for the user's. What only a tool or another agent said is set aside if it tells a model what to do, and
dropped if it does not.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from strata.config import Consolidation
from strata.consolidation.conversation import Conversation
from strata.consolidation.fields import tidy
from strata.consolidation.personal import is_personal
from strata.consolidation.proposals import Proposal, key_of
from strata.consolidation.shorten import shortened
from strata.consolidation.validate import UNTRUSTED
from strata.dedup.fingerprint import fingerprint
from strata.model.memories import Candidate, Category, MemoryType, Scope, Source
from strata.model.runs import Run
from strata.policy.names import agent_layer, user_layer
from strata.policy.retention import MAX_TTL_SECONDS

DEFAULT_TYPES: Mapping[Category, str] = {
    Category.SAFETY: "user_preference",
    Category.PREFERENCE: "user_preference",
    Category.DECISION: "adopted_decision",
    Category.COLLABORATION: "collaboration_rule",
    Category.TEMPORARY: "temporary_constraint",
}
RESERVED = frozenset({"episode"})
"""Types that no judge writes."""
INSTRUCTS = "instructs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalised:
    """What is left of the candidates, and how many were left out, by reason."""

    proposals: tuple[Proposal, ...]
    dropped: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """What may not be stored as it stands."""

    redact: Callable[[str], str]
    """Return a text without the secrets in it."""
    instructs: Callable[[str], bool]
    """Tell whether a text tells a model what to do."""


class Normalise:
    """Step 4."""

    def __init__(self, settings: Consolidation, screen: Screen, types: Callable[[], Mapping[str, MemoryType]]) -> None:
        self._settings = settings
        self._screen = screen
        self._types = types

    def __call__(
        self, run: Run, conversation: Conversation, candidates: Iterable[Candidate], *, now: datetime
    ) -> Normalised:
        """Return the proposals of a run, in the order in which they were said."""
        desk = _Desk(run, conversation, self._settings, self._screen, self._types(), now)
        found = [desk.examine(candidate) for candidate in candidates]
        proposals = {item.key: item for item in found if isinstance(item, Proposal)}
        dropped = Counter(item for item in found if isinstance(item, str))
        return Normalised(
            proposals=tuple(sorted(proposals.values(), key=lambda item: item.order)), dropped=dict(dropped)
        )


class _Desk:
    """One run's candidates."""

    def __init__(
        self,
        run: Run,
        conversation: Conversation,
        settings: Consolidation,
        screen: Screen,
        types: Mapping[str, MemoryType],
        now: datetime,
    ) -> None:
        self._run = run
        self._said_at = {message.seq: message.said_at for message in conversation.messages}
        self._names = _names_in_use(run, conversation)
        self._settings = settings
        self._screen = screen
        self._types = types
        self._now = now

    def examine(self, candidate: Candidate) -> Proposal | str:
        """Return the proposal, or the reason for dropping the candidate."""
        content = shortened(tidy(self._screen.redact(candidate.content)), self._settings.max_memory_chars)
        quarantine = self._quarantine(candidate, content)
        if not any(letter.isalnum() for letter in content):
            return "empty"
        if candidate.importance < self._settings.min_importance:
            return "unimportant"
        if candidate.rule == UNTRUSTED and not quarantine:
            return "untrusted"
        said_at = self._when(candidate)
        memory_type = self._type(candidate)
        ttl_seconds = self._life(candidate, memory_type, said_at)
        if ttl_seconds is None:
            return "expired"
        return self._proposal(candidate, content, memory_type, ttl_seconds, said_at, quarantine)

    def _proposal(
        self,
        candidate: Candidate,
        content: str,
        memory_type: str,
        ttl_seconds: int,
        said_at: datetime,
        quarantine: str,
    ) -> Proposal:
        collection = self._collection(candidate, content)
        return Proposal(
            key=key_of(self._run, collection, memory_type, candidate.source_seqs, content),
            collection=collection,
            memory_type=memory_type,
            content=content,
            fingerprint=fingerprint(content),
            category=candidate.category,
            importance=min(candidate.importance, 10),
            ttl_seconds=ttl_seconds,
            standing=candidate.standing or candidate.safety,
            safety=candidate.safety,
            said_at=said_at,
            sources=tuple(Source(session_id=self._run.session_id, seq=seq) for seq in candidate.source_seqs),
            confidence=candidate.confidence,
            rule=candidate.rule,
            evidence=candidate.evidence,
            metadata=self._metadata(candidate, collection, said_at),
            quarantine=quarantine,
        )

    def _metadata(self, candidate: Candidate, collection: str, said_at: datetime) -> dict[str, object]:
        """What a reader may filter by; an agent's memory names no user."""
        whose = {"user_id": self._run.user_id} if collection == user_layer(self._run.user_id) else {}
        return {
            **candidate.tags,
            **whose,
            "source": "consolidation",
            "category": candidate.category.value,
            "confidence": candidate.confidence,
            "timestamp": said_at.isoformat(),
        }

    def _quarantine(self, candidate: Candidate, content: str) -> str:
        """Only the user may set rules; a sub-agent's session has no user in it."""
        untrusted = candidate.rule == UNTRUSTED or self._run.session_id.startswith("agent:")
        return INSTRUCTS if untrusted and self._screen.instructs(content) else ""

    def _when(self, candidate: Candidate) -> datetime:
        """When it was said; a clock ahead of ours must not make a statement win for ever."""
        times = [self._said_at[seq] for seq in candidate.source_seqs if seq in self._said_at]
        said_at = candidate.said_at or max(times, default=self._now)
        return min(said_at, self._now)

    def _type(self, candidate: Candidate) -> str:
        named = candidate.memory_type
        if named is not None and named in self._types and named not in RESERVED:
            return named
        return DEFAULT_TYPES[candidate.category]

    def _life(self, candidate: Candidate, memory_type: str, said_at: datetime) -> int | None:
        """Seconds to live from now; a life that the judge gave is counted from when it was said."""
        if candidate.ttl_seconds is None:
            life = self._types[memory_type].ttl_seconds
            temporary = self._types["temporary_constraint"].ttl_seconds
            return life or (temporary if candidate.category is Category.TEMPORARY else 0)
        left = candidate.ttl_seconds - int((self._now - said_at).total_seconds())
        return min(left, MAX_TTL_SECONDS) if left > 0 else None

    def _collection(self, candidate: Candidate, content: str) -> str:
        shared = candidate.scope is Scope.AGENT and not candidate.safety
        if shared and not is_personal(content, self._names):
            return agent_layer(self._run.agent_id)
        return user_layer(self._run.user_id)


def _names_in_use(run: Run, conversation: Conversation) -> Sequence[str]:
    return [run.user_id, *{message.name for message in conversation.messages if message.name}]
