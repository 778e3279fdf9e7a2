"""Runs a task: its steps in order, each once, then its report."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from strata import __version__
from strata.errors import InputError
from strata.evaluation import source, subject
from strata.evaluation.journal import Journal
from strata.evaluation.report import Report
from strata.evaluation.subject import Subject
from strata.evaluation.task import Options, Paired, Step, Task, task_named

JOURNAL_FILE = "journal.jsonl"
STACK_FOLDER = "stack"

Watch = Callable[[str, int, int], None]
"""(kind of step, how many are done, how many there are): told at the start of each kind and after each step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the product is, and where results go."""

    endpoint: str = ""
    """A running service; empty = a private stack."""
    key: str = ""
    out: Path | None = None
    """Folder of journal, result and, for a private stack, what it stores; None = nothing is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A finished evaluation."""

    task: str
    options: Options
    report: Report
    embedder: str
    is_continued: bool
    """Whether it took up the work of an earlier start."""


def evaluate(name: str, options: Options, place: Place, watch: Watch) -> Outcome:
    """Run a task to its end.

    Raises:
        InputError: no such task or provider, no data, or data of another shape.
        ConfigurationError: a setting is missing.
        StrataError: as the product answers, or does not.
    """
    task = task_named(name)
    if options.provider not in subject.PROVIDERS:
        raise InputError(f"There is no provider {options.provider!r}.", hint=f"One of {', '.join(subject.PROVIDERS)}.")
    if task.needs_data and options.data is None:
        raise InputError(f"The task {name} needs a data file.", hint="Give --data FILE.")
    options = _paired(task, options)
    steps = task.plan(options)
    if not steps:
        raise InputError("There is nothing to measure in this data.")
    with _journal(place, _settings(name, options, place)) as journal:
        embedder = _worked(task, steps, journal, options, place, watch)
        records = {step.id: journal.records[step.id] for step in steps}
    report = task.report(options, records)
    return Outcome(task=name, options=options, report=report, embedder=embedder, is_continued=journal.is_continued)


def _paired(task: Task, options: Options) -> Options:
    """Add the second file where it lies beside the first."""
    if options.data is None or options.extra is not None or not isinstance(task, Paired):
        return options
    beside = task.companion(options.data)
    return options if beside is None else replace(options, extra=source.read(beside))


def _worked(task: Task, steps: Sequence[Step], journal: Journal, options: Options, place: Place, watch: Watch) -> str:
    """Do what is left and return the name of the embedding model."""
    if not task.needs_subject:
        _done(steps, journal, Subject(endpoint="", key="", scope=journal.scope), watch)
        return ""
    with _subject(place, journal.scope, options.provider) as measured:
        embedder = measured.embedder_name()
        _done(steps, journal, measured, watch)
        return embedder


def _done(steps: Sequence[Step], journal: Journal, measured: Subject, watch: Watch) -> None:
    kinds = [step.kind for step in steps]
    finished = dict.fromkeys(kinds, 0)
    for step in steps:
        if finished[step.kind] == 0:
            watch(step.kind, 0, kinds.count(step.kind))
        if step.id not in journal.records:
            journal.enter(step.id, step.work(measured, journal.records))
        finished[step.kind] += 1
        watch(step.kind, finished[step.kind], kinds.count(step.kind))


@contextmanager
def _subject(place: Place, scope: str, provider: str) -> Iterator[Subject]:
    if place.endpoint:
        with subject.remote(place.endpoint, place.key, scope, provider) as measured:
            yield measured
    elif place.out is not None:
        with subject.private(place.out / STACK_FOLDER, scope, provider) as measured:
            yield measured
    else:
        with (
            tempfile.TemporaryDirectory(prefix="strata-eval-") as folder,
            subject.private(Path(folder), scope, provider) as measured,
        ):
            yield measured


def _journal(place: Place, settings: Mapping[str, Any]) -> Journal:
    if place.out is None:
        return Journal(None, settings)
    try:
        place.out.mkdir(parents=True, exist_ok=True)
        return Journal(place.out / JOURNAL_FILE, settings)
    except OSError as error:
        raise InputError(f"{place.out} cannot be written to: {error.strerror}.") from None


def _settings(name: str, options: Options, place: Place) -> Mapping[str, Any]:
    """Return what a journal belongs to."""
    return {
        "task": name,
        "provider": options.provider,
        "data_sha256": options.data.sha256 if options.data else "",
        "extra_sha256": options.extra.sha256 if options.extra else "",
        "limit": options.limit,
        "k": list(options.cutoffs),
        "budget": list(options.budgets),
        "seed": options.seed,
        "model": options.model,
        "more": dict(options.more),
        "endpoint": place.endpoint,
        "strata": __version__,
    }
