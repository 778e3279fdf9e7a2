"""The purge: what has expired, was deleted or is kept long enough goes for good. Safe to stop and to run twice."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from strata import config
from strata.clock import Clock
from strata.ports import Purge, Purged, Retention


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeReport:
    """What a purge did; ``finished`` is False if it ran out of time and the next one goes on."""

    removed: int
    kept: int
    reads: int
    """Entries of the read ledger that were kept long enough."""
    quarantined: int
    copies: int
    """Providers' copies of what has expired; their removal is noted, and done by reconcile."""
    batches: int
    finished: bool


class PurgeJob:
    """Removes in bounded batches until nothing is due or its time is up."""

    def __init__(self, purge: Purge, retention: Retention, clock: Clock, settings: config.Maintenance) -> None:
        self._purge = purge
        self._retention = retention
        self._clock = clock
        self._settings = settings

    def __call__(self, seconds: float) -> PurgeReport:
        """Purge for at most ``seconds``, and at most the configured time."""
        until = self._clock.monotonic() + min(seconds, self._settings.seconds)
        done = [self._each(batch, until) for batch in (self._memories, self._reads, self._texts, self._copies)]
        memories, reads, texts, copies = (removed for removed, _batches in done)
        return PurgeReport(
            removed=memories.removed,
            kept=memories.kept,
            reads=reads.removed,
            quarantined=texts.removed,
            copies=copies.removed,
            batches=sum(batches for _removed, batches in done),
            finished=not any(removed.more for removed, _batches in done),
        )

    def _each(self, batch: Callable[[datetime, int], Purged], until: float) -> tuple[Purged, int]:
        """Repeat one kind of batch; what there was no time for may be more."""
        removed = kept = batches = 0
        more = True
        while more and self._clock.monotonic() < until:
            done = batch(self._clock.now(), self._settings.batch)
            removed, kept, batches, more = removed + done.removed, kept + done.kept, batches + 1, done.more
        return Purged(removed=removed, kept=kept, more=more), batches

    def _memories(self, now: datetime, limit: int) -> Purged:
        return self._purge.purge_due(now=now, limit=limit)

    def _reads(self, now: datetime, limit: int) -> Purged:
        before = now - timedelta(days=self._settings.ledger_days)
        removed = self._retention.purge_reads(before=before, now=now, limit=limit)
        return Purged(removed=removed, kept=0, more=removed == limit)

    def _texts(self, now: datetime, limit: int) -> Purged:
        before = now - timedelta(days=self._settings.quarantine_days)
        removed = self._retention.purge_quarantine(before=before, now=now, limit=limit)
        return Purged(removed=removed, kept=0, more=removed == limit)

    def _copies(self, now: datetime, limit: int) -> Purged:
        removed = self._retention.retire_copies(now=now, limit=limit)
        return Purged(removed=removed, kept=0, more=removed == limit)
