"""Options that every command about a running service shares."""

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from strata import config
from strata.client import MemoryClient
from strata.client.transport import quoted
from strata.errors import ConfigurationError, ForbiddenError, NotFoundError

F = TypeVar("F", bound=Callable[..., Any])
KEY_FILE = "admin.key"
NEW_AGENT = {"target_id": "any-model", "long_memory_provider": "MYSQL", "open_long_memory": True}


def connect(endpoint: str | None = None, agent: str | None = None, key: str | None = None) -> MemoryClient:
    """Return a client; what is not given comes from the settings, the key at last from the local stack's folder.

    Raises:
        ConfigurationError: there is no key anywhere.
    """
    settings = config.Settings.from_env().cli
    key_file = Path(settings.data_dir) / KEY_FILE
    found = key or settings.key or (key_file.read_text().strip() if key_file.exists() else "")
    if not found:
        message = "No API key is known."
        raise ConfigurationError(
            message, hint="Give --key or STRATA_CLI_KEY, or start the local stack: strata local up."
        )
    return MemoryClient(endpoint or settings.endpoint, agent or settings.agent, found, timeout_seconds=60.0)


def enlisted(client: MemoryClient, agent_id: str) -> MemoryClient:
    """Return a client of an agent that surely exists: with an admin key, the agent is made and given a key.

    With an agent's own key the given client is returned; it has to be that agent's.
    """
    try:
        known: Mapping[str, Any] | None = client.call("GET", f"/v1/agents/{quoted(agent_id)}")
    except NotFoundError:
        known = None
    except ForbiddenError:
        return client
    if known is None:
        client.call("PUT", f"/v1/agents/{quoted(agent_id)}", NEW_AGENT)
    answer = client.call("POST", f"/v1/agents/{quoted(agent_id)}/keys", {}, safe=False)
    return MemoryClient(client.endpoint, agent_id, answer["key"], timeout_seconds=60.0)


def connected(command: F) -> F:
    """Give a command ``--endpoint``, ``--agent`` and ``--key``, and a ``client`` in their place."""

    @click.option("--endpoint", help="Base URL of the service.")
    @click.option("--agent", help="Agent id to act as.")
    @click.option("--key", help="API key.")
    @wraps(command)
    def with_client(*arguments: Any, endpoint: str | None, agent: str | None, key: str | None, **options: Any) -> Any:  # noqa: ANN401 what the command returns
        with connect(endpoint, agent, key) as client:
            return command(*arguments, client=client, **options)

    return with_client  # type: ignore[return-value] # click's decorators keep the call, not the type


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
"""The flag that switches tables off."""
