"""Strata: the memory of a multi-agent platform."""

__version__ = "0.1.0"
