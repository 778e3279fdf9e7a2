"""Long-term memories outside of Strata: MemOS and Mem0, each self-hosted and as a service."""

from strata.clock import Clock
from strata.config import Providers
from strata.errors import ConfigurationError
from strata.model.agents import ProviderName
from strata.ports import Provider
from strata.providers.credentials import ReadSecret, credential


def open_provider(name: ProviderName, settings: Providers, clock: Clock, secrets: ReadSecret) -> Provider:
    """Return an external provider, to be kept for the life of the process. Nothing is connected or fetched yet.

    ``secrets`` fetches a secret by its name or ARN, anew at each call: a key that a service refuses is fetched again.

    Raises:
        ConfigurationError: the provider has no address, or its settings contradict each other.
    """
    if name is ProviderName.MEMOS:
        return _open_memos(settings, clock, secrets)
    if name is ProviderName.MEM0:
        return _open_mem0(settings, clock, secrets)
    raise ConfigurationError(f"{name} is not an external provider.")


def _open_memos(settings: Providers, clock: Clock, secrets: ReadSecret) -> Provider:
    from strata.providers.http import Endpoint
    from strata.providers.memos.cloud import CloudMemos
    from strata.providers.memos.self_hosted import SelfHostedMemos
    from strata.providers.remote import RemoteProvider

    url = _address(ProviderName.MEMOS, settings.memos_url)
    key = credential(
        "Authorization", "Token", key=settings.memos_key, secret_name=settings.memos_key_secret, secrets=secrets
    )
    endpoint = Endpoint(ProviderName.MEMOS.value, url, settings, clock, credential=key)
    wire = CloudMemos(endpoint, settings) if key else SelfHostedMemos(endpoint, settings)
    return RemoteProvider(wire, settings, clock)


def _open_mem0(settings: Providers, clock: Clock, secrets: ReadSecret) -> Provider:
    from strata.providers.http import Endpoint
    from strata.providers.mem0.oss import OssMem0
    from strata.providers.mem0.platform import PlatformMem0
    from strata.providers.remote import RemoteProvider

    url = _address(ProviderName.MEM0, settings.mem0_url)
    header, scheme = ("Authorization", "Token") if settings.mem0_platform else ("X-API-Key", "")
    key = credential(header, scheme, key=settings.mem0_key, secret_name=settings.mem0_key_secret, secrets=secrets)
    endpoint = Endpoint(ProviderName.MEM0.value, url, settings, clock, credential=key)
    wire = PlatformMem0(endpoint) if settings.mem0_platform else OssMem0(endpoint)
    return RemoteProvider(wire, settings, clock)


def _address(name: ProviderName, url: str) -> str:
    if not url:
        message = f"{name} has no address."
        raise ConfigurationError(message, hint=f"Set STRATA_PROVIDERS_{name}_URL.")
    return url
