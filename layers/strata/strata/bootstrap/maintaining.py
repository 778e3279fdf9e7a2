"""The scheduled jobs, the reports and what is done for a user's data, wired."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from strata.bootstrap.providing import Providing
from strata.bootstrap.stores import Stores
from strata.clock import Clock
from strata.config import Settings
from strata.consolidation.lookup import scope_of
from strata.consolidation.native import NativeWrites
from strata.maintenance.audit import Audits
from strata.maintenance.erasure import Erasure
from strata.maintenance.export import Export
from strata.maintenance.purge import PurgeJob
from strata.maintenance.reconcile import AddAgain, Limits, Reconcile
from strata.model.runs import Run
from strata.policy.retention import expiry
from strata.ports import ReadBack
from strata.storage.audits import SqlAuditStore
from strata.storage.jobs import SqlJobStore
from strata.storage.purge import SqlPurge
from strata.storage.reports import open_report_archive
from strata.storage.retention import SqlRetention
from strata.storage.schema import migrate
from strata.storage.users import SqlUserStore

Job = Callable[[float], Mapping[str, Any]]
"""A job: it is given seconds and returns a report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintaining:
    """Jobs by name, reports, users."""

    jobs: Mapping[str, Job]
    audits: Audits
    erasure: Erasure
    export: Export


def wire(settings: Settings, stores: Stores, clock: Clock, providing: Providing) -> Maintaining:
    """Wire it."""
    limits = settings.maintenance
    users = SqlUserStore(stores.database, stores.types)
    audits = Audits(
        SqlAuditStore(stores.database, stores.types),
        stores.events,
        SqlJobStore(stores.database),
        open_report_archive(limits.audit_bucket),
        clock,
        limits,
    )
    purge = PurgeJob(SqlPurge(stores.database, stores.types), SqlRetention(stores.database), clock, limits)
    reconcile = Reconcile(
        stores.runs,
        stores.queue,
        providing.named,
        _adding_again(stores, clock, providing),
        clock,
        Limits(
            stuck_seconds=settings.consolidation.stuck_seconds,
            most_attempts=settings.queue.max_receives,
            batch=limits.batch,
        ),
    )
    return Maintaining(
        jobs={
            "audit": audits,
            "migrate": lambda _seconds: {"migrated": migrate(stores.database)},
            "purge": lambda seconds: asdict(purge(seconds)),
            "reconcile": lambda seconds: reconcile(seconds=seconds),
        },
        audits=audits,
        erasure=Erasure(users, stores.sessions, stores.cache, providing, stores.runs, clock),
        export=Export(users, stores.sessions, stores.log, stores.archive, providing, clock),
    )


def _adding_again(stores: Stores, clock: Clock, providing: Providing) -> AddAgain:
    writes = NativeWrites(stores.memories)

    def add_again(check: ReadBack, run: Run) -> None:
        planned = run.plan.writes if run.plan else ()
        for write in (write for write in planned if write.key == check.receipt.key):
            now = clock.now()
            ends = expiry(write.ttl_seconds, run.finished_at or now)  # it lives no longer for having been lost
            draft = writes.draft(run, write, expires_at=ends, embedding=None, embedding_model="")
            providing.named(check.receipt.provider).add(scope_of(run), draft, now=now)

    return add_again
