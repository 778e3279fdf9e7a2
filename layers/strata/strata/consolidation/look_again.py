"""After the writes: what did others write while this run decided?

Two sessions of a user that end together are both held against what was there before either. Each plan remembers how
far it had seen a collection. Every run looks once more after it wrote: of two at the same time the one that writes last
sees the other, whatever the timing, without a lock between them. What it finds is settled as it would have been in
turn: of a contradiction what was said later holds, of two that say the same the fuller one. A repeat changes nothing.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

from strata.consolidation.board import Relation
from strata.consolidation.lookup import access_of
from strata.consolidation.pairs import Pairs
from strata.errors import NotFoundError
from strata.model.memories import ChangeKind, Memory
from strata.model.runs import Plan, Run
from strata.observability import count, logger
from strata.policy.names import derived_id
from strata.ports import MemoryEdit, MemoryStore

MOST_PAIRS = 2_000
"""Compared at most, the latest first: some 20 ms."""


class LookAgain:
    """Settles what two runs wrote past each other in the native library."""

    def __init__(self, store: MemoryStore, pairs: Pairs) -> None:
        self._store = store
        self._pairs = pairs

    def __call__(self, run: Run, plan: Plan, written: Collection[str], *, now: datetime) -> None:
        """Hold the memories ``written`` by ``run`` against what others changed since the plan looked."""
        for collection, seen in plan.seen.items() if written else ():
            changed = self._store.changes(run.tenant, collection, seen)
            theirs = self._readable(run, _others(changed, plan, now).difference(written), now)
            ours = [memory for memory in changed if memory.memory_id in written and memory.is_live(now)]
            for one, other in _pairs(ours, theirs):
                self._settle(run, one, other, now)

    def _readable(self, run: Run, memory_ids: Collection[str], now: datetime) -> list[Memory]:
        """What the run's agent may read of it: anything else must not decide what becomes of its own."""
        return self._store.get_many(access_of(run), sorted(memory_ids), now=now) if memory_ids else []

    def _settle(self, run: Run, one: Memory, other: Memory, now: datetime) -> None:
        earlier, later = sorted((one, other), key=_order)
        found = self._pairs.compared(earlier.content, later.content)
        if _gives_way(earlier, later, found.relation):
            self._retire(run, earlier, later, found.reason, now)
        elif found.relation in {Relation.SAME, Relation.WITHIN} and _covers(earlier, later):
            self._retire(run, later, earlier, found.reason, now)

    def _retire(self, run: Run, memory: Memory, successor: Memory, reason: str, now: datetime) -> None:
        edit = MemoryEdit(
            memory_id=memory.memory_id,
            change=ChangeKind.SUPERSEDE,
            superseded_by=successor.memory_id,
            unless_said_after=max(memory.said_at, successor.said_at),
            reason=f"written at the same time; {reason}",
            run_id=run.run_id,
            key=derived_id(successor.memory_id, "overtakes", memory.memory_id),
        )
        try:
            written = self._store.edit(access_of(run), memory.collection, edit, now=now)
        except NotFoundError:
            logger.info("commit.already_retired", extra={"run_id": run.run_id, "memory_id": memory.memory_id})
        else:
            if written.created:
                count("WrittenAtTheSameTime")


def _others(changed: Sequence[Memory], plan: Plan, now: datetime) -> set[str]:
    """Return what is live of the changed, and what took the place of a memory that the plan was about to repeat.

    That one may be older than the plan, which found both: it was written, and the other not yet retired.
    """
    repeated = {write.repeats for write in plan.writes}
    successors = {memory.superseded_by for memory in changed if memory.memory_id in repeated and memory.superseded_by}
    return successors.union(memory.memory_id for memory in changed if memory.is_live(now))


def _pairs(ours: Sequence[Memory], theirs: Sequence[Memory]) -> Iterator[tuple[Memory, Memory]]:
    """Pairs of one type; a memory that was retired by one pair is not there for the next, which finds that out."""
    both = ((one, other) for one in ours for other in _latest_first(theirs) if one.memory_type == other.memory_type)
    for place, pair in enumerate(both):
        if place == MOST_PAIRS:
            return
        yield pair


def _latest_first(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=_order, reverse=True)


def _order(memory: Memory) -> tuple[datetime, str]:
    """By when it was said, then by name: whoever looks finds the same order."""
    return memory.said_at, memory.memory_id


def _gives_way(earlier: Memory, later: Memory, relation: Relation) -> bool:
    """Tell whether the later one takes its place; a safety fact stays beside what contradicts it."""
    if relation is Relation.AGAINST:
        return not earlier.safety
    return relation is Relation.BEYOND and _covers(later, earlier)


def _covers(kept: Memory, given_up: Memory) -> bool:
    """Tell whether nothing is lost with the other: what must always be said stays what must always be said."""
    return kept.policy == given_up.policy and kept.safety >= given_up.safety and kept.standing >= given_up.standing
