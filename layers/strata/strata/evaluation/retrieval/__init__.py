"""Retrieval over conversations: sessions go in through append and end, questions through the context load.

What is measured is what the load returns. A memory stands for the messages it came from: a turn for its message, a
sentence for the messages its run names as its sources.
"""
