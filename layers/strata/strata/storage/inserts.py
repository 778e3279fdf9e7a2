"""Inserts that leave a row alone which is already there."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects import mysql, sqlite
from sqlalchemy.engine import Connection


def insert_missing(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert those rows whose primary key is not taken. MySQL's IGNORE would also swallow what is no repeat."""
    if not rows:
        return
    if connection.dialect.name == "sqlite":
        connection.execute(sqlite.insert(table).on_conflict_do_nothing(), rows)
        return
    key = next(iter(table.primary_key.columns))
    connection.execute(mysql.insert(table).on_duplicate_key_update({key.name: key}), rows)
