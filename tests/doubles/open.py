"""Every kind of external provider, open on its double."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from strata.clock import Clock
from strata.config import Providers
from strata.model.agents import ProviderName
from strata.ports import Provider
from strata.providers import open_provider
from tests.doubles import mem0, mem0_platform, memos, memos_cloud
from tests.doubles.server import Double

KINDS = ("memos", "memos-sync", "memos-cloud", "mem0", "mem0-platform")
_SERVICES: dict[str, Any] = {
    "memos": memos.Memos,
    "memos-sync": memos.Memos,
    "memos-cloud": memos_cloud.MemosCloud,
    "mem0": mem0.Mem0,
    "mem0-platform": mem0_platform.Mem0Platform,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A provider and what stands behind it."""

    kind: str
    provider: Provider
    double: Double
    service: Any


def settings_for(kind: str, url: str, **changes: Any) -> Providers:
    """What has to be configured for a kind."""
    own: dict[str, dict[str, Any]] = {
        "memos": {"memos_url": url},
        "memos-sync": {"memos_url": url, "memos_async": False},
        "memos-cloud": {"memos_url": url + memos_cloud.PREFIX, "memos_key": memos_cloud.KEY},
        "mem0": {"mem0_url": url, "mem0_key": mem0.KEY},
        "mem0-platform": {"mem0_url": url, "mem0_key": mem0_platform.KEY, "mem0_platform": True},
    }
    return Providers(**{"search_timeout_seconds": 5.0, **own[kind], **changes})


def provider_for(kind: str, url: str, clock: Clock, **changes: Any) -> Provider:
    """Open a provider of a kind at an address."""
    name = ProviderName.MEMOS if kind.startswith("memos") else ProviderName.MEM0
    return open_provider(name, settings_for(kind, url, **changes), clock, _no_secrets)


@contextmanager
def opened(kind: str, clock: Clock, behaviour: Any = None, **changes: Any) -> Iterator[Opened]:
    """Start a double and open a provider on it."""
    service = _SERVICES[kind](clock, behaviour)
    with Double(service) as double:
        provider = provider_for(kind, double.url, clock, **changes)
        try:
            yield Opened(kind=kind, provider=provider, double=double, service=service)
        finally:
            provider.close()  # type: ignore[attr-defined]


def _no_secrets(name: str) -> str:
    raise AssertionError(name)
