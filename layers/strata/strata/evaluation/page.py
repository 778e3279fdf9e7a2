"""The result as one HTML page: inline SVG, nothing loaded from anywhere, readable in the dark."""

from collections.abc import Mapping
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from strata.evaluation import drawing
from strata.evaluation.report import Cell, Report, Table

NAMED = ("provider", "data", "data_sha256", "embedder", "judge", "model", "k", "budget", "seed", "limit", "strata")


def rendered(result: Mapping[str, Any], report: Report) -> str:
    """Return the page of a result."""
    template = Template(files("strata.evaluation").joinpath("page.html").read_text("utf-8"))
    return template.substitute(
        title=escape(f"{result['task']} · {result['provider']}"),
        named="".join(f"<dt>{name}</dt><dd>{escape(_named(result[name]))}</dd>" for name in NAMED),
        tables="".join(_table(table) for table in report.tables),
        plots="".join(f"<figure>{drawing.drawn(plot)}</figure>" for plot in report.plots),
        metrics=_metrics(report),
        notes="".join(f"<li>{escape(note)}</li>" for note in report.notes),
    )


def shown(cell: Cell) -> str:
    """Return a cell as people read it: a float is a fraction and becomes a percentage."""
    if cell is None:
        return "–"
    return f"{100 * cell:.1f}" if isinstance(cell, float) else str(cell)


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join("<tr>" + "".join(f"<td>{escape(shown(cell))}</td>" for cell in row) + "</tr>" for row in table.rows)
    note = f"<p>{escape(table.note)}</p>" if table.note else ""
    return (
        f"<h2>{escape(table.title)}</h2><div class=wide><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>{note}"
    )


def _metrics(report: Report) -> str:
    rows = []
    for name, value in report.metrics.items():
        low, high = report.intervals.get(name, (None, None))
        interval = "" if low is None or high is None else f"{low:.4f} – {high:.4f}"
        rows.append(f"<tr><td>{escape(name)}</td><td>{value:.4f}</td><td>{interval}</td></tr>")
    return "".join(rows)


def _named(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "all" if value is None else str(value) or "–"
