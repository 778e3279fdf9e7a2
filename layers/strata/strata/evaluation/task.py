"""What a task is, and which there are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from strata.errors import InputError
from strata.evaluation.report import Report
from strata.evaluation.source import DataFile
from strata.evaluation.subject import Subject

Record = Mapping[str, Any]
"""What a step found out: a JSON object. The journal keeps it, and a report is drawn from nothing else."""

Work = Callable[[Subject, Mapping[str, Record]], Record]
"""(the measured product, the records of the steps before by id) → the record of this step. Raises StrataError."""

TASKS: dict[str, str] = {
    "locomo": "strata.evaluation.locomo:Locomo",
    "household": "strata.evaluation.household:HouseholdTask",
    "isolation": "strata.evaluation.isolation:IsolationTask",
    "lag": "strata.evaluation.lag:LagTask",
    "madial": "strata.evaluation.madial:Madial",
    "memorybank": "strata.evaluation.memorybank:MemoryBank",
    "pairs": "strata.evaluation.pairs:PairsTask",
}
"""Task name → where its class is; a class takes no arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The settings of one evaluation. Any change of them starts it anew."""

    provider: str = "native"
    """``native``, ``memos``, ``mem0``, or ``none`` for no long-term memory at all."""
    limit: int | None = None
    """Most items of the data (a task says of what), the first ones; None = all."""
    cutoffs: tuple[int, ...] = (5, 10, 20)
    budgets: tuple[int, ...] = (150, 300, 600, 1_200, 2_400)
    seed: int = 1
    data: DataFile | None = None
    extra: DataFile | None = None
    """A second file where a task takes one: gold evidence, memories."""
    model: str = ""
    """The configured chat model; with one, tasks that can also have answers given and judged."""
    more: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One piece of work that is done once. Its id names it in the journal and is the same in every start."""

    id: str
    kind: str
    """What it is one of: ``sessions``, ``questions``, …; a progress bar counts each kind."""
    work: Work


class Task(Protocol):
    """One way to measure. A task holds no state between its calls."""

    needs_data: bool
    """Whether it cannot be run without a data file."""
    needs_subject: bool
    """Whether it measures the running product; pure decisions need none."""

    def plan(self, options: Options) -> Sequence[Step]:
        """Return the steps in the order of work; nothing is asked of the product yet. Raises InputError."""
        ...

    def report(self, options: Options, records: Mapping[str, Record]) -> Report:
        """Draw the report from the records of all steps, by id. Pure."""
        ...


@runtime_checkable
class Paired(Protocol):
    """A task whose data comes in two files that lie beside each other."""

    def companion(self, data: DataFile) -> Path | None:
        """Return where the second file would be, given the first; None if its name does not tell."""
        ...


def task_named(name: str) -> Task:
    """Return a task. Raises InputError."""
    if name not in TASKS:
        raise InputError(f"There is no task {name!r}.", hint=f"Tasks: {', '.join(sorted(TASKS))}.")
    module, attribute = TASKS[name].split(":")
    task: Task = getattr(import_module(module), attribute)()
    return task
