"""Taking back everything a run did, as a unit, by new versions: nothing is erased, every step can itself be restored.

Which memory goes and which comes back is decided where memories are shared, for a run as for an agent; here a run is
looked up, and marked when it is done. What somebody else has changed since is left to them, and the answer names it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from strata.errors import NotFoundError, RunStateError
from strata.model.runs import Run, RunState
from strata.ports import Access, RunStore


class TakenBack(Protocol):
    """What was done to the memories of a run, by their ids."""

    @property
    def removed(self) -> tuple[str, ...]:
        """Written by the run, and gone."""

    @property
    def restored(self) -> tuple[str, ...]:
        """Changed by the run, and as they were before."""

    @property
    def left(self) -> tuple[str, ...]:
        """Changed by somebody else since, or gone: not touched."""

    @property
    def leaving(self) -> tuple[str, ...]:
        """At an external provider; their removal is noted and done by reconcile. What they replaced there is lost."""


TakeBack = Callable[[Access, str], TakenBack]
"""Takes back what the run of this id wrote; repeating it finishes what a crash left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What an undo did, by memory id (see ``TakenBack``)."""

    run: Run
    removed: tuple[str, ...]
    restored: tuple[str, ...]
    left: tuple[str, ...]
    leaving: tuple[str, ...]


class Undo:
    """Takes a run back."""

    def __init__(self, runs: RunStore, take_back: TakeBack) -> None:
        self._runs = runs
        self._take_back = take_back

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
        taken = self._take_back(access, run_id)
        return Undone(
            run=self._runs.mark_undone(access.tenant, run_id),
            removed=taken.removed,
            restored=taken.restored,
            left=taken.left,
            leaving=taken.leaving,
        )
