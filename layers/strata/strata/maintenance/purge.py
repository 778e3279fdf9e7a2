"""The purge: what has expired, or was deleted long enough ago, is removed for good. Safe to stop and to run twice."""

from dataclasses import dataclass

from strata import config
from strata.clock import Clock
from strata.ports import Purge


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeReport:
    """What a purge did; ``finished`` is False if it ran out of time and the next one goes on."""

    removed: int
    kept: int
    batches: int
    finished: bool


class PurgeJob:
    """Removes in bounded batches until nothing is due or its time is up."""

    def __init__(self, purge: Purge, clock: Clock, settings: config.Maintenance) -> None:
        self._purge = purge
        self._clock = clock
        self._settings = settings

    def __call__(self, seconds: float) -> PurgeReport:
        """Purge for at most ``seconds``, and at most the configured time."""
        deadline = self._clock.monotonic() + min(seconds, self._settings.seconds)
        removed = kept = batches = 0
        more = True
        while more and self._clock.monotonic() < deadline:
            batch = self._purge.purge_due(now=self._clock.now(), limit=self._settings.batch)
            removed, kept, batches, more = removed + batch.removed, kept + batch.kept, batches + 1, batch.more
        return PurgeReport(removed=removed, kept=kept, batches=batches, finished=not more)
