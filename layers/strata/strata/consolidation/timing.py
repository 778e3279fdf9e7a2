"""How long each step of a run took, and who is told when one is over."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from strata.clock import Clock


class Stopwatch:
    """Measures named stretches of work; ``on_step`` hears each name when its stretch ended well."""

    def __init__(self, clock: Clock, on_step: Callable[[str], None]) -> None:
        self._clock = clock
        self._on_step = on_step
        self.taken_ms: dict[str, float] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        """Measure the block as ``step``, in milliseconds."""
        begun = self._clock.monotonic()
        yield
        self.taken_ms[step] = (self._clock.monotonic() - begun) * 1_000
        self._on_step(step)
