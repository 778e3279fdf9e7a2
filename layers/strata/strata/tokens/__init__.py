"""Counting tokens, choosing the window of a session, and filling a budget. Pure: no I/O, no clock."""
