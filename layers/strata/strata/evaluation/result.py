"""The result as a document, and its files: ``result.json`` for programs, ``report.html`` for people."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strata import __version__
from strata.errors import InputError
from strata.evaluation import page
from strata.evaluation.report import Curves, Table
from strata.evaluation.runner import Outcome

RESULT_FILE = "result.json"
PAGE_FILE = "report.html"
DIGITS = 6


def document(outcome: Outcome) -> dict[str, Any]:
    """Return everything that names a result, and the result."""
    options, report = outcome.options, outcome.report
    return {
        "task": outcome.task,
        "provider": options.provider,
        "data": options.data.name if options.data else "",
        "data_sha256": options.data.sha256 if options.data else "",
        "extra": options.extra.name if options.extra else "",
        "extra_sha256": options.extra.sha256 if options.extra else "",
        "embedder": outcome.embedder or "none",
        "judge": "none",
        "model": "none",
        **report.facts,
        "k": list(options.cutoffs),
        "budget": list(options.budgets),
        "seed": options.seed,
        "limit": options.limit,
        **options.more,
        "strata": __version__,
        "continued": outcome.is_continued,
        "metrics": {name: _rounded(value) for name, value in report.metrics.items()},
        "intervals": {name: [_rounded(low), _rounded(high)] for name, (low, high) in report.intervals.items()},
        "counts": dict(report.counts),
        "tables": [_table(table) for table in report.tables],
        "plots": {
            plot.title: {name: [list(point) for point in line] for name, line in plot.lines.items()}
            for plot in report.plots
            if isinstance(plot, Curves)
        },
        "notes": list(report.notes),
    }


def write(outcome: Outcome, folder: Path) -> tuple[Path, Path]:
    """Write both files and return where they are; each is whole or not there. Raises InputError."""
    result = document(outcome)
    text = json.dumps(result, ensure_ascii=False, indent=2) + "\n"
    return (
        _written(folder / RESULT_FILE, text),
        _written(folder / PAGE_FILE, page.rendered(result, outcome.report)),
    )


def _written(path: Path, text: str) -> Path:
    unfinished = path.with_suffix(path.suffix + ".new")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None
    return path


def _table(table: Table) -> Mapping[str, Any]:
    return {"title": table.title, "columns": list(table.columns), "rows": [list(row) for row in table.rows]}


def _rounded(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(value)
    return round(value, DIGITS)
