"""Scheduled work and the rights of users over their data: purge, audit, erasure, export."""
