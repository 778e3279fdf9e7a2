"""Adapters to the database, the cache and the queue."""
