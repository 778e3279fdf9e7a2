"""Strata: shared memory for the agents of one platform."""

__version__ = "0.1.0"
