"""Commands of an operator, who has the database: they run in this process, with the settings of the service.

Where no database is configured, the local stack's is taken, if its folder is here.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from strata import observability
from strata.bootstrap import Runtime
from strata.clock import SystemClock
from strata.config import Database, Settings
from strata.model.agents import AgentRole, Caller
from strata.model.runs import RunNotice
from strata.ports import Access, RunQueue

DATABASE_VARIABLE = "STRATA_DATABASE_URL"
OPERATOR = "operator"


class _NoQueue:
    """Takes nothing: what an operator brings back to the queue goes there by reconcile."""

    def send(self, notice: RunNotice, *, deduplication: str = "") -> None:  # noqa: ARG002 the port's signature
        click.echo(f"{notice.run_id} is queued; reconcile sends it.", err=True)

    def postpone(self, waits: Mapping[str, int]) -> None:
        """Nothing was received."""


@contextmanager
def product() -> Iterator[Runtime]:
    """Open the product in this process, and close it."""
    observability.set_level("ERROR")
    observability.mute_metrics()
    settings = _settings()
    queue: RunQueue | None = None if settings.queue.url else _NoQueue()
    runtime = Runtime(settings, clock=SystemClock(), queue=queue)
    try:
        yield runtime
    finally:
        runtime.close()


def access(runtime: Runtime, agent: str = OPERATOR) -> Access:
    """Return an administrator's access to the default tenant."""
    tenant = runtime.settings.auth.default_tenant
    return Access.of(Caller(tenant=tenant, agent_id=agent, role=AgentRole.ADMIN))


def _settings() -> Settings:
    settings = Settings.from_env()
    beside = Path(settings.cli.data_dir) / "strata.db"
    if DATABASE_VARIABLE in os.environ or not beside.exists():
        return settings
    return settings.model_copy(update={"database": Database(url=f"sqlite:///{beside.resolve()}")})
