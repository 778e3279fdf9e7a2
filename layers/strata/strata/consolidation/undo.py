"""Taking back everything a run did, as a unit, by new versions: nothing is erased, every step can itself be restored.

Which memory goes and which comes back is decided where memories are shared, for a run as for an agent; here a run is
looked up, and marked when it is done. What somebody else has changed since is left to them, and the answer names it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from strata.clock import Clock
from strata.errors import NotFoundError, RunStateError
from strata.model.memories import ChangeKind
from strata.model.runs import Run, RunState
from strata.ports import Access, RunStore


class TakenStep(Protocol):
    """What becomes of one memory that the run wrote."""

    @property
    def memory_id(self) -> str:
        """The memory."""

    @property
    def collection(self) -> str:
        """Where it is."""

    @property
    def change(self) -> ChangeKind:
        """``undo``: it goes; ``rollback`` and ``restore``: it is as it was before the run."""

    @property
    def from_version(self) -> int:
        """The version it has before the undo."""

    @property
    def to_version(self) -> int:
        """The version whose state comes back; 0 = it was not there."""


class TakenBack(Protocol):
    """What is done about a run, or would be."""

    @property
    def steps(self) -> Sequence[TakenStep]:
        """Memory by memory, in the order in which they are taken back."""

    @property
    def kept(self) -> Sequence[tuple[str, str]]:
        """Memories that are not touched, with the reason: changed by somebody else since, or gone."""

    @property
    def leaving(self) -> Sequence[str]:
        """At an external provider; their removal is noted and done by reconcile. What they replaced there is lost."""

    @property
    def withdrawn(self) -> Sequence[str]:
        """Texts that the run set aside for review and that still waited: nobody is asked about them any more."""


class TakeBack(Protocol):
    """Takes back what a run wrote; repeating it finishes what a crash left."""

    def __call__(self, access: Access, run_id: str, *, dry_run: bool) -> TakenBack:
        """Take it back, or with ``dry_run`` only tell what would be. Raises ForbiddenError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """The run as it is now, and what was taken back; only planned if it was not ``applied``."""

    run: Run
    taken: TakenBack
    applied: bool


class Undo:
    """Takes a run back."""

    def __init__(self, runs: RunStore, take_back: TakeBack, clock: Clock) -> None:
        self._runs = runs
        self._take_back = take_back
        self._clock = clock

    def __call__(self, access: Access, run_id: str, *, dry_run: bool = False) -> Undone:
        """Undo a succeeded run; repeating it finishes what a crash left. With ``dry_run`` nothing is written.

        Raises:
            ForbiddenError: administrators only.
            NotFoundError: no such run.
            RunStateError: it has not succeeded.
        """
        run = self._runs.get(access.tenant, run_id)
        if run is None:
            raise NotFoundError
        if run.state not in {RunState.SUCCEEDED, RunState.UNDONE}:
            raise RunStateError(f"A run that is {run.state} cannot be undone.")
        taken = self._take_back(access, run_id, dry_run=dry_run)
        if not dry_run:
            run = self._runs.mark_undone(access.tenant, run_id, actor=access.agent_id, now=self._clock.now())
        return Undone(run=run, taken=taken, applied=not dry_run)
