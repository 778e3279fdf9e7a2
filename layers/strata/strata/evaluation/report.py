"""What a task has to say: flat numbers for programs, tables and plots for people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Cell = str | int | float | None
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells under columns; floats are fractions and shown as percentages unless a cell is text."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Lines over a common axis: name → points in rising x."""

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    x_is_logarithmic: bool = False
    y_is_fraction: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How values spread: name → values, in the unit of ``x``. Drawn as cumulative shares."""

    title: str
    x: str
    values: Mapping[str, Sequence[float]]


Plot = Curves | Distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The outcome of a task."""

    metrics: Mapping[str, float]
    """Flat, by stable names; shares are fractions in [0, 1], ``…_ms`` are milliseconds."""
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """95 % confidence, by names of ``metrics``."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """How much of everything there was: questions, sessions, …"""
    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()
    notes: Sequence[str] = ()
    """What a reader has to know to read the numbers right."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What else names the result: ``judge``, ``model``, prompts."""
