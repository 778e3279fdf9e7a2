"""Alembic's environment and revisions, shipped with the package."""
