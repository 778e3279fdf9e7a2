"""Consolidation as bootstrap builds it, on a database and a cache of the test's choice, with a clock that stands."""

import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

from strata import config
from strata.clock import FakeClock
from strata.consolidation.claim import Claim
from strata.consolidation.commit import Commit
from strata.consolidation.conflicts import Conflicts
from strata.consolidation.fresh import Fresh
from strata.consolidation.judge import Judge
from strata.consolidation.lookup import Lookup
from strata.consolidation.model_conflicts import ModelConflicts
from strata.consolidation.model_judge import ModelJudge
from strata.consolidation.normalise import Normalise, Screen
from strata.consolidation.pairs import Pairs
from strata.consolidation.pipeline import Afterwards, Consolidate, Steps
from strata.consolidation.planning import Planning
from strata.consolidation.prune import Prune
from strata.consolidation.record import Record
from strata.consolidation.replay import notice_of
from strata.errors import CacheUnavailableError
from strata.model.memories import Memory
from strata.model.messages import Kind, NewMessage, Role
from strata.model.runs import Plan, Run
from strata.model.sessions import SessionKey
from strata.ports import Access, Chat, Counted, Embedder, Provider, RuleJudge, SessionCache
from strata.storage.cache import open_cache
from strata.storage.engine import open_database
from strata.storage.memories import SqlMemoryStore
from strata.storage.memory_types import SqlTypeStore
from strata.storage.messages import SqlMessageLog
from strata.storage.runs import SqlRunStore
from strata.storage.schema import migrate
from strata.storage.sessions import SqlSessionStore
from tests.fakes.rules import labelled
from tests.fakes.screening import instructs, redacted

NOW = datetime(2026, 3, 10, 8, 0, tzinfo=UTC)
USER, AGENT = "chen", "recipe_adviser"
LIKES, DISLIKES = "偏好：用户喜欢吃辣", "偏好：用户不喜欢吃辣"
ALLERGY = "过敏：用户对花生过敏"


class NoEmbedder:
    """No model: nothing is embedded."""

    name = ""
    dimensions = 0

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        raise NotImplementedError

    def background(self, dense_scripts: int, *, question: bool) -> tuple[float, float]:
        return 0.0, 1.0


class NoCache:
    """A cache that cannot be reached."""

    def close(self) -> None:
        """There is nothing to close."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*_arguments: object, **_named: object) -> NoReturn:
            raise CacheUnavailableError

        return call


def fresh_file(folder: Path) -> str:
    """The URL of an empty database in a folder, copied from one that is migrated once for all tests."""
    shutil.copy(_migrated(), folder / "strata.db")
    return f"sqlite:///{folder / 'strata.db'}"


@lru_cache(maxsize=1)
def _migrated() -> Path:
    file = Path(tempfile.mkdtemp(prefix="strata-tests-")) / "empty.db"
    opened = open_database(config.Database(url=f"sqlite:///{file}"), FakeClock(NOW))
    migrate(opened)
    opened.read(lambda connection: connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").all())
    opened.close()
    return file


@dataclass(kw_only=True)
class Rig:
    """Everything on one database; several of them on one database are several workers."""

    url: str
    cache_url: str = ""
    clock: FakeClock = field(default_factory=lambda: FakeClock(NOW))
    chat: Chat | None = None
    cache: SessionCache | None = None
    embedder: Embedder = field(default_factory=NoEmbedder)
    provider: Provider | None = None
    rules: RuleJudge = labelled
    settings: config.Consolidation = field(default_factory=config.Consolidation)
    afterwards: Sequence[Afterwards] = ()
    on_step: Callable[[str], object] = lambda _step: None
    tenant: str = "home"
    max_attempts: int = 5
    pool_size: int = 4

    def __post_init__(self) -> None:
        self.database = open_database(config.Database(url=self.url, pool_size=self.pool_size), self.clock)
        migrate(self.database)
        cache_url = self.cache_url or f"memory://{next(_numbers)}"
        self.opened_cache = self.cache or open_cache(config.Cache(url=cache_url), self.clock)
        weakref.finalize(self, _close, self.database, self.opened_cache, self.provider)
        self.types = SqlTypeStore(self.database, self.clock)
        self.store = SqlMemoryStore(self.database, self.types)
        self.log = SqlMessageLog(self.database)
        self.sessions = SqlSessionStore(self.database)
        self.runs = SqlRunStore(self.database)
        self.fresh = Fresh(self.runs, self.log, self.sessions, self.opened_cache, self.settings, self.clock, redacted)
        self.planning = self._planning()
        self.consolidate = Consolidate(
            Steps(
                claim=Claim(self.runs, self.opened_cache, self.settings, self.clock),
                fresh=self.fresh,
                planning=self.planning,
                commit=Commit(self.runs, self.store, self.embedder, self._provider_for, self.clock, self._step),
                record=Record(self.runs, self.clock),
            ),
            self.runs,
            self.clock,
            max_attempts=self.max_attempts,
            afterwards=self.afterwards,
            on_step=self._step,
        )

    def _planning(self) -> Planning:
        model = None
        conflicts = None
        if self.chat is not None:
            model = ModelJudge(self.chat, self.rules, max_tokens=2_000, max_chars=self.settings.judge_chars)
            conflicts = ModelConflicts(self.chat, max_tokens=2_000)
        return Planning(
            judge=Judge(rules=self.rules, model=model, timeout_seconds=30),
            normalise=Normalise(self.settings, Screen(redact=redacted, instructs=instructs), self.types.all),
            prune=Prune(Lookup(self.store, self._provider_for), Pairs()),
            conflicts=Conflicts(self.store, self._provider_for, conflicts, timeout_seconds=30),
            clock=self.clock,
        )

    def _provider_for(self, tenant: str, agent_id: str) -> Provider | None:
        return self.provider

    def provider_named(self, _name: str) -> Provider:
        """The external provider, for the errands that only runs with one leave."""
        assert self.provider is not None
        return self.provider

    def _step(self, step: str) -> None:
        self.on_step(step)

    # --- what a client and the queue do

    def say(
        self,
        *texts: str,
        session: str = "dinner",
        role: Role = Role.USER,
        user: str = USER,
        agent: str = AGENT,
        at: datetime | None = None,
    ) -> None:
        """Append messages to a session."""
        said = [
            Counted(
                message=NewMessage(
                    role=role, content=text, kind=Kind.TOOL if role is Role.TOOL else Kind.CHAT, said_at=at
                ),
                tokens=len(text),
                digest=hashlib.md5(f"{role}:{text}".encode(), usedforsecurity=False).hexdigest(),
            )
            for text in texts
        ]
        self.log.append(self.key(session), user, agent, said, now=self.clock.now(), zone="Asia/Shanghai")

    def end(self, session: str = "dinner") -> Run:
        """End a session."""
        return self.sessions.end(self.key(session), run_id=f"run-{next(_numbers)}", now=self.clock.now())

    def deliver(self, run: Run, *, attempt: int = 1, seconds: float = 60) -> Run:
        """Deliver a run's notice."""
        return self.consolidate(notice_of(run), attempt=attempt, remaining_seconds=lambda: seconds)

    def settle(self, *texts: str, session: str = "dinner", **said: Any) -> Run:
        """Say something, end the session, deliver the notice."""
        self.say(*texts, session=session, **said)
        return self.deliver(self.end(session))

    # --- what is there

    def key(self, session: str = "dinner") -> SessionKey:
        """The key of a session."""
        return SessionKey(tenant=self.tenant, session_id=session)

    def memories(self, collection: str = f"user:{USER}") -> list[Memory]:
        """The live memories of a collection, oldest statement first."""
        access = Access(tenant=self.tenant, agent_id="auditor", system=True)
        found = self.store.listed(access, collection, now=self.clock.now(), limit=1_000)
        return sorted(found, key=lambda memory: (memory.said_at, memory.content))

    def contents(self, collection: str = f"user:{USER}") -> list[str]:
        """Their sentences."""
        return [memory.content for memory in self.memories(collection)]

    def everything(self, collection: str = f"user:{USER}") -> Mapping[str, str]:
        """The status of every memory of a collection, by sentence; later writes win."""
        found = sorted(self.store.changes(self.tenant, collection, 0), key=lambda memory: memory.created_at)
        return {memory.content: memory.status.value for memory in found}

    def state(self, run: Run) -> Run:
        """A run as it is now."""
        found = self.runs.get(self.tenant, run.run_id)
        assert found is not None
        return found


def plan_of(run: Run) -> Plan:
    """The plan of a run that has one."""
    assert run.plan is not None
    return run.plan


_numbers = count(1)


def _close(*parts: object) -> None:
    """Give connections back when nobody needs the rig any more."""
    for part in parts:
        getattr(part, "close", lambda: None)()
