"""Warm indexes of collections: loaded once, then changed memory by memory as the database says what changed.

An index holds what every reader may see; rights are the database's business, asked at each search.
"""

import math
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime

from strata.model.memories import Memory, MemoryStatus
from strata.ports import CollectionView, Embedder, MemoryStore
from strata.ranking.shelf import Entry, Shelf, Tag

EPISODE = "episode"
MOST_NOTED = 100
"""Own writes that an index which nobody searches puts up with; it reads them when somebody does."""

UNKNOWN = -1
"""Where an index stands that is not kept."""

Key = tuple[str, str]
"""Tenant and collection."""


class CollectionIndex:
    """The shelves of one collection, one per memory type, as of a change counter.

    Every write raises the counter by one. Where it has risen by as much as this process has written since, there is
    nothing else to read.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._dimensions = 0
        self._shelves: dict[str, Shelf] = {}
        self._memories: dict[str, Memory] = {}
        self._said: dict[tuple[str, str], int] = {}
        """How many memories have a type and a fingerprint."""
        self._change_seq = 0
        self._purged_seq = 0
        self._written: list[Memory] = []
        """By this process, since the counter stood where it stands here."""

    @property
    def stands_at(self) -> int:
        """Return the change counter up to which everything is here."""
        return self._change_seq

    def shelves(self, memory_types: Iterable[str]) -> list[Shelf]:
        """Return the shelves of some types, empty ones left out."""
        return [self._shelves[name] for name in memory_types if name in self._shelves]

    def memory(self, memory_id: str) -> Memory | None:
        """Return a memory as it was when the index was last brought up to date, without its vector; None if absent."""
        return self._memories.get(memory_id)

    def has(self, memory_type: str, fingerprint: str) -> bool:
        """Tell whether a memory of a type has a fingerprint, readable or not, run out or not."""
        return (memory_type, fingerprint) in self._said

    def bring_up_to(self, view: CollectionView, store: MemoryStore, key: Key, embedder: Embedder) -> None:
        """Apply what changed since the last time; start over where rows went without a trace.

        A service says how long its vectors are only when it first answers; until then there are none.
        """
        is_behind = view.purged_seq != self._purged_seq or view.change_seq < self._change_seq
        if is_behind or self._dimensions != embedder.dimensions:
            self._shelves, self._memories, self._said = {}, {}, {}
            self._change_seq, self._written = 0, []
            self._dimensions = embedder.dimensions
        if view.change_seq > self._change_seq:
            is_own = view.change_seq - self._change_seq == len(self._written)
            for memory in self._written if is_own else store.changes(*key, self._change_seq):
                self._apply(memory, embedder.name)
            self._written = []
        self._change_seq, self._purged_seq = view.change_seq, view.purged_seq

    def wrote(self, memory: Memory, since: int) -> None:
        """Note a new memory whose writer found the counter at ``since`` before; the next look puts it in its place.

        Where the index has moved on meanwhile, it may have read the memory already.
        """
        if since == self._change_seq and len(self._written) < MOST_NOTED:
            self._written.append(memory)

    def _apply(self, memory: Memory, model: str) -> None:
        old = self._memories.pop(memory.memory_id, None)
        if old is not None:
            self._shelves[old.memory_type].drop(memory.memory_id)
            self._count(old, -1)
        if memory.status is MemoryStatus.ACTIVE:
            self._shelf(memory.memory_type).put(entry_of(memory, model))
            self._count(memory, 1)
            self._memories[memory.memory_id] = replace(memory, embedding=None)

    def _count(self, memory: Memory, more: int) -> None:
        key = memory.memory_type, memory.fingerprint
        number = self._said.pop(key, 0) + more
        if number:
            self._said[key] = number

    def _shelf(self, memory_type: str) -> Shelf:
        if memory_type not in self._shelves:
            self._shelves[memory_type] = Shelf(memory_type, self._dimensions)
        return self._shelves[memory_type]


class Indexes:
    """The indexes this process keeps; the one that was not asked for the longest gives way."""

    def __init__(self, store: MemoryStore, embedder: Embedder, *, keep: int) -> None:
        self._store = store
        self._embedder = embedder
        self._keep = keep
        self._lock = threading.Lock()
        self._held: OrderedDict[Key, CollectionIndex] = OrderedDict()

    @contextmanager
    def current(self, tenant: str, views: Mapping[str, CollectionView]) -> Iterator[dict[str, CollectionIndex]]:
        """Give the up-to-date indexes of collections, locked together in one order, by name."""
        with ExitStack() as stack:
            indexes = {}
            for name in sorted(views):
                key = (tenant, name)
                indexes[name] = self._index(key)
                stack.enter_context(indexes[name].lock)
                indexes[name].bring_up_to(views[name], self._store, key, self._embedder)
            yield indexes

    def stands_at(self, tenant: str, collection: str) -> int:
        """Return how far the index of a collection is; −1 if it is not kept."""
        with self._lock:
            index = self._held.get((tenant, collection))
        return UNKNOWN if index is None else index.stands_at

    def wrote(self, memory: Memory, since: int) -> None:
        """Tell the index of a collection of a new memory; one that is being searched reads it later instead."""
        with self._lock:
            index = self._held.get((memory.tenant, memory.collection))
        if index is None or not index.lock.acquire(blocking=False):
            return
        try:
            index.wrote(memory, since)
        finally:
            index.lock.release()

    def _index(self, key: Key) -> CollectionIndex:
        with self._lock:
            index = self._held.get(key)
            if index is None:
                index = self._held[key] = CollectionIndex()
            self._held.move_to_end(key)
            while len(self._held) > self._keep:
                self._held.popitem(last=False)
            return index


def entry_of(memory: Memory, model: str) -> Entry:
    """Return what an index knows of a memory. A vector of another model is no use."""
    tags = memory.metadata
    return Entry(
        memory_id=memory.memory_id,
        text=memory.content,
        said_on=_said_on(memory),
        expires=memory.expires_at.timestamp() if memory.expires_at else math.inf,
        vector=memory.embedding if model and memory.embedding_model == model else None,
        tags=frozenset(tag for key, value in tags.items() for tag in tags_of(key, value)),
        readers=None if memory.policy.read_agents is None else frozenset(memory.policy.read_agents),
        speaker=str(tags.get("speaker") or ""),
        session_id=str(tags.get("session_id") or ""),
        seq=_number(tags.get("seq")),
        previous_seq=_number(tags.get("previous_seq")),
        dated=memory.memory_type == EPISODE,
    )


def tags_of(key: str, value: object) -> list[Tag]:
    """Return the tags that a metadata value stands for: itself, or each of its items; nested objects are none."""
    items = value if isinstance(value, (list, tuple)) else [value]
    return [(key, text) for item in items if (text := tag_text(item)) is not None]


def tag_text(value: object) -> str | None:
    """Return a plain value as it is written in a filter: texts as they are, the rest as in JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (int, float)) else None


def _said_on(memory: Memory) -> date:
    """The day in the user's zone, where the writer noted it."""
    noted = memory.metadata.get("said_date")
    try:
        return date.fromisoformat(noted) if isinstance(noted, str) else _day(memory.said_at)
    except ValueError:
        return _day(memory.said_at)


def _day(instant: datetime) -> date:
    return instant.astimezone(UTC).date()


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
