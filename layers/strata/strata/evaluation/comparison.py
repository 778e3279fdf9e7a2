"""The same task with several providers, side by side. What cannot be reached is left out, and said so."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from strata.errors import ConfigurationError, InputError, StrataError
from strata.evaluation import result, subject
from strata.evaluation.report import Cell, Curves, Distribution, Report, Table
from strata.evaluation.runner import Outcome, Place, Watch, evaluate
from strata.evaluation.subject import Subject
from strata.evaluation.task import Options, task_named

REMOTE = frozenset({"memos", "mem0"})
PROBE_MS, PROBES = 5_000, 3
"""One late answer does not make a provider absent."""
UNREACHABLE = frozenset(
    "provider_unavailable provider_timeout provider_rejected provider_protocol circuit_open deadline_exceeded".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What came of each provider."""

    task: str
    outcomes: Mapping[str, Outcome]
    left_out: Mapping[str, str]
    """Provider → why."""


def compared(name: str, options: Options, providers: Sequence[str], place: Place, watch: Watch) -> Comparison:
    """Run a task with each provider; each has a folder, and so a journal, of its own.

    Raises:
        InputError: the task does not depend on a provider, or as ``evaluate`` says.
        StrataError: a provider that could be reached failed midway.
    """
    if not task_named(name).needs_subject:
        raise InputError(f"The task {name} does not depend on a provider.", hint=f"strata eval {name}")
    outcomes, left_out = {}, {}
    for provider in dict.fromkeys(providers):
        why = _why_not(provider, place)
        if why:
            left_out[provider] = why
            continue
        own = replace(place, out=place.out / provider if place.out else None)
        outcomes[provider] = evaluate(name, replace(options, provider=provider), own, watch)
        if own.out:
            result.write(outcomes[provider], own.out)
    return Comparison(task=name, outcomes=outcomes, left_out=left_out)


def report(comparison: Comparison) -> Report:
    """Return one table of all numbers, and the plots over one another."""
    outcomes = comparison.outcomes
    names = dict.fromkeys(name for outcome in outcomes.values() for name in outcome.report.metrics)
    rows = [_row(name, outcomes) for name in names]
    absent = [Table(title="Left out", columns=("provider", "why"), rows=list(comparison.left_out.items()))]
    notes = dict.fromkeys(note for outcome in outcomes.values() for note in outcome.report.notes)
    return Report(
        metrics={f"{p}.{name}": value for p, one in outcomes.items() for name, value in one.report.metrics.items()},
        counts={f"{p}.{name}": value for p, one in outcomes.items() for name, value in one.report.counts.items()},
        tables=[
            Table(title=f"{comparison.task}, by provider", columns=("", *outcomes), rows=rows),
            *(absent if comparison.left_out else []),
        ],
        plots=_plots(outcomes),
        notes=[*notes, *(f"{name} was left out: {why}" for name, why in comparison.left_out.items())],
    )


def document(comparison: Comparison, whole: Report) -> dict[str, Any]:
    """Return the result: what the evaluations have in common, the numbers of each, and what was left out."""
    each = {name: result.document(outcome) for name, outcome in comparison.outcomes.items()}
    common = next(iter(each.values()), {})
    named = {key: common.get(key) for key in NAMED}
    return {
        "task": comparison.task,
        "provider": ", ".join(each) or "none could be reached",
        **named,
        "left_out": dict(comparison.left_out),
        "metrics": dict(whole.metrics),
        "counts": dict(whole.counts),
        "providers": each,
        "notes": list(whole.notes),
    }


NAMED = ("data", "data_sha256", "embedder", "judge", "model", "k", "budget", "seed", "limit", "strata")


def _why_not(provider: str, place: Place) -> str:
    """Return why a provider cannot be measured; empty if it can. Only services of their own are asked."""
    if provider not in REMOTE:
        return ""
    try:
        with tempfile.TemporaryDirectory(prefix="strata-probe-") as folder, _opened(place, folder, provider) as probed:
            failures = [_failure(probed) for _ in range(PROBES)]
    except ConfigurationError as error:
        return f"{error.message} {error.hint or ''}".strip()
    except StrataError as error:
        return f"{error.code}: {error.message}"
    return f"It does not answer ({failures[0]})." if all(failures) else ""


def _failure(probed: Subject) -> str:
    """Ask once and return the code under which the provider failed; empty if it answered."""
    loaded = probed.agent("probe").load_context(
        probed.scoped("probe"), probed.scoped("nobody"), "Is anybody there?", deadline_ms=PROBE_MS
    )
    return next((one["code"] for one in loaded.degraded if one["code"] in UNREACHABLE), "")


def _opened(place: Place, folder: str, provider: str) -> Any:  # noqa: ANN401 either context manager
    if place.endpoint:
        return subject.remote(place.endpoint, place.key, "probe", provider)
    return subject.private(Path(folder), "probe", provider)


def _row(name: str, outcomes: Mapping[str, Outcome]) -> list[Cell]:
    values = [outcome.report.metrics.get(name) for outcome in outcomes.values()]
    return [name, *(None if value is None else f"{value:.4f}".rstrip("0").rstrip(".") for value in values)]


def _plots(outcomes: Mapping[str, Outcome]) -> list[Curves | Distribution]:
    """Plots of one title become one plot, each line under its provider's name."""
    found: dict[str, Curves | Distribution] = {}
    for provider, outcome in outcomes.items():
        for plot in outcome.report.plots:
            found[plot.title] = _joined(found.get(plot.title), plot, provider)
    return list(found.values())


def _joined(before: Curves | Distribution | None, plot: Curves | Distribution, provider: str) -> Curves | Distribution:
    if isinstance(plot, Curves):
        lines = dict(before.lines) if isinstance(before, Curves) else {}
        return replace(plot, lines=lines | {f"{provider}: {name}": line for name, line in plot.lines.items()})
    values = dict(before.values) if isinstance(before, Distribution) else {}
    return replace(plot, values=values | {f"{provider}: {name}": some for name, some in plot.values.items()})
