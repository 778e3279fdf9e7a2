"""Statements for the paths where every tenth of a millisecond counts.

A statement is written in SQLAlchemy Core, compiled once per dialect, and then run on the driver's own cursor with the
same type conversions. That leaves out SQLAlchemy's execution machinery, which costs more than the statement itself.
The driver's errors pass through; ``Database`` knows them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeGuard

from sqlalchemy import SelectBase, Table, UpdateBase
from sqlalchemy.engine import Connection, Dialect
from sqlalchemy.types import TypeEngine

from strata.storage.columns import Instant

Core = SelectBase | UpdateBase
Convert = Callable[[Any], Any] | None


@dataclass(frozen=True, slots=True)
class _Compiled:
    text: str
    template: list[Any] | dict[str, Any]
    """The parameters as the driver takes them, by place or by name, with what is the same at every call."""
    given: tuple[tuple[Any, str, Convert], ...]
    """What each call gives: place or name in the template, the name it is given by, and its conversion."""
    results: tuple[tuple[int, Callable[[Any], Any]], ...]
    """The columns that are not as the driver gives them."""

    def arguments(self, values: Mapping[str, Any]) -> Sequence[Any] | Mapping[str, Any]:
        filled = self.template.copy()
        settable: Any = filled
        for place, name, convert in self.given:
            value = values[name]
            settable[place] = value if convert is None or value is None else convert(value)
        return filled

    def converted(self, row: Sequence[Any]) -> tuple[Any, ...]:
        values = list(row)
        for place, convert in self.results:
            value = values[place]
            if value is not None:
                values[place] = convert(value)
        return tuple(values)


class Statement:
    """A Core statement with named parameters (``bindparam``); one that writes may take ``columns`` by their names."""

    def __init__(self, core: Core, *, columns: Sequence[str] | None = None) -> None:
        self._core = core
        self._columns = columns
        self._compiled: dict[str, _Compiled] = {}

    def records(self, connection: Connection, **values: object) -> list[dict[str, Any]]:
        """Run a SELECT and return its rows by the names of the columns."""
        return [dict(zip(self._names, row, strict=True)) for row in self.rows(connection, **values)]

    def rows(self, connection: Connection, **values: object) -> list[tuple[Any, ...]]:
        """Run a SELECT and return its rows, converted."""
        compiled = self._for(connection.dialect)
        cursor = connection.connection.cursor()
        cursor.execute(compiled.text, compiled.arguments(values))
        rows = cursor.fetchall()
        return [compiled.converted(row) for row in rows] if compiled.results else list(rows)

    def run(self, connection: Connection, **values: object) -> tuple[int, int]:
        """Run a statement that changes rows; return how many it met, and MySQL's LAST_INSERT_ID if it set that."""
        compiled = self._for(connection.dialect)
        cursor = connection.connection.cursor()
        cursor.execute(compiled.text, compiled.arguments(values))
        return int(cursor.rowcount), int(cursor.lastrowid or 0)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self._core.selected_columns.keys()) if _reads(self._core) else ()

    def _for(self, dialect: Dialect) -> _Compiled:
        if dialect.name not in self._compiled:
            self._compiled[dialect.name] = _compile(self._core, dialect, self._columns)
        return self._compiled[dialect.name]


class Insert:
    """An INSERT of many rows in one round trip; values of ``ready`` columns are given as the driver takes them.

    With ``once`` rows whose primary key is taken stay as they are.
    """

    def __init__(self, table: Table, columns: Sequence[str], *, ready: Sequence[str] = (), once: bool = False) -> None:
        self._once = once
        self._table = table
        self._columns = tuple(columns)
        self._ready = frozenset(ready)
        self._converters: dict[str, tuple[Convert, ...]] = {}

    def run(self, connection: Connection, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows, each with its values in the order of the columns."""
        converters = self._for(connection.dialect)
        mark = "?" if connection.dialect.name == "sqlite" else "%s"
        one = f"({', '.join([mark] * len(self._columns))})"
        values = [
            value if convert is None or value is None else convert(value)
            for row in rows
            for value, convert in zip(row, converters, strict=True)
        ]
        text = (
            self._head + ", ".join([one] * len(rows)) + (self._unless_taken(connection.dialect) if self._once else "")
        )
        connection.connection.cursor().execute(text, values)

    @cached_property
    def _head(self) -> str:
        return f"INSERT INTO {self._table.name} ({', '.join(self._columns)}) VALUES "  # noqa: S608 our own names

    def _unless_taken(self, dialect: Dialect) -> str:
        """MySQL's IGNORE would also swallow what is no repeat."""
        key = next(iter(self._table.primary_key.columns)).name
        return " ON CONFLICT DO NOTHING" if dialect.name == "sqlite" else f" ON DUPLICATE KEY UPDATE {key} = {key}"

    def _for(self, dialect: Dialect) -> tuple[Convert, ...]:
        if dialect.name not in self._converters:
            self._converters[dialect.name] = tuple(
                None if name in self._ready else _to_driver(self._table.c[name].type, dialect) for name in self._columns
            )
        return self._converters[dialect.name]


def _compile(core: Core, dialect: Dialect, columns: Sequence[str] | None) -> _Compiled:
    compiled: Any = core.compile(dialect=dialect, column_keys=columns)
    binds = {name: (bound, _to_driver(bound.type, dialect)) for bound, name in compiled.bind_names.items()}
    places = list(enumerate(compiled.positiontup)) if compiled.positiontup else [(name, name) for name in binds]
    fixed = {
        name: _converted(compiled.params[name], convert)
        for name, (bound, convert) in binds.items()
        if not bound.required
    }
    template = [fixed.get(name) for _, name in places] if compiled.positiontup else fixed
    results = [_from_driver(column.type, dialect) for column in core.selected_columns] if _reads(core) else []
    return _Compiled(
        text=compiled.string,
        template=template,
        given=tuple((place, name, binds[name][1]) for place, name in places if binds[name][0].required),
        results=tuple((place, convert) for place, convert in enumerate(results) if convert is not None),
    )


def _reads(core: Core) -> TypeGuard[SelectBase]:
    return isinstance(core, SelectBase)


def _converted(value: Any, convert: Convert) -> Any:  # noqa: ANN401 whatever a column holds
    return value if convert is None or value is None else convert(value)


def _to_driver(kind: TypeEngine[Any], dialect: Dialect) -> Convert:
    """What a driver takes for a value. One write names the same instants again and again."""
    convert = kind.dialect_impl(dialect).bind_processor(dialect)
    return lru_cache(maxsize=16)(convert) if convert is not None and isinstance(kind, Instant) else convert


def _from_driver(kind: TypeEngine[Any], dialect: Dialect) -> Convert:
    return kind.dialect_impl(dialect).result_processor(dialect, None)
