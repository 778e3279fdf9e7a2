"""The whole schema, and the built-in memory types."""

from datetime import UTC, datetime

from alembic import op
from sqlalchemy import insert, select

from strata.storage.schema import ensure
from strata.storage.tables import BUILT_IN_TYPES, memory_types, metadata, table_name

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

RELEASED = datetime(2026, 1, 1, tzinfo=UTC)


def upgrade() -> None:
    """Create what is missing."""
    connection = op.get_bind()
    ensure(connection, metadata.sorted_tables)
    listed = set(connection.execute(select(memory_types.c.name)).scalars())
    missing = [_row(name, ttl) for name, ttl in BUILT_IN_TYPES.items() if name not in listed]
    if missing:
        connection.execute(insert(memory_types), missing)


def _row(name: str, ttl_seconds: int) -> dict[str, object]:
    return {
        "name": name,
        "table_name": table_name(name),
        "ttl_seconds": ttl_seconds,
        "built_in": True,
        "created_at": RELEASED,
    }
