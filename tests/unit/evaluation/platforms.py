"""Platforms in the place of the product: one remembers everything, one keeps to itself, one cannot hold its tongue."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strata.client import ContextResult
from strata.errors import NotFoundError


@dataclass
class Heard:
    """What was said to whom."""

    user: str
    session: str
    role: str
    content: str


@dataclass
class Log:
    """Everything said on a platform."""

    heard: list[Heard] = field(default_factory=list)


class Client:
    """One agent's connection; ``shared`` says whether other sessions of the user are delivered."""

    def __init__(self, log: Log, agent_id: str, *, shared: bool) -> None:
        self.agent_id = agent_id
        self._log = log
        self._shared = shared

    def append(self, session: str, user: str, messages: Sequence[Mapping[str, Any]], **_options: object) -> None:
        self._log.heard += [Heard(user, session, one["role"], one["content"]) for one in messages]

    def end_session(self, session: str) -> str:
        return f"run-{session}"

    def wait_for_run(self, run_id: str, **_options: object) -> Mapping[str, Any]:
        at = "2026-01-01T00:00:00+00:00"
        return {"state": "succeeded", "judge": "fake", "run_id": run_id, "created_at": at, "finished_at": at}

    def memories(self, collection: str, **_options: object) -> list[Heard]:
        return [one for one in self._log.heard if f"user:{one.user}" == collection]

    def load_context(self, session: str, user: str, message: str, **options: object) -> ContextResult:
        own = [one for one in self._log.heard if one.session == session]
        told = [one for one in self.remembered(user) if one.session != session] if self._shared else []
        rows = [f"- (episode, today, by {self.agent_id}) {one.role}: {one.content}" for one in told]
        prompt = "\n".join(["<long_term_memory>", "About the user:", *rows]) if rows else ""
        window = ({"role": one.role, "content": one.content} for one in own)
        return ContextResult(
            messages=({"role": "system", "content": prompt}, *window), prompt=prompt, summary=None, memories={},
            usage={"memories": len(prompt)}, dropped=(), degraded=(), timings_ms={"total": 1.0}, working={},
        )  # fmt: skip

    def remembered(self, user: str) -> list[Heard]:
        return [one for one in self._log.heard if one.user == user]


class Gossip(Client):
    """Delivers what any user said."""

    def remembered(self, user: str) -> list[Heard]:
        return self._log.heard


class Shut(Client):
    """Has no collections, and refuses whatever is asked beside a context and one's own session."""

    def __init__(self, log: Log, agent_id: str, *, shared: bool) -> None:
        super().__init__(log, agent_id, shared=shared)
        self._sessions: set[str] = set()

    def append(self, session: str, user: str, messages: Sequence[Mapping[str, Any]], **options: object) -> None:
        self._sessions.add(session)
        super().append(session, user, messages, **options)

    def load_context(self, session: str, user: str, message: str, **options: object) -> ContextResult:
        if options.get("collections") or any(one.session == session for one in self._log.heard):
            raise NotFoundError
        return super().load_context(session, user, message, **options)

    def register_agent(self, *_arguments: object, **_options: object) -> None:
        """Take note of nothing."""

    def call(self, *_arguments: object, **_options: object) -> None:
        """Do nothing."""

    def insert_memory(self, _collection: str, _type: str, _content: str, *, memory_id: str) -> Any:
        return type("Done", (), {"memory_id": memory_id})()

    def search_similar(self, *_arguments: object, **_options: object) -> list[Any]:
        raise NotFoundError

    get_memory = history = messages = memories = search_similar


class Careless(Gossip, Shut):
    """Refuses what it should, and delivers everybody's words all the same."""


class Platform:
    """A subject whose agents are of one kind; the provider ``none`` shares nothing."""

    scope = "test"
    provider = "native"

    def __init__(self, kind: type[Client] = Client) -> None:
        self._log = Log()
        self._kind = kind
        self._clients: dict[str, Client] = {}

    def scoped(self, name: str) -> str:
        return f"{self.scope}-{name}"

    def agent(self, name: str = "evaluator", *, provider: str | None = None) -> Client:
        known = f"{name}-{provider or self.provider}"
        if known not in self._clients:
            self._clients[known] = self._kind(self._log, self.scoped(known), shared=provider != "none")
        return self._clients[known]

    def admin(self) -> Client:
        return self.agent("admin")
