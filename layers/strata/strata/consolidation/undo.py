"""Taking back everything a run did, as a unit, by new versions: nothing is erased, every step can itself be restored.

Old memories come back before new ones go, so that no topic is empty in between. What somebody else has changed since
is left to them, and the answer names it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from strata.clock import Clock
from strata.errors import NotFoundError, RunStateError
from strata.model.agents import ProviderName
from strata.model.memories import ChangeKind, MemoryVersion
from strata.model.runs import Receipt, Retirement, Run, RunState
from strata.policy.names import derived_id
from strata.ports import Access, MemoryEdit, MemoryStore, RunStore

Changes = Mapping[str, list[MemoryVersion]]
"""The versions that a run wrote, by memory id, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What an undo did, by memory id."""

    run: Run
    removed: tuple[str, ...]
    restored: tuple[str, ...]
    left: tuple[str, ...]
    """Changed by somebody else since, or gone: not touched."""
    leaving: tuple[str, ...]
    """At an external provider; their removal is noted and done by reconcile. What they replaced there is lost."""


@dataclass(slots=True)
class _Outcome:
    removed: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


class Undo:
    """Takes a run back."""

    def __init__(self, runs: RunStore, store: MemoryStore, clock: Clock) -> None:
        self._runs = runs
        self._store = store
        self._clock = clock

    def __call__(self, access: Access, run_id: str) -> Undone:
        """Undo a succeeded run; repeating it finishes what a crash left.

        Raises:
            NotFoundError: no such run.
            RunStateError: it has not succeeded.
        """
        run = self._runs.get(access.tenant, run_id)
        if run is None:
            raise NotFoundError
        if run.state not in {RunState.SUCCEEDED, RunState.UNDONE}:
            raise RunStateError(f"A run that is {run.state} cannot be undone.")
        changes = _by_memory(self._store.of_run(access.tenant, run_id))
        present = self._untouched(access, changes)
        outcome = _Outcome(left=[memory_id for memory_id in _inserted(changes) if memory_id not in present])
        for memory_id in _to_restore(run, changes, present):
            self._change(access, run, changes[memory_id][-1], ChangeKind.RESTORE, outcome)
        for memory_id in present:
            self._change(access, run, changes[memory_id][-1], ChangeKind.UNDO, outcome)
        return Undone(
            run=self._runs.mark_undone(access.tenant, run_id),
            removed=tuple(outcome.removed),
            restored=tuple(outcome.restored),
            left=tuple(outcome.left),
            leaving=self._leave_providers(run),
        )

    def _untouched(self, access: Access, changes: Changes) -> set[str]:
        """Return what the run inserted and nobody has changed since."""
        now = self._clock.now()
        ids = list(_inserted(changes))
        found = self._store.get_many(access, ids, now=now) if ids else []
        return {memory.memory_id for memory in found if memory.version == changes[memory.memory_id][-1].version}

    def _change(self, access: Access, run: Run, version: MemoryVersion, change: ChangeKind, outcome: _Outcome) -> None:
        edit = MemoryEdit(
            memory_id=version.memory_id,
            change=change,
            reason=f"run {run.run_id} undone",
            run_id=run.run_id,
            key=f"{run.run_id}:{change.value}",
        )
        done = outcome.restored if change is ChangeKind.RESTORE else outcome.removed
        try:
            self._store.edit(access, version.collection, edit, now=self._clock.now())
        except NotFoundError:
            done = outcome.left
        done.append(edit.memory_id)

    def _leave_providers(self, run: Run) -> tuple[str, ...]:
        places = {write.key: write.collection for write in run.plan.writes} if run.plan is not None else {}
        noted = [
            _removal(run, receipt, places.get(receipt.key, ""))
            for receipt in run.receipts
            if receipt.provider != ProviderName.MYSQL.value and receipt.memory_id == receipt.key
        ]
        self._runs.add_retirements(None, noted, now=self._clock.now())
        return tuple(item.memory_id for item in noted)


def _removal(run: Run, receipt: Receipt, collection: str) -> Retirement:
    return Retirement(
        retirement_id=derived_id(receipt.key, "undo"),
        tenant=run.tenant,
        provider=receipt.provider,
        collection=collection,
        memory_id=receipt.memory_id,
        replaced_by="",
        run_id=run.run_id,
    )


def _by_memory(versions: Sequence[MemoryVersion]) -> Changes:
    found: defaultdict[str, list[MemoryVersion]] = defaultdict(list)
    for version in versions:
        found[version.memory_id].append(version)
    return dict(found)


def _inserted(changes: Changes) -> Iterator[str]:
    """Yield what the run inserted and left active."""
    for memory_id, versions in changes.items():
        kinds = {version.change for version in versions}
        if ChangeKind.INSERT in kinds and not kinds & {ChangeKind.SUPERSEDE, ChangeKind.UNDO}:
            yield memory_id


def _to_restore(run: Run, changes: Changes, present: set[str]) -> Iterator[str]:
    """Yield what the run superseded, unless its successor stays because somebody else has changed it."""
    became = {receipt.key: receipt.memory_id for receipt in run.receipts}
    for write in run.plan.writes if run.plan is not None else ():
        if write.repeats is None and became.get(write.key) not in present:
            continue
        for old in write.replaces:
            versions = changes.get(became.get(old, old), [])
            kinds = {version.change for version in versions}
            if ChangeKind.SUPERSEDE in kinds and not kinds & {ChangeKind.INSERT, ChangeKind.RESTORE}:
                yield versions[-1].memory_id
