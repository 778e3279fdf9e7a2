"""Numbers and tables of decided pairs."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from strata.evaluation.report import Cell, Interval, Report, Table
from strata.evaluation.statistics import wilson

Row = Mapping[str, Any]
LABELS = ("merge", "refine", "conflict", "keep")
NOTES = (
    "A wrong merge is a pair that is not one fact and was made one: it loses something.",
    "A duplicate that stays costs tokens only; a conflict that is not noticed leaves both texts.",
    "procedure_…: the same pairs with all texts of the file stored; what similarity does not propose is kept.",
    "A share of nothing is left out.",
)


def report(rows: Sequence[Row]) -> Report:
    """Return the report of decided pairs."""
    guard, procedure = _numbers(rows, "decided"), _numbers(rows, "procedure")
    return Report(
        metrics=guard | {f"procedure_{name}": value for name, value in procedure.items()},
        intervals=_intervals(rows),
        counts={"pairs": len(rows), **{f"want_{label}": _count(rows, want=label) for label in LABELS}},
        tables=[_shares(rows), _matrix(rows), *_wrong(rows)],
        notes=NOTES,
        facts={"judge": "guard"},
    )


def _numbers(rows: Sequence[Row], by: str) -> dict[str, float]:
    merged = [row for row in rows if row[by] == "merge"]
    found = {"wrong_merges": float(sum(row["want"] != "merge" for row in merged))}
    for label in ("merge", "conflict"):
        right, decided, wanted = _parts(rows, label, by)
        found |= {f"{label}_precision": right / decided} if decided else {}
        found |= {f"{label}_recall": right / wanted} if wanted else {}
    return found


def _intervals(rows: Sequence[Row]) -> dict[str, Interval]:
    found: dict[str, Interval] = {}
    for label in ("merge", "conflict"):
        right, decided, wanted = _parts(rows, label, "decided")
        found |= {f"{label}_precision": wilson(right, decided)} if decided else {}
        found |= {f"{label}_recall": wilson(right, wanted)} if wanted else {}
    return found


def _parts(rows: Sequence[Row], label: str, by: str) -> tuple[int, int, int]:
    """Return how many were rightly decided so, decided so at all, and wanted so."""
    return _count(rows, want=label, **{by: label}), _count(rows, **{by: label}), _count(rows, want=label)


def _count(rows: Iterable[Row], **wanted: str) -> int:
    return sum(all(row[name] == value for name, value in wanted.items()) for row in rows)


def _shares(rows: Sequence[Row]) -> Table:
    parts: dict[str, list[Row]] = {"all": list(rows)}
    for name in ("language", "kind"):
        for value in sorted({str(row[name]) for row in rows} - {""}):
            parts[f"{name} {value}"] = [row for row in rows if row[name] == value]
    columns = ("merge_precision", "merge_recall", "conflict_precision", "conflict_recall")
    lines: list[list[Cell]] = []
    for name, some in parts.items():
        numbers = _numbers(some, "decided")
        shares = [numbers.get(column) for column in columns]
        lines.append([name, str(len(some)), str(int(numbers["wrong_merges"])), *shares])
    return Table(
        title="Pairs", columns=("", "pairs", "wrong merges", *(c.replace("_", " ") for c in columns)), rows=lines
    )


def _matrix(rows: Sequence[Row]) -> Table:
    counted = Counter((row["want"], row["decided"]) for row in rows)
    lines = [[f"want {want}", *(str(counted[want, decided]) for decided in LABELS)] for want in LABELS]
    return Table(title="Wanted and decided", columns=("", *LABELS), rows=lines)


def _wrong(rows: Sequence[Row]) -> list[Table]:
    """Everything that was not decided as wanted, wrong merges first."""
    wrong = [row for row in rows if row["decided"] != row["want"]]
    wrong.sort(key=lambda row: (row["decided"] != "merge", row["decided"] != "conflict"))
    columns = ("id", "want", "decided", "reason", "old", "new")
    lines = [[row[name] for name in columns] for row in wrong]
    return [Table(title="Decided otherwise", columns=columns, rows=lines)] if wrong else []
