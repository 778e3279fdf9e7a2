"""The context of a request: short-term and long-term memory, loaded in parallel, within budgets."""
