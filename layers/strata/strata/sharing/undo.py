"""Undoing everything one run wrote, or one agent since an instant. The plan is shown first; applying it repeats safely.

Each memory goes back to what it was before the first of those changes, by a new version; old ones come back before new
ones go, so that no topic is empty in between. A memory that somebody else has changed since is left alone and named:
what was built on the change is not this undo's to destroy. What an external provider was given is noted for removal,
and what a run set aside for review, and still waits, is withdrawn.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from strata.clock import Clock
from strata.errors import ConflictError, ForbiddenError, NotFoundError
from strata.model.memories import ChangeKind, Memory, MemoryStatus, MemoryVersion
from strata.model.quarantine import ReviewState
from strata.model.runs import Retirement
from strata.policy.names import derived_id
from strata.ports import Access, Archive, CopyLedger, MemoryEdit, MemoryStore, QuarantineStore
from strata.sharing.edits import going_back

_DEAD_AFTER = {ChangeKind.DELETE, ChangeKind.UNDO, ChangeKind.SUPERSEDE}
CHANGED_SINCE = "changed_since"
GONE = "gone"
SUCCESSOR_STAYS = "successor_stays"

Embedded = Callable[[str], tuple[bytes | None, str]]
"""From a text to its vector and the model that made it."""


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
    leaving: tuple[str, ...] = ()
    """Memories at an external provider; their removal is noted when the undo is applied, and done by reconcile."""
    withdrawn: tuple[str, ...] = ()
    """Texts in quarantine that nobody will be asked about any more."""

    @property
    def left(self) -> tuple[str, ...]:
        """The memories that are left alone."""
        return tuple(memory_id for memory_id, _why in self.kept)


class Undo:
    """Plans and applies undos; for administrators and the product's own jobs."""

    def __init__(
        self,
        memories: MemoryStore,
        archive: Archive,
        copies: CopyLedger,
        quarantine: QuarantineStore,
        embedded: Embedded,
        clock: Clock,
    ) -> None:
        self._memories = memories
        self._archive = archive
        self._copies = copies
        self._quarantine = quarantine
        self._embedded = embedded
        self._clock = clock

    def of_run(self, access: Access, run_id: str, *, dry_run: bool = True) -> UndoPlan:
        """Undo what a run wrote; nothing, if it wrote nothing. Raises ForbiddenError."""
        _require_admin(access)
        texts = self._quarantine.waiting_of_run(access.tenant, run_id)
        if not dry_run:  # first of all: a text that a person has just released is among the versions
            texts = [text for text in texts if self._withdraw(access, text)]
        versions = self._memories.of_run(access.tenant, run_id)
        copies = self._copies.of_run(access.tenant, run_id)
        plan = self._undo(access, versions, copies, f"undo of run {run_id}", dry_run=dry_run)
        return replace(plan, withdrawn=tuple(texts))

    def of_agent(self, access: Access, agent_id: str, since: datetime, *, dry_run: bool = True) -> UndoPlan:
        """Undo what an agent wrote since an instant, itself or by its runs. Raises ForbiddenError."""
        _require_admin(access)
        versions = self._archive.of_agent(access.tenant, agent_id, since=since)
        copies = self._copies.of_agent(access.tenant, agent_id, since=since)
        reason = f"undo of agent {agent_id} since {since.isoformat()}"
        return self._undo(access, versions, copies, reason, dry_run=dry_run)

    def _undo(
        self,
        access: Access,
        versions: Sequence[MemoryVersion],
        copies: Sequence[Retirement],
        reason: str,
        *,
        dry_run: bool,
    ) -> UndoPlan:
        ids = sorted({version.memory_id for version in versions})
        now = self._clock.now()
        found = self._archive.records(access.tenant, ids)
        records = {one.memory_id: one for one in found if one.expires_at is None or one.expires_at > now}
        plan = plan_undo(versions, self._archive.histories(access.tenant, ids), records, reason)
        plan = replace(plan, leaving=tuple(copy.memory_id for copy in copies))
        if dry_run:
            return plan
        self._copies.remove_later(copies, now=now)
        return self._applied(access, plan)

    def _withdraw(self, access: Access, quarantine_id: str) -> bool:
        """Keep a text out; False if a person was faster, or its time was over."""
        now = self._clock.now()
        try:
            self._quarantine.decide(access.tenant, quarantine_id, ReviewState.WITHDRAWN, actor=access.agent_id, now=now)
        except (ConflictError, NotFoundError):
            return False
        return True

    def _applied(self, access: Access, plan: UndoPlan) -> UndoPlan:
        """Apply a plan; a memory that went away since it was made is left."""
        done, kept = [], list(plan.kept)
        for step in plan.steps:
            try:
                self._apply(access, step, plan.reason)
            except NotFoundError:
                kept.append((step.memory_id, GONE))
            else:
                done.append(step)
        return replace(plan, steps=tuple(done), kept=tuple(kept), applied=len(done))

    def _apply(self, access: Access, step: UndoStep, reason: str) -> None:
        self._memories.edit(access, step.collection, self._edit(step, reason), now=self._clock.now())

    def _edit(self, step: UndoStep, reason: str) -> MemoryEdit:
        key = derived_id(reason, step.memory_id, str(step.from_version))
        if step.target is None or step.change is ChangeKind.UNDO:
            return MemoryEdit(memory_id=step.memory_id, change=step.change, reason=reason, key=key)
        edit = going_back(step.target, step.change, self._embedded(step.target.content), reason=reason, key=key)
        return replace(edit, memory_type=step.target.memory_type)


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
    staying = {memory_id for memory_id, _why in kept}
    for step in [step for step in steps if _is_succeeded(records[step.memory_id], step, staying)]:
        steps.remove(step)
        kept.append((step.memory_id, SUCCESSOR_STAYS))
    steps.sort(key=lambda step: step.change is ChangeKind.UNDO)
    return UndoPlan(steps=tuple(steps), kept=tuple(kept), reason=reason)


def _is_succeeded(memory: Memory, step: UndoStep, staying: Collection[str]) -> bool:
    """Tell whether a memory would come back beside the one that took its place."""
    return step.change is ChangeKind.RESTORE and memory.superseded_by in staying


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
