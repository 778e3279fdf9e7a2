"""The session flows on given adapters, as ``bootstrap`` joins them, with handles for a test."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from strata import config
from strata.clock import Clock, SystemClock
from strata.errors import CacheUnavailableError, QueueUnavailableError
from strata.model.agents import AgentRole, Caller
from strata.model.messages import Appended, Message, NewMessage, Role
from strata.model.runs import RunNotice
from strata.model.sessions import Session, SessionKey
from strata.ports import Access, Chat, ShortTerm
from strata.sessions.append import AppendMessages
from strata.sessions.end import EndSession, ResumeSession
from strata.sessions.participants import SetParticipants
from strata.sessions.read import GetSession, ListMessages, ReadWindow
from strata.sessions.snapshot import Snapshots
from strata.sessions.summarise import SummariseSession
from strata.sessions.working import WorkingMemory
from strata.storage.cache import RedisSessionCache
from strata.storage.cache_clients import connector
from strata.storage.cache_link import CacheLink
from strata.storage.engine import Database
from strata.storage.messages import SqlMessageLog
from strata.storage.runs import SqlRunStore
from strata.storage.sessions import SqlSessionStore
from strata.tokens.counter import TokenCounter


@dataclass
class NoticeBoard:
    """A queue that keeps what it is sent, or cannot be reached."""

    reachable: bool = True
    sent: dict[str, RunNotice] = field(default_factory=dict)

    def send(self, notice: RunNotice, *, deduplication: str = "") -> None:
        if not self.reachable:
            raise QueueUnavailableError
        self.sent[deduplication] = notice

    def postpone(self, waits: Mapping[str, int]) -> None:
        """Nothing is received here."""


class FlakyLink(CacheLink):
    """A link to a cache that is cut and joined."""

    cut = False

    def call(self, work: Callable[[Any], Any], quick: Callable[[Any], Any] | None = None) -> Any:
        if self.cut:
            raise CacheUnavailableError
        return super().call(work, quick)


class FlakyCache(RedisSessionCache):
    """A cache in this process whose link can be cut; ``forgetful`` loses pushes without a word, as a network may."""

    forgetful = False

    def __init__(self, settings: config.Cache | None = None) -> None:
        settings = settings or config.Cache()
        self.link = FlakyLink(connector(settings), settings, SystemClock())
        super().__init__(self.link, settings, SystemClock())

    def push(self, session: Session, messages: Sequence[Message]) -> None:
        if not self.forgetful:
            super().push(session, messages)


class Desk:
    """Everything one can do with sessions."""

    def __init__(
        self,
        database: Database,
        cache: RedisSessionCache,
        clock: Clock,
        *,
        chat: Chat | None = None,
        counter: TokenCounter | None = None,
        session: config.Session | None = None,
        window: config.Window | None = None,
        list_length: int = 200,
    ) -> None:
        self.database, self.cache, self.clock = database, cache, clock
        self.log, self.store, self.queue = SqlMessageLog(database), SqlSessionStore(database), NoticeBoard()
        self.runs = SqlRunStore(database)
        counter, session, window = counter or TokenCounter(), session or config.Session(), window or config.Window()
        both: dict[str, Any] = {"log": self.log, "sessions": self.store}
        self.append = AppendMessages(**both, cache=cache, counter=counter, settings=session, clock=clock)
        self.snapshots = Snapshots(**both, cache=cache, list_length=list_length)
        self.window = ReadWindow(snapshots=self.snapshots, counter=counter, settings=window)
        self.page = ListMessages(**both)
        self.get = GetSession(sessions=self.store)
        self.end = EndSession(sessions=self.store, runs=self.runs, queue=self.queue, clock=clock)
        self.resume = ResumeSession(sessions=self.store, clock=clock)
        self.participants = SetParticipants(sessions=self.store, cache=cache, settings=session, clock=clock)
        self.working = WorkingMemory(snapshots=self.snapshots, cache=cache, settings=session)
        if chat is not None:
            self.summarise = SummariseSession(
                **both, cache=cache, chat=chat, counter=counter, settings=session, window=window,
                timeout_seconds=5, clock=clock,
            )  # fmt: skip

    def say(self, key: SessionKey, *contents: Any, user: str = "ann", agent: str = "cook", **fields: Any) -> Appended:
        """Append messages of the user."""
        said = [NewMessage(**{"role": Role.USER, "content": content, **fields}) for content in contents]
        return self.append(key, user, agent, said)

    def read(
        self, key: SessionKey, *, rounds: int = 20, max_tokens: int = 8_000, agent: str = "cook", user: str = "ann"
    ) -> ShortTerm:
        """Read the window as an agent."""
        return self.window(access(key, agent), key.session_id, user, rounds=rounds, max_tokens=max_tokens)

    def contents(self, key: SessionKey, **asked: Any) -> list[Any]:
        """Return the contents of the window."""
        return [message.content for message in self.read(key, **asked).window.messages]


def access(key: SessionKey, agent: str) -> Access:
    """Return the rights of an agent."""
    return Access.of(Caller(tenant=key.tenant, agent_id=agent, role=AgentRole.AGENT))
