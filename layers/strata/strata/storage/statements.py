"""Statements for the paths where every tenth of a millisecond counts.

A statement is written in SQLAlchemy Core, compiled once per dialect, and then run on the driver's own cursor with the
same type conversions. That leaves out SQLAlchemy's execution machinery, which costs more than the statement itself.
The driver's errors pass through; ``Database`` knows them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import SelectBase, Table, UpdateBase
from sqlalchemy.engine import Connection, Dialect
from sqlalchemy.types import TypeEngine

Core = SelectBase | UpdateBase
Convert = Callable[[Any], Any] | None


@dataclass(frozen=True, slots=True)
class _Compiled:
    text: str
    order: tuple[str, ...] | None
    """The parameters by position; None if the driver takes them by name."""
    fixed: Mapping[str, Any]
    binds: Mapping[str, Convert]
    results: tuple[Convert, ...]

    def arguments(self, values: Mapping[str, Any]) -> Sequence[Any] | Mapping[str, Any]:
        given = {name: _converted(values.get(name, self.fixed[name]), convert) for name, convert in self.binds.items()}
        return given if self.order is None else tuple(given[name] for name in self.order)


class Statement:
    """A Core statement with named parameters (``bindparam``)."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._compiled: dict[str, _Compiled] = {}

    def rows(self, connection: Connection, **values: object) -> list[tuple[Any, ...]]:
        """Run a SELECT and return its rows, converted."""
        compiled = self._for(connection.dialect)
        cursor = connection.connection.cursor()
        cursor.execute(compiled.text, compiled.arguments(values))
        results = compiled.results
        if not any(results):
            return list(cursor.fetchall())
        return [
            tuple([value if convert is None else convert(value) for value, convert in zip(row, results, strict=True)])
            for row in cursor.fetchall()
        ]

    def run(self, connection: Connection, **values: object) -> tuple[int, int]:
        """Run a statement that changes rows; return how many it met, and MySQL's LAST_INSERT_ID if it set that."""
        compiled = self._for(connection.dialect)
        cursor = connection.connection.cursor()
        cursor.execute(compiled.text, compiled.arguments(values))
        return int(cursor.rowcount), int(cursor.lastrowid or 0)

    def _for(self, dialect: Dialect) -> _Compiled:
        if dialect.name not in self._compiled:
            self._compiled[dialect.name] = _compile(self._core, dialect)
        return self._compiled[dialect.name]


class Insert:
    """An INSERT of many rows in one round trip; values of ``ready`` columns are given as the driver takes them."""

    def __init__(self, table: Table, columns: Sequence[str], *, ready: Sequence[str] = ()) -> None:
        self._table = table
        self._columns = tuple(columns)
        self._ready = frozenset(ready)
        self._converters: dict[str, tuple[Convert, ...]] = {}

    def run(self, connection: Connection, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows, each with its values in the order of the columns."""
        converters = self._for(connection.dialect)
        mark = "?" if connection.dialect.name == "sqlite" else "%s"
        one = f"({', '.join([mark] * len(self._columns))})"
        values = tuple(
            _converted(value, convert) for row in rows for value, convert in zip(row, converters, strict=True)
        )
        connection.connection.cursor().execute(self._head + ", ".join([one] * len(rows)), values)

    @cached_property
    def _head(self) -> str:
        return f"INSERT INTO {self._table.name} ({', '.join(self._columns)}) VALUES "  # noqa: S608 our own names

    def _for(self, dialect: Dialect) -> tuple[Convert, ...]:
        if dialect.name not in self._converters:
            self._converters[dialect.name] = tuple(
                None if name in self._ready else _to_driver(self._table.c[name].type, dialect) for name in self._columns
            )
        return self._converters[dialect.name]


def _compile(core: Core, dialect: Dialect) -> _Compiled:
    compiled: Any = core.compile(dialect=dialect)
    return _Compiled(
        text=compiled.string,
        order=tuple(compiled.positiontup) if compiled.positiontup else None,
        fixed=compiled.params,
        binds={name: _to_driver(bound.type, dialect) for bound, name in compiled.bind_names.items()},
        results=tuple(_from_driver(column.type, dialect) for column in core.selected_columns)
        if isinstance(core, SelectBase)
        else (),
    )


def _converted(value: Any, convert: Convert) -> Any:  # noqa: ANN401 whatever a column holds
    return value if convert is None else convert(value)


def _to_driver(kind: TypeEngine[Any], dialect: Dialect) -> Convert:
    return kind.dialect_impl(dialect).bind_processor(dialect)


def _from_driver(kind: TypeEngine[Any], dialect: Dialect) -> Convert:
    return kind.dialect_impl(dialect).result_processor(dialect, None)
