"""Which memories are delivered: scored high enough, cut, in order, each fact once. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from strata.config import Context
from strata.dedup.guard import PairKind, decide
from strata.model.context import Dropped, Lane
from strata.model.memories import CollectionKind, Hit, Memory, collection_kind
from strata.model.messages import Message

EPISODE = "episode"
CUT = "…[cut]"
"""Stands where a memory was cut."""
JOINERS = "\u200d\ufe0e\ufe0f"
"""What a joined emoji that was cut in half would end with."""
ALIKE = 0.5
"""Shared characters from which two memories are compared closely."""
MAX_COMPARISONS = 40
"""Close comparisons in one load; each costs about a tenth of a millisecond."""
_LANES = {CollectionKind.USER: Lane.USER, CollectionKind.AGENT: Lane.AGENT, CollectionKind.SHARED: Lane.SHARED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A memory to be delivered if it fits, and its text as it will be delivered."""

    hit: Hit
    lane: Lane
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is left, best first, and what was dropped on the way."""

    chosen: tuple[Chosen, ...]
    dropped: tuple[Dropped, ...]


def chosen(standing: Sequence[Memory], hits: Iterable[Hit], settings: Context) -> Choice:
    """Choose: standing constraints first, then hits by score; sentences before turns of conversations."""
    constraints = [Hit(memory=memory, score=1.0, signals=("standing",)) for memory in standing]
    found = sorted(hits, key=lambda hit: (hit.memory.memory_type == EPISODE, -hit.score))
    loud = [hit for hit in found if hit.score >= settings.min_score]
    dropped = [_dropped(hit, "below_score") for hit in found if hit.score < settings.min_score]
    kept = _Distinct()
    for hit, is_constraint in [*((hit, True) for hit in constraints), *((hit, False) for hit in loud)]:
        if not kept.takes(hit, is_constraint=is_constraint):
            dropped.append(_dropped(hit, "duplicate"))
    picked = [_cut(hit, lane, settings.max_memory_chars) for hit, lane in kept.hits]
    dropped += [_dropped(one.hit, "truncated") for one in picked if one.text != one.hit.memory.content]
    return Choice(chosen=tuple(picked), dropped=tuple(dropped))


def without_window(hits: Iterable[Hit], session_id: str, window: Sequence[Message]) -> list[Hit]:
    """Leave out turns of a resumed session that its window shows anyway."""
    shown = {message.seq for message in window}
    return [hit for hit in hits if not _is_shown(hit.memory, session_id, shown)]


def _is_shown(memory: Memory, session_id: str, shown: Collection[int]) -> bool:
    where = memory.metadata
    return memory.memory_type == EPISODE and where.get("session_id") == session_id and where.get("seq") in shown


class _Distinct:
    """Collects hits, each fact once."""

    def __init__(self) -> None:
        self.hits: list[tuple[Hit, Lane]] = []
        self._ids: set[str] = set()
        self._fingerprints: set[str] = set()
        self._looks = MAX_COMPARISONS

    def takes(self, hit: Hit, *, is_constraint: bool) -> bool:
        """Add a hit unless it repeats one that is there; a constraint repeats only what has the same words."""
        memory = hit.memory
        if memory.memory_id in self._ids or memory.fingerprint in self._fingerprints:
            return False
        if not is_constraint and any(self._is_repeated(memory, other.memory) for other, _ in self.hits):
            return False
        lane = Lane.CONSTRAINT if is_constraint else _LANES[collection_kind(memory.collection)]
        self.hits.append((hit, lane))
        self._ids.add(memory.memory_id)
        self._fingerprints |= {memory.fingerprint} - {""}
        return True

    def _is_repeated(self, new: Memory, old: Memory) -> bool:
        if self._looks == 0 or EPISODE in {new.memory_type, old.memory_type}:
            return False
        if _in_common(new.content, old.content) < ALIKE:
            return False
        self._looks -= 1
        return decide(old.content, new.content).kind is PairKind.MERGE


def _cut(hit: Hit, lane: Lane, limit: int) -> Chosen:
    content = hit.memory.content
    text = content if len(content) <= limit else content[: max(0, limit - len(CUT))].rstrip(JOINERS) + CUT
    return Chosen(hit=hit, lane=lane, text=text)


def _dropped(hit: Hit, reason: str) -> Dropped:
    return Dropped(memory_id=hit.memory.memory_id, reason=reason)


def _in_common(one: str, other: str) -> float:
    ours, theirs = set(one.casefold()), set(other.casefold())
    return len(ours & theirs) / max(1, len(ours | theirs))
