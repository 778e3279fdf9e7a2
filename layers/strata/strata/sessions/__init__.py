"""The conversation: append, read, end, summarise, and the scratch beside it."""
