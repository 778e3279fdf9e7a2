"""Means, percentiles and confidence intervals. Pure; chance is seeded."""

import math
import random
from collections.abc import Sequence

from strata.evaluation.report import Interval

Z95 = 1.959964
RESAMPLES = 1_000


def mean(values: Sequence[float]) -> float:
    """Return the mean; 0 of nothing."""
    return math.fsum(values) / len(values) if values else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that ``share`` of all lie at or below, between neighbours in proportion; 0 of nothing."""
    if not values:
        return 0.0
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def wilson(hits: int, trials: int) -> Interval:
    """Return the 95 % interval of a share of yes or no; (0, 1) of nothing.

    Wilson, 1927. Unlike the textbook's it stays inside [0, 1] and is right for a share near 0 or 1.
    """
    if trials == 0:
        return 0.0, 1.0
    share, z2 = hits / trials, Z95 * Z95
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z95 * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials)
    return max(0.0, middle - half), min(1.0, middle + half)


def bootstrapped(values: Sequence[float], seed: int) -> Interval:
    """Return the 95 % interval of a mean by resampling; the same for the same seed. (0, 0) of nothing."""
    if not values:
        return 0.0, 0.0
    chance = random.Random(seed)  # noqa: S311 resampling, no secret
    means = [mean(chance.choices(values, k=len(values))) for _ in range(RESAMPLES)]
    return percentile(means, 0.025), percentile(means, 0.975)
