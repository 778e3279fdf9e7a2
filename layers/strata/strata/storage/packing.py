"""Rows that come over the wire as one text: a driver in Python takes as long over a column as we over a row.

MySQL joins the columns (``packed``), we part them again. SQLite, which is in this process, gives columns.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, func
from sqlalchemy.engine import Connection

from strata.storage.statements import Statement

T = TypeVar("T")

UNIT = "\x1f"
"""Between two fields. No id holds a control character and JSON escapes them; free text stands last."""
_UTC = "+00:00"


def packed(*columns: Any) -> ColumnElement[str]:  # noqa: ANN401 columns and texts
    """Return the expression that joins columns, of which none may be NULL."""
    return func.concat_ws(UNIT, *columns)


def parts(row: tuple[Any, ...], count: int) -> list[str]:
    """Return the fields of a packed row; the last may be of any text."""
    text = row[-1]
    return (text.decode() if isinstance(text, bytes) else str(text)).split(UNIT, count - 1)


def instant(text: str) -> datetime:
    """Return the instant of a packed DATETIME."""
    return datetime.fromisoformat(text + _UTC)


def document(text: str) -> Any:  # noqa: ANN401 any JSON
    """Return the value of a packed JSON text."""
    return json.loads(text)


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """One query in both forms, and what makes the rows of either into what they stand for."""

    columns: Statement
    from_columns: Callable[[tuple[Any, ...]], T]
    packed: Statement
    from_packed: Callable[[Sequence[tuple[Any, ...]]], list[T]]

    def all(self, connection: Connection, **values: object) -> list[T]:
        """Run the query and return its rows as objects."""
        if connection.dialect.name == "mysql":
            return self.from_packed(self.packed.rows(connection, **values))
        return [self.from_columns(row) for row in self.columns.rows(connection, **values)]
