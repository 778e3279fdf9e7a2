"""The providers that the contract suite runs against: each on its double, and real servers whose address is told."""

import itertools
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from strata.clock import Clock, FakeClock, SystemClock
from strata.ports import Provider
from tests.doubles import open as doubles

REAL = {
    "memos-real": ("memos", "MEMOS_URL"),
    "memos-sync-real": ("memos-sync", "MEMOS_URL"),
    "mem0-real": ("mem0", "MEM0_URL"),
}
KINDS = [*doubles.KINDS, *(pytest.param(name, id=name) for name, (_, url) in REAL.items() if os.environ.get(url))]

_RUN = secrets.token_hex(4)
_numbers = itertools.count(1)
_SETTLED_WITHIN_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A provider under test, in a tenant of its own."""

    provider: Provider
    clock: Clock
    tenant: str
    pass_time: Callable[[float], None]
    added: dict[str, str] = field(default_factory=dict)
    """The contents that a test added, by id."""

    def settle(self, done: Callable[[], bool]) -> None:
        """Wait until a background add has come to its end."""
        end = time.monotonic() + _SETTLED_WITHIN_SECONDS
        while not done():
            assert time.monotonic() < end, "the add did not come to its end"
            self.pass_time(0.5)


@contextmanager
def subject(kind: str) -> Iterator[Subject]:
    """Open a provider of a kind."""
    tenant = f"tenant-{_RUN}-{next(_numbers)}"
    if kind in REAL:
        like, url = REAL[kind]
        clock = SystemClock()
        key = {"mem0_key": os.environ.get("MEM0_KEY", "")} if like == "mem0" else {}
        provider = doubles.provider_for(like, os.environ[url], clock, write_timeout_seconds=30.0, **key)
        yield Subject(provider=provider, clock=clock, tenant=tenant, pass_time=clock.sleep)
        provider.close()  # type: ignore[attr-defined]
        return
    fake = FakeClock()
    with doubles.opened(kind, fake) as opened:
        yield Subject(provider=opened.provider, clock=fake, tenant=tenant, pass_time=fake.advance)
