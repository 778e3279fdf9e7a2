"""Where the local stack meets the product: its settings, and the parts it replaces."""

import os
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from strata import observability
from strata.clock import Clock
from strata.config import PREFIX, Settings
from strata.local.deployment import Deployment
from strata.model.runs import Lease, RunNotice, RunState
from strata.policy import keys
from strata.ports import RunQueue, RunStore

WORKED_ON = frozenset({RunState.RUNNING, RunState.PLANNED})

DATABASE_FILE = "strata.db"
KEY_FILE = "admin.key"


class Product(Protocol):
    """The product with its local parts in place."""

    def recover(self, interrupted: Sequence[str]) -> None:
        """Free what a killed process was working on: the queue messages it had in hand."""
        ...

    def close(self) -> None:
        """Undo the wiring."""
        ...


Wire = Callable[[Settings, RunQueue | None, Clock], Product]
"""Makes the functions of this process use settings, queue and clock."""


class WiredProduct:
    """The real one."""

    def __init__(self, settings: Settings, queue: RunQueue | None, clock: Clock) -> None:
        from strata import bootstrap  # the whole product comes with it

        observability.set_level(settings.log_level)
        observability.mute_metrics()
        self._clock = clock
        self._is_alone = settings.database.url.startswith("sqlite:")
        self._runtime = bootstrap.install(settings, queue=queue, clock=clock)
        self.close = bootstrap.uninstall
        threading.Thread(target=self._runtime.warm, name="warm", daemon=True).start()

    def recover(self, interrupted: Sequence[str]) -> None:
        """Give back the leases a killed process held, where no other process can hold any."""
        from strata.edge.sqs import notice_of

        if self._is_alone:
            for body in interrupted:
                free(self._runtime.runs, notice_of(body), self._clock.now())


def free(runs: RunStore, notice: RunNotice, now: datetime) -> None:
    """End the lease of a worker that is gone; the run can be claimed at once."""
    run = runs.get(notice.tenant, notice.run_id)
    if run is not None and run.state in WORKED_ON:
        held = Lease(run_id=run.run_id, fence=run.fence, expires_at=now)
        runs.release(held, notice.tenant, error_code="interrupted", error_detail="The process ended.", now=now)


def settings_for(deployment: Deployment, data_dir: Path, environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings: the template's, for what is deployed a local part, and last what the environment says.

    Raises:
        ConfigurationError: a variable is unknown or out of bounds.
    """
    own = os.environ if environ is None else environ
    template = {
        name: value for function in deployment.functions.values() for name, value in function.environment.items()
    }
    chosen = {name: value for name, value in own.items() if name.startswith(PREFIX)}
    return Settings.from_env({**template, **_local(data_dir), **chosen})


def admin_key(data_dir: Path) -> str:
    """Return the first admin key of the folder, made on the first call and readable by its owner only."""
    path = data_dir / KEY_FILE
    if not path.exists():
        unfinished = path.with_suffix(".new")
        unfinished.touch(mode=0o600)
        unfinished.write_text(keys.rendered(secrets.token_hex(8), secrets.token_urlsafe(32)))
        unfinished.replace(path)
    return path.read_text().strip()


def _local(data_dir: Path) -> dict[str, str]:
    return {
        "STRATA_LOG_LEVEL": "WARNING",
        "STRATA_DATABASE_URL": f"sqlite:///{data_dir.resolve() / DATABASE_FILE}",
        "STRATA_DATABASE_SECRET_ARN": "",
        "STRATA_DATABASE_TLS": "false",
        "STRATA_DATABASE_POOL_SIZE": "8",
        "STRATA_CACHE_URL": "memory://",
        "STRATA_CACHE_IAM_AUTH": "false",
        "STRATA_CACHE_IAM_USER": "",
        "STRATA_CACHE_IAM_CACHE_NAME": "",
        "STRATA_QUEUE_URL": "",
        "STRATA_MAINTENANCE_AUDIT_BUCKET": "",
        "STRATA_AUTH_BOOTSTRAP_ADMIN_KEY": admin_key(data_dir),
        "STRATA_AUTH_BOOTSTRAP_ADMIN_KEY_SECRET": "",
    }
