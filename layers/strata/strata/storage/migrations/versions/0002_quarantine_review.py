"""Texts in quarantine: whom they are about, what was to be written, who decided, and what became of them."""

from collections.abc import Iterable

from alembic import op
from sqlalchemy import Column, inspect

from strata.storage.columns import Id, Json

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLE = "quarantine"
INDEXES = {"ix_quarantine_created": ["created_at"], "ix_quarantine_user": ["tenant", "user_id"]}


def upgrade() -> None:
    """Add what is missing; a release that stopped half-way goes on."""
    inspector = inspect(op.get_bind())
    present = {column["name"] for column in inspector.get_columns(TABLE)}
    for column in _columns():
        if column.name not in present:
            op.add_column(TABLE, column)
    indexed = {index["name"] for index in inspector.get_indexes(TABLE)}
    for name, columns in INDEXES.items():
        if name not in indexed:
            op.create_index(name, TABLE, columns)


def _columns() -> Iterable[Column[object]]:
    """Texts that wait already are about nobody in particular, and hold nothing besides."""
    for name in ("user_id", "memory_id", "decided_by"):
        yield Column(name, Id(), nullable=False, server_default="")
    yield Column("unit", Json)
