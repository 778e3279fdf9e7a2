"""Mem0: the open-source server and the Platform, two products with two wire formats."""
