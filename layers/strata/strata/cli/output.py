"""Tables for people, JSON for programs."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import click
from rich.console import Console
from rich.table import Column, Table

from strata.errors import ValidationError
from strata.policy.retention import checked_instant

MAX_CELL = 80


class Instant(click.ParamType[datetime]):
    """An ISO 8601 instant with an offset."""

    name = "instant"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the instant; anything else is a wrong option."""
        try:
            return checked_instant(value, "instant")
        except ValidationError as error:
            self.fail(error.message, param, ctx)


INSTANT = Instant()


def show(document: object) -> None:
    """Print JSON."""
    click.echo(json.dumps(document, ensure_ascii=False, indent=2))


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, title: str = "") -> None:
    """Print rows as a table with the given columns."""
    headed = [Column(name, no_wrap=_is_typed_again(name)) for name in columns]
    grid = Table(*headed, title=title or None, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for row in rows:
        grid.add_row(*(_cell(row.get(column)) for column in columns))
    _print(grid)


def show_record(document: Mapping[str, Any], *, json_: bool) -> None:
    """Print one document: as JSON, or one field a line for people."""
    if json_:
        show(document)
        return
    grid = Table("field", "value", box=None, header_style="bold", pad_edge=False)
    for name, value in document.items():
        grid.add_row(name, _text(value))
    _print(grid)


def show_or_table(document: object, rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, json_: bool) -> None:
    """Print the document as JSON or its rows as a table."""
    if json_:
        show(document)
    else:
        table(rows, columns)


def _is_typed_again(column: str) -> bool:
    """An id goes into the next command, so that other columns are broken before it is."""
    return column.endswith("_id")


def _cell(value: object) -> str:
    text = _text(value)
    return text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "…"


def _text(value: object) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _print(grid: Table) -> None:
    """A pipe has no width of its own; memory text is no markup."""
    console = Console(width=None if Console().is_terminal else 160, markup=False, emoji=False, highlight=False)
    console.print(grid)
