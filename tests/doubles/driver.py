"""The database's own driver, failing at a statement of one's choice: before it, or when it has taken effect."""

import sqlite3
from typing import Any

from pymysql.cursors import Cursor
from pymysql.err import OperationalError
from sqlalchemy import Engine, event

LOST = 2013
"""MySQL: the connection was lost during the query."""
BROKEN = 1030
"""MySQL: the storage engine reported an error, and nothing is gained by trying again."""


class FailingDriver:
    """Counts the statements of an engine's connections, BEGIN and COMMIT among them, and fails at one of them.

    A ROLLBACK is not counted: one that fails is a connection that is closed.
    """

    def __init__(self) -> None:
        self.statements: list[str] = []
        self._doomed = 0
        self._lost_after = ""

    def install(self, engine: Engine) -> None:
        """Come between the engine and its driver; before it has made a connection."""
        plan, sqlite = self, engine.dialect.name == "sqlite"

        class MySqlCursor(Cursor):
            def execute(self, query: Any, args: Any = None) -> int:
                plan._before(query, OperationalError(BROKEN, "doomed"))
                done = super().execute(query, args)
                plan._after(query)
                return done

        class SqliteCursor(sqlite3.Cursor):
            def execute(self, query: Any, *args: Any) -> Any:
                plan._before(query, sqlite3.OperationalError("doomed"))
                return super().execute(query, *args)

        class SqliteConnection(sqlite3.Connection):
            def cursor(self, factory: Any = SqliteCursor) -> Any:
                return super().cursor(factory)

        own = {"factory": SqliteConnection} if sqlite else {"cursorclass": MySqlCursor}

        @event.listens_for(engine, "do_connect")
        def _connect(_dialect: object, _record: object, _arguments: object, options: dict[str, Any]) -> None:
            options.update(own)

    def fail_at(self, number: int) -> None:
        """Refuse the statement of that number, counted from now."""
        self.statements.clear()
        self._doomed = number

    def lose_the_answer_to(self, text: str) -> None:
        """Let the connection break when the next such statement has taken effect; MySQL only."""
        self._lost_after = text

    def _before(self, query: object, error: Exception) -> None:
        if query == "ROLLBACK":
            return
        self.statements.append(str(query))
        if len(self.statements) == self._doomed:
            raise error

    def _after(self, query: object) -> None:
        if self._lost_after and str(query) == self._lost_after:
            self._lost_after = ""
            raise OperationalError(LOST, "doomed")
