"""What is measured: the product behind its HTTP API, private to this process or running elsewhere.

Every id an evaluation uses is scoped, so that it meets nothing that is there already and nothing of another evaluation.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from strata import observability
from strata.client import MemoryClient
from strata.client.transport import quoted
from strata.errors import ConfigurationError, ForbiddenError, InputError, TransientError

if TYPE_CHECKING:
    from strata.ports import Chat, Embedder

PROVIDERS: Mapping[str, str] = {"native": "MYSQL", "memos": "MEMOS", "mem0": "MEM0", "none": "MYSQL"}
"""The names of the command → those of an agent's profile; ``none`` switches the long-term side off."""
TIMEOUT_SECONDS = 120.0


@dataclass(kw_only=True)
class Subject:
    """The product as a task meets it."""

    endpoint: str
    key: str
    scope: str
    """Stands in front of every id of this evaluation."""
    provider: str = "native"
    embedder: "Embedder | None" = None
    """The product's own, where it runs in this process: what it has embedded is not embedded again."""
    chat: "Chat | None" = None
    """The configured chat model, for answers and their judge; None if there is none."""
    _clients: dict[str, MemoryClient] = field(default_factory=dict)

    def scoped(self, name: str) -> str:
        """Return an id of this evaluation: of a user, a session, a collection, an agent."""
        return f"{self.scope}-{name}"[:128]

    def agent(self, name: str = "evaluator", *, provider: str | None = None) -> MemoryClient:
        """Return the client of an agent with the provider of this evaluation, made at the first call.

        With the key of an agent there is that agent alone, whatever its name and profile. Raises StrataError.
        """
        wanted = provider or self.provider
        known = f"{name}/{wanted}"
        if known not in self._clients:
            self._clients[known] = self._made(self.scoped(f"{name}-{wanted}"), wanted)
        return self._clients[known]

    def admin(self) -> MemoryClient:
        """Return a client with the key that was given."""
        if "" not in self._clients:
            self._clients[""] = MemoryClient(self.endpoint, "admin", self.key, timeout_seconds=TIMEOUT_SECONDS)
        return self._clients[""]

    def close(self) -> None:
        """Close every client."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def _made(self, agent_id: str, provider: str) -> MemoryClient:
        path = f"/v1/agents/{quoted(agent_id)}"
        profile = {
            "target_id": "evaluation",
            "long_memory_provider": PROVIDERS[provider],
            "open_long_memory": provider != "none",
        }
        try:
            self.admin().call("PUT", path, profile)
            answer = self.admin().call("POST", f"{path}/keys", {}, safe=False)
        except ForbiddenError:
            return self.admin()
        return MemoryClient(self.endpoint, agent_id, str(answer["key"]), timeout_seconds=TIMEOUT_SECONDS)

    def embedder_name(self) -> str:
        """Return the embedding model of the service; empty if it has none. Raises StrataError."""
        health: Mapping[str, Any] = self.admin().call("GET", "/v1/health")
        embedding = health.get("dependencies", {}).get("embedding", {})
        return str(embedding.get("detail", "")) if embedding.get("state") == "ok" else ""


@contextmanager
def remote(endpoint: str, key: str, scope: str, provider: str) -> Iterator[Subject]:
    """A running service. Raises InputError (no key), StrataError (it does not answer, or refuses the key)."""
    if not key:
        raise InputError("A running service wants a key.", hint="Give --key, or STRATA_CLI_KEY.")
    _require_url(endpoint)
    subject = Subject(endpoint=endpoint, key=key, scope=scope, provider=provider, chat=_configured_chat())
    try:
        _require_strata(subject)
        yield subject
    finally:
        subject.close()


@contextmanager
def private(folder: Path, scope: str, provider: str) -> Iterator[Subject]:
    """A stack of this process in a folder, stopped at the end; what it stored stays in the folder.

    Raises:
        ConfigurationError: the provider has no address, the folder is in use, or a setting is wrong.
    """
    from strata import bootstrap
    from strata.local.stack import LocalStack

    stack = LocalStack(data_dir=folder, port=0)
    stack.start()
    try:
        stack.wait_ready()
        observability.set_level("CRITICAL")  # logs go where results are printed; what fails is told by its run
        runtime = bootstrap.runtime()
        _require_address(runtime.settings.providers, provider)
        embedder = runtime.embedder if runtime.embedder.name else None
        subject = Subject(
            endpoint=stack.url,
            key=stack.admin_key,
            scope=scope,
            provider=provider,
            embedder=embedder,
            chat=_configured_chat(),
        )
        try:
            yield subject
        finally:
            subject.close()
    finally:
        stack.stop()


def _require_url(endpoint: str) -> None:
    try:
        parts = urlsplit(endpoint)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InputError(f"{endpoint!r} is not the address of a service.", hint="Give --endpoint http://host:port.")


def _require_strata(subject: Subject) -> None:
    try:
        health = subject.admin().call("GET", "/v1/health")
    except TransientError as error:
        raise TransientError(f"{subject.endpoint} does not answer.", hint="Is the service up there?") from error
    except ValueError:  # an answer that is not JSON
        health = None
    if not isinstance(health, dict) or "dependencies" not in health:
        raise InputError(f"{subject.endpoint} is not a Strata service.")


def _require_address(providers: Any, provider: str) -> None:  # noqa: ANN401 the section of the settings
    if provider == "memos" and not providers.memos_url:
        raise ConfigurationError("MemOS has no address.", hint="Set STRATA_PROVIDERS_MEMOS_URL.")
    if provider == "mem0" and not providers.mem0_url:
        raise ConfigurationError("Mem0 has no address.", hint="Set STRATA_PROVIDERS_MEM0_URL.")


def _configured_chat() -> "Chat | None":
    from strata.bootstrap.stores import secret_text
    from strata.config import Settings
    from strata.inference.chat import open_chat

    chat = open_chat(Settings.from_env().inference, secret_text)
    return chat if chat.model else None
