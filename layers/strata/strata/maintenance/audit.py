"""The weekly report: what was added, changed, contested and never read, and who writes suspiciously much."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from strata import config
from strata.clock import Clock
from strata.errors import NotFoundError, StrataError
from strata.maintenance.anomalies import flags
from strata.maintenance.duplicates import near_duplicate_rates
from strata.maintenance.page import as_json, render
from strata.maintenance.weeks import WEEK, days_of, last_week, span_of
from strata.model.memories import Memory
from strata.model.messages import JsonObject
from strata.observability import logger
from strata.ports import Activity, AuditStore, EventLog, JobStore, ReportArchive

JOB = "audit"
OUTCOMES = ("made", "failed", "left")
PAST_WEEKS = 4
MOST_CONTESTED = 10
LOOKED_AT = 2_000
"""Memories of a week that are looked at for near duplicates."""
BESIDE = 300
"""Memories of one collection and type that each of them is compared with."""
WRITES = frozenset({"memory.inserted", "memory.updated", "memory.imported", "memory.moved", "memory.rolled_back"})
SYSTEM = "system:"


class Audits:
    """Makes, keeps and gives out weekly reports."""

    def __init__(
        self,
        audits: AuditStore,
        events: EventLog,
        jobs: JobStore,
        archive: ReportArchive,
        clock: Clock,
        settings: config.Maintenance,
    ) -> None:
        self._audits = audits
        self._events = events
        self._jobs = jobs
        self._archive = archive
        self._clock = clock
        self._settings = settings

    def __call__(self, seconds: float) -> dict[str, int]:
        """Make last week's report for every tenant that has none yet, as far as the time reaches.

        One worker at a time; what failed or was left is made by the next one. Nothing is made twice.
        """
        seconds = min(seconds, self._settings.seconds)
        fence = self._jobs.claim(JOB, seconds=max(1.0, seconds), now=self._clock.now())
        if fence is None:
            return dict.fromkeys(OUTCOMES, 0)
        counts = self._make_missing(self._clock.monotonic() + seconds)
        self._jobs.finish(JOB, fence, now=self._clock.now())
        return counts

    def make(self, tenant: str, week: str) -> JsonObject:
        """Make a week's report anew, keep it, and return it: in the bucket first, so that what is kept is kept there.

        Raises:
            ValidationError: a name that is no week.
            TransientError: the bucket cannot be reached; nothing is kept.
        """
        report = self._report(tenant, week)
        self._archive.put(tenant, week, "json", "application/json", as_json(report))
        self._archive.put(tenant, week, "html", "text/html; charset=utf-8", render(report).encode())
        self._audits.save(tenant, week, report, now=self._clock.now())
        return report

    def _make_missing(self, deadline: float) -> dict[str, int]:
        week = last_week(self._clock.now())
        counts = dict.fromkeys(OUTCOMES, 0)
        for tenant in self._jobs.tenants():
            if self._audits.load(tenant, week) is None:
                outcome = "left" if self._clock.monotonic() >= deadline else self._tried(tenant, week)
                counts[outcome] += 1
        return counts

    def _tried(self, tenant: str, week: str) -> str:
        """Make one tenant's report; what goes wrong with it must not cost the others theirs."""
        try:
            self.make(tenant, week)
        except StrataError as error:
            logger.warning("audit.failed", extra={"tenant": tenant, "week": week, "code": error.code})
            return "failed"
        return "made"

    def get(self, tenant: str, week: str) -> JsonObject:
        """Return a kept report. Raises NotFoundError."""
        report = self._audits.load(tenant, week)
        if report is None:
            raise NotFoundError
        return report

    def weeks(self, tenant: str) -> list[str]:
        """Return the weeks that have a report, newest first."""
        return self._audits.weeks(tenant)

    def anchors(self, tenant: str) -> dict[int, str]:
        """Return the heads of the audit trail that kept reports hold, by number."""
        heads = (self.get(tenant, week)["trail"] for week in self.weeks(tenant))
        return {head["seq"]: head["hash"] for head in heads if head["seq"]}

    def _report(self, tenant: str, week: str) -> JsonObject:
        since, until = span_of(week)
        activity = self._audits.activity(tenant, since, until)
        live, unread = self._audits.never_read(tenant, now=self._clock.now())
        duplicates = self._duplicates(tenant, since, until)
        contested = self._audits.contested(tenant, since, until, limit=MOST_CONTESTED)
        seq, head = self._events.head(tenant)
        return {
            "week": week,
            "tenant": tenant,
            "from": since.isoformat(),
            "until": until.isoformat(),
            "made_at": self._clock.now().isoformat(),
            "days": days(week, activity),
            "totals": totals(activity),
            "agents": self._agents(tenant, since, until, activity, duplicates),
            "conflicts": [
                {"memory_id": one.memory_id, "collection": one.collection, "conflicts": one.conflicts}
                for one in contested
            ],
            "never_read": {"live": live, "never_read": unread, "rate": share(unread, live)},
            "near_duplicates": _summed(duplicates),
            "trail": {"seq": seq, "hash": head},
        }

    def _agents(
        self,
        tenant: str,
        since: datetime,
        until: datetime,
        activity: Sequence[Activity],
        duplicates: Mapping[str, tuple[int, int]],
    ) -> list[dict[str, Any]]:
        writes = writes_by_agent(activity)
        reads = self._audits.reads_by_agent(tenant, since, until)
        past = [self._past_writes(tenant, since - number * WEEK) for number in range(PAST_WEEKS, 0, -1)]
        described = []
        for agent_id in sorted({*writes, *reads}):
            own_past = [week.get(agent_id, 0) for week in past]
            looked_at, near = duplicates.get(agent_id, (0, 0))
            described.append(
                {
                    "agent_id": agent_id,
                    "writes": writes.get(agent_id, 0),
                    "reads": reads.get(agent_id, 0),
                    "past_writes": own_past,
                    "near_duplicates": near,
                    "near_duplicate_rate": share(near, looked_at),
                    "flags": list(flags(agent_id, writes, own_past, factor=self._settings.anomaly_factor)),
                }
            )
        return described

    def _past_writes(self, tenant: str, since: datetime) -> dict[str, int]:
        return writes_by_agent(self._audits.activity(tenant, since, since + timedelta(days=7)))

    def _duplicates(self, tenant: str, since: datetime, until: datetime) -> dict[str, tuple[int, int]]:
        written = self._audits.written(tenant, since, until, limit=LOOKED_AT)
        return near_duplicate_rates(written, self._groups(written))

    def _groups(self, written: Sequence[Memory]) -> dict[tuple[str, str], list[Memory]]:
        # Oldest first, so that the newest of each place stays: what lies beside it is the newest of the group.
        newest = {(memory.collection, memory.memory_type): memory for memory in reversed(written)}
        return {place: self._audits.beside(memory, limit=BESIDE) for place, memory in newest.items()}


def days(week: str, activity: Sequence[Activity]) -> list[dict[str, Any]]:
    """Return, day by day, how often each thing happened to memories."""
    counted: dict[str, Counter[str]] = {day: Counter() for day in days_of(week)}
    for one in activity:
        counted[one.day][one.kind.removeprefix("memory.")] += one.count
    return [{"day": day, **dict(sorted(counts.items()))} for day, counts in counted.items()]


def totals(activity: Sequence[Activity]) -> dict[str, int]:
    """Return how often each thing happened to memories in the week."""
    counted: Counter[str] = Counter()
    for one in activity:
        counted[one.kind.removeprefix("memory.")] += one.count
    return dict(sorted(counted.items()))


def writes_by_agent(activity: Sequence[Activity]) -> dict[str, int]:
    """Return how many writes each agent made; the product's own jobs are left out."""
    counted: Counter[str] = Counter()
    for one in activity:
        if one.kind in WRITES and not one.actor.startswith(SYSTEM):
            counted[one.actor] += one.count
    return dict(counted)


def share(part: int, whole: int) -> float:
    """Return a share, 0 of nothing."""
    return round(part / whole, 4) if whole else 0.0


def _summed(duplicates: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    looked_at = sum(counts[0] for counts in duplicates.values())
    near = sum(counts[1] for counts in duplicates.values())
    return {"looked_at": looked_at, "near_duplicates": near, "rate": share(near, looked_at)}
