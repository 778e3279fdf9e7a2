"""Filling a budget: what fits goes in, what does not is skipped, smaller things behind it get their chance."""

from collections.abc import Sequence


def fit(lines_tokens: Sequence[int], budget: int) -> list[bool]:
    """Tell for each line, in order of preference, whether it enters. What enters costs at most ``budget`` together."""
    left = budget
    chosen = []
    for tokens in lines_tokens:
        enters = tokens <= left
        chosen.append(enters)
        left -= tokens if enters else 0
    return chosen
