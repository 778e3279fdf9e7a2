"""Runs revisions over the connection that ``storage.schema`` hands in; it owns transaction and lock."""

from alembic import context

from strata.storage.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=False)
context.run_migrations()
