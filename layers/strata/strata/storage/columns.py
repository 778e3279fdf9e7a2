"""Column types that mean the same on MySQL, MariaDB and SQLite.

Ids are compared byte for byte: VARBINARY on MySQL, because every ``_bin`` collation there ignores trailing spaces.
Instants are DATETIME(6) in UTC. JSON is stored as text that we write and parse ourselves, so that the bytes are ours.
"""

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, Integer, LargeBinary, String, Text
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

ID_BYTES = 512
"""128 characters of any UTF-8."""

COLLECTION_BYTES = ID_BYTES + len("agent:")
"""A collection's name: an id, or an id behind the prefix of its layer."""


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Id(TypeDecorator[str]):
    """A caller's or our own id: at most 128 characters, byte-compared."""

    impl = String
    cache_ok = True

    def __init__(self, length: int = ID_BYTES) -> None:
        super().__init__(length)
        self.length_bytes = length

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return VARBINARY on MySQL and TEXT (BINARY collation) on SQLite."""
        if dialect.name == "mysql":
            return dialect.type_descriptor(mysql.VARBINARY(self.length_bytes))
        return dialect.type_descriptor(Text())

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | bytes | None:
        """Encode for VARBINARY."""
        return value.encode() if value is not None and dialect.name == "mysql" else value

    def process_result_value(self, value: Any, _dialect: Dialect) -> str | None:  # noqa: ANN401
        """Decode what VARBINARY gives back."""
        return value.decode() if isinstance(value, bytes) else value

    def bind_processor(self, dialect: Dialect) -> Any:  # noqa: ANN401 as the base class has it
        """Return what encodes a value; SQLite takes texts as they are, and there are dozens in every write."""
        return super().bind_processor(dialect) if dialect.name == "mysql" else None

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:  # noqa: ANN401 as the base class has it
        """Return what decodes a value."""
        return super().result_processor(dialect, coltype) if dialect.name == "mysql" else None


class Instant(TypeDecorator[datetime]):
    """An aware instant, stored as naive UTC with microseconds."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return DATETIME(6) on MySQL."""
        if dialect.name == "mysql":
            return dialect.type_descriptor(mysql.DATETIME(fsp=6))
        return dialect.type_descriptor(DateTime())

    def process_bind_param(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        """Turn into naive UTC; a naive value is a programming error."""
        return value.astimezone(UTC).replace(tzinfo=None) if value is not None else None

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        """Mark as UTC again."""
        return value.replace(tzinfo=UTC) if value is not None else None


class Json(TypeDecorator[Any]):
    """A JSON value as compact UTF-8 text, never with escapes for what UTF-8 can say."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return MEDIUMTEXT on MySQL."""
        return dialect.type_descriptor(_long_text(dialect))

    def process_bind_param(self, value: object, _dialect: Dialect) -> str | None:
        """Write compactly, in the language's own characters."""
        return None if value is None else _COMPACT(value)

    def process_result_value(self, value: str | None, _dialect: Dialect) -> object:
        """Parse."""
        return None if value is None else json.loads(value)


class LongText(TypeDecorator[str]):
    """Text of any length, every character kept."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return MEDIUMTEXT with a binary collation on MySQL."""
        return dialect.type_descriptor(_long_text(dialect))


class Names(TypeDecorator[tuple[str, ...]]):
    """A list of names that SQL can look into: one name to a line, and a line break at either end.

    No id holds a control character (``strata.policy.names``), so a search for the name between two line
    breaks finds it and nothing else: no wildcards, no quoting, no collision between neighbours. NULL is no list at all.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return MEDIUMTEXT with a binary collation on MySQL."""
        return dialect.type_descriptor(_long_text(dialect))

    def process_bind_param(self, value: tuple[str, ...] | str | None, _dialect: Dialect) -> str | None:
        """Write one name to a line; a string is a needle and stays as it is."""
        return "".join(("\n", *(f"{name}\n" for name in value))) if isinstance(value, tuple) else value

    def process_result_value(self, value: str | None, _dialect: Dialect) -> tuple[str, ...] | None:
        """Split into names."""
        return None if value is None else tuple(value.split("\n")[1:-1])


class Vector(TypeDecorator[bytes]):
    """Little-endian float32 values."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return MEDIUMBLOB on MySQL."""
        return dialect.type_descriptor(mysql.MEDIUMBLOB() if dialect.name == "mysql" else LargeBinary())


Number = BigInteger().with_variant(Integer(), "sqlite")
"""A 64-bit counter or key; SQLite needs INTEGER for its row id."""


def _long_text(dialect: Dialect) -> TypeEngine[Any]:
    if dialect.name == "mysql":
        return mysql.MEDIUMTEXT(charset="utf8mb4", collation="utf8mb4_bin")
    return Text()
