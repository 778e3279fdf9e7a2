"""Choosing a long-term memory by measurement: tasks, what they measure, and how a result is told.

A task plans steps, each is done once and kept in a journal, and a report is drawn from what the journal holds. The
product is measured from outside, through its HTTP API: a private stack of this process, or a running service.
"""
