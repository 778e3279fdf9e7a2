"""Joins flows and adapters; the only room that sees both.

``runtime()`` is what the doors use: made from the environment at the first event, then kept for the life of the
process. ``install`` puts other settings, clock or queue in its place: so the local stack serves the same doors.
"""

import threading

from strata import observability
from strata.bootstrap.runtime import Runtime
from strata.clock import Clock, SystemClock
from strata.config import Settings
from strata.ports import RunQueue

__all__ = ["Runtime", "install", "runtime", "uninstall"]

_lock = threading.Lock()
_present: list[Runtime] = []
"""The one runtime of this process, or nothing yet."""


def runtime() -> Runtime:
    """Return the runtime of this process, made at the first call. Raises ConfigurationError."""
    if _present:
        return _present[0]
    with _lock:
        if not _present:
            settings = Settings.from_env()
            observability.set_level(settings.log_level)
            _present.append(Runtime(settings, clock=SystemClock()))
        return _present[0]


def install(settings: Settings, *, clock: Clock | None = None, queue: RunQueue | None = None) -> Runtime:
    """Make the runtime of this process from given settings, and return it."""
    uninstall()
    with _lock:
        _present.append(Runtime(settings, clock=clock or SystemClock(), queue=queue))
        return _present[0]


def uninstall() -> None:
    """Close and forget the runtime of this process."""
    with _lock:
        while _present:
            _present.pop().close()
