"""Undoing everything one run wrote, or one agent since an instant. The plan is shown first; applying it repeats safely.

Each memory goes back to what it was before the first of those changes, by a new version. A memory that somebody else
has changed since is left alone and named: what was built on the change is not this undo's to destroy.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from strata.clock import Clock
from strata.dedup.fingerprint import fingerprint
from strata.errors import ForbiddenError, NotFoundError
from strata.model.memories import ChangeKind, Memory, MemoryStatus, MemoryVersion
from strata.policy.names import derived_id
from strata.ports import Access, Archive, MemoryEdit, MemoryStore
from strata.sharing.library import Library

_DEAD_AFTER = {ChangeKind.DELETE, ChangeKind.UNDO, ChangeKind.SUPERSEDE}
CHANGED_SINCE = "changed_since"
GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoStep:
    """One memory: what is done to it, and the version it goes back to (0 = it was not there)."""

    memory_id: str
    collection: str
    change: ChangeKind
    from_version: int
    target: MemoryVersion | None

    @property
    def to_version(self) -> int:
        """The version whose state comes back; 0 = none."""
        return self.target.version if self.target else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoPlan:
    """What an undo does, and the memories it leaves alone with the reason."""

    steps: tuple[UndoStep, ...]
    kept: tuple[tuple[str, str], ...]
    reason: str
    applied: int = 0


class Undo:
    """Plans and applies undos; for administrators and the product's own jobs."""

    def __init__(self, library: Library, memories: MemoryStore, archive: Archive, clock: Clock) -> None:
        self._library = library
        self._memories = memories
        self._archive = archive
        self._clock = clock

    def of_run(self, access: Access, run_id: str, *, dry_run: bool = True) -> UndoPlan:
        """Undo what a run wrote. Raises ForbiddenError; NotFoundError if it wrote nothing."""
        _require_admin(access)
        versions = self._memories.of_run(access.tenant, run_id)
        if not versions:
            raise NotFoundError
        return self._undo(access, versions, f"undo of run {run_id}", dry_run=dry_run)

    def of_agent(self, access: Access, agent_id: str, since: datetime, *, dry_run: bool = True) -> UndoPlan:
        """Undo what an agent wrote since an instant. Raises ForbiddenError."""
        _require_admin(access)
        versions = self._archive.of_agent(access.tenant, agent_id, since=since)
        reason = f"undo of agent {agent_id} since {since.isoformat()}"
        return self._undo(access, versions, reason, dry_run=dry_run)

    def _undo(self, access: Access, versions: Sequence[MemoryVersion], reason: str, *, dry_run: bool) -> UndoPlan:
        ids = sorted({version.memory_id for version in versions})
        now = self._clock.now()
        found = self._archive.records(access.tenant, ids)
        records = {one.memory_id: one for one in found if one.expires_at is None or one.expires_at > now}
        plan = plan_undo(versions, self._archive.histories(access.tenant, ids), records, reason)
        if dry_run:
            return plan
        applied = sum(self._apply(access, step, reason) for step in plan.steps)
        return UndoPlan(steps=plan.steps, kept=plan.kept, reason=reason, applied=applied)

    def _apply(self, access: Access, step: UndoStep, reason: str) -> bool:
        edit = self._edit(step, reason)
        return self._memories.edit(access, step.collection, edit, now=self._clock.now()).created

    def _edit(self, step: UndoStep, reason: str) -> MemoryEdit:
        key = derived_id(reason, step.memory_id, str(step.from_version))
        if step.target is None or step.change is ChangeKind.UNDO:
            return MemoryEdit(memory_id=step.memory_id, change=step.change, reason=reason, key=key)
        target = step.target
        embedding, model = self._library.embedded(target.content)
        return MemoryEdit(
            memory_id=step.memory_id,
            change=step.change,
            content=target.content,
            fingerprint=fingerprint(target.content),
            metadata=target.metadata,
            embedding=embedding,
            embedding_model=model,
            said_at=target.said_at,
            standing=target.standing,
            safety=target.safety,
            importance=target.importance,
            memory_type=target.memory_type,
            rolled_back_to=target.version,
            reason=reason,
            key=key,
        )


def plan_undo(
    versions: Iterable[MemoryVersion],
    histories: Mapping[str, Sequence[MemoryVersion]],
    records: Mapping[str, Memory],
    reason: str,
) -> UndoPlan:
    """Decide, memory by memory, what takes the given versions back. Pure."""
    steps: list[UndoStep] = []
    kept: list[tuple[str, str]] = []
    ordered = sorted(versions, key=lambda version: (version.memory_id, version.version))
    for memory_id, group in groupby(ordered, key=lambda version: version.memory_id):
        decided = _step(records.get(memory_id), histories.get(memory_id, ()), {one.version for one in group})
        if isinstance(decided, UndoStep):
            steps.append(decided)
        elif decided:
            kept.append((memory_id, decided))
    return UndoPlan(steps=tuple(steps), kept=tuple(kept), reason=reason)


def _step(memory: Memory | None, history: Sequence[MemoryVersion], undone: set[int]) -> UndoStep | str:
    if memory is None:
        return GONE
    since = [version for version in history if version.version >= min(undone)]
    if since[-1].change is ChangeKind.UNDO or _is_taken_back(since, undone):
        return ""  # an earlier undo did it
    if any(version.version not in undone for version in since):
        return CHANGED_SINCE
    earlier = [version for version in history if version.version < min(undone)]
    target = earlier[-1] if earlier else None
    change = _change(memory, target)
    if change is ChangeKind.UNDO and memory.status is not MemoryStatus.ACTIVE:
        return ""  # it is out of sight already
    return UndoStep(
        memory_id=memory.memory_id,
        collection=memory.collection,
        change=change,
        from_version=memory.version,
        target=target,
    )


def _is_taken_back(since: Sequence[MemoryVersion], undone: set[int]) -> bool:
    last = since[-1]
    return last.version not in undone and last.rolled_back_to is not None and last.rolled_back_to < min(undone)


def _change(memory: Memory, target: MemoryVersion | None) -> ChangeKind:
    if target is None or target.change in _DEAD_AFTER:
        return ChangeKind.UNDO
    return ChangeKind.ROLLBACK if memory.status is MemoryStatus.ACTIVE else ChangeKind.RESTORE


def _require_admin(access: Access) -> None:
    if not (access.admin or access.system):
        raise ForbiddenError
