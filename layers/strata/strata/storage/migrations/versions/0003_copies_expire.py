"""When a provider's copy of a memory runs out, so that it is removed there too."""

from alembic import op
from sqlalchemy import Column, inspect

from strata.storage.columns import Instant

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLE, COLUMN, INDEX = "provider_copies", "expires_at", "ix_provider_copies_expires"


def upgrade() -> None:
    """Add what is missing. Copies from before have no end here; whoever reads them still sees when they ran out."""
    inspector = inspect(op.get_bind())
    if COLUMN not in {column["name"] for column in inspector.get_columns(TABLE)}:
        op.add_column(TABLE, Column(COLUMN, Instant))
    if INDEX not in {index["name"] for index in inspector.get_indexes(TABLE)}:
        op.create_index(INDEX, TABLE, [COLUMN])
