"""Ratios to a floor measured in the same run; both sides take turns, so that what else the machine does hits both."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median, quantiles

Work = Callable[[], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """The times of one operation and of its floor, in milliseconds."""

    name: str
    ours_ms: list[float]
    floor_ms: list[float]

    @property
    def p50(self) -> float:
        """Ratio of the medians."""
        return median(self.ours_ms) / median(self.floor_ms)

    @property
    def p95(self) -> float:
        """Ratio of the 95th percentiles."""
        return quantiles(self.ours_ms, n=20)[-1] / quantiles(self.floor_ms, n=20)[-1]

    def told(self) -> str:
        """Print and return a line for people."""
        line = (
            f"{self.name:<44} {median(self.ours_ms):9.3f} ms   floor {median(self.floor_ms):9.3f} ms   "
            f"ratio p50 {self.p50:6.2f}  p95 {self.p95:6.2f}"
        )
        print(line)
        return line


@dataclass(frozen=True, slots=True, kw_only=True)
class Steady:
    """The same ratio measured several times, so that one bad moment of a shared machine does not decide."""

    rounds: list[Ratio]

    @property
    def p50(self) -> float:
        """The middle one of the ratios of the medians."""
        return median([one.p50 for one in self.rounds])

    @property
    def p95(self) -> float:
        """The middle one of the ratios of the 95th percentiles."""
        return median([one.p95 for one in self.rounds])

    def told(self) -> None:
        """Print the middle and the spread."""
        for name, middle, ratios in (
            ("p50", self.p50, [one.p50 for one in self.rounds]),
            ("p95", self.p95, [one.p95 for one in self.rounds]),
        ):
            print(f"{self.rounds[0].name:<44} {name} {middle:5.2f}   of {min(ratios):.2f}-{max(ratios):.2f}")


def steadily(measure: Callable[[], Ratio], *, bound: float) -> Steady:
    """Measure until the middle of both percentiles is below the bound."""
    return _repeated(measure, lambda steady: max(steady.p50, steady.p95) < bound)


def flat(measure: Callable[[], Ratio]) -> bool:
    """Measure until both sides take as long, within a fifth; tell whether they do."""
    return is_flat(_repeated(measure, is_flat))


def is_flat(steady: Steady) -> bool:
    """Tell whether both sides take as long, within a fifth."""
    return 0.8 < steady.p50 < 1.2


def _repeated(measure: Callable[[], Ratio], holds: Callable[[Steady], bool], least: int = 3, most: int = 9) -> Steady:
    rounds: list[Ratio] = []
    while True:
        rounds.append(measure())
        rounds[-1].told()
        steady = Steady(rounds=rounds)
        if len(rounds) == most or (len(rounds) >= least and holds(steady)):
            steady.told()
            return steady


def against_floor(
    name: str, ours: Work, floor: Work, *, rounds: int = 60, warm: int = 5, before: Work | None = None
) -> Ratio:
    """Time ``ours`` and ``floor`` alternately; ``before`` runs ahead of each, outside the time."""
    for _ in range(warm):
        ours()
        floor()
    pairs = [(_timed(ours, before), _timed(floor, before)) for _ in range(rounds)]
    return Ratio(name=name, ours_ms=[pair[0] for pair in pairs], floor_ms=[pair[1] for pair in pairs])


def _timed(work: Work, before: Work | None) -> float:
    if before is not None:
        before()
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1_000
