"""Which long-term memory an agent uses. Each provider is opened once; none is ever taken in another's place."""

import threading
from collections.abc import Callable, Iterator, Mapping

from strata.errors import ConfigurationError
from strata.model.agents import AgentProfile, ProviderName
from strata.ports import AgentStore, Provider

Open = Callable[[ProviderName], Provider]
"""Opens an external provider. Raises ConfigurationError if it has no address."""


class Providing(Mapping[ProviderName, Provider]):
    """Finds the provider of an agent; as a mapping, those that have an address, opened as they are asked for."""

    def __init__(self, agents: AgentStore, native: Provider, open_external: Open) -> None:
        self._agents = agents
        self._open_external = open_external
        self._lock = threading.Lock()
        self._open: dict[ProviderName, Provider] = {ProviderName.MYSQL: native}

    def profile(self, tenant: str, agent_id: str) -> AgentProfile:
        """Return an agent's profile; one that was never made has the defaults."""
        return self._agents.get(tenant, agent_id) or AgentProfile(tenant=tenant, agent_id=agent_id)

    def of(self, profile: AgentProfile) -> Provider:
        """Return the provider of a profile. Raises ConfigurationError."""
        return self.named(profile.long_memory_provider)

    def named(self, name: str) -> Provider:
        """Return a provider by its name. Raises ConfigurationError."""
        wanted = ProviderName(name)
        with self._lock:
            if wanted not in self._open:
                self._open[wanted] = self._open_external(wanted)
            return self._open[wanted]

    def __getitem__(self, name: ProviderName) -> Provider:
        """Return a provider. Raises KeyError if it has no address."""
        try:
            return self.named(name)
        except ConfigurationError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[ProviderName]:
        return iter(ProviderName)

    def __len__(self) -> int:
        return len(ProviderName)

    def writing(self, tenant: str, agent_id: str) -> Provider | None:
        """Return the provider that consolidation writes to beside the native library; None = the library alone.

        An agent whose long-term memory is switched off leaves nothing with an outside service.
        """
        profile = self.profile(tenant, agent_id)
        return self.of(profile) if profile.uses_long_memory else None

    def keeps_episodes(self, tenant: str, agent_id: str) -> bool:
        """Tell whether an agent's sessions are indexed turn by turn: with the native provider, unless it is off."""
        profile = self.profile(tenant, agent_id)
        return profile.uses_long_memory and profile.long_memory_provider is ProviderName.MYSQL
