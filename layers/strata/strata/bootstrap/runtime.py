"""The running service: every flow, wired once."""

from collections.abc import Callable

from strata.bootstrap import consolidating, health, maintaining
from strata.bootstrap.providing import Providing
from strata.bootstrap.stores import open_stores, secret_text
from strata.clock import Clock
from strata.config import Settings
from strata.consolidation import rules, screen
from strata.consolidation.conversation import Conversation
from strata.context.gather import Gather
from strata.context.load import LoadContext
from strata.dedup.guard import decide
from strata.inference.chat import open_chat
from strata.model.agents import Caller, ProviderName
from strata.model.context import ContextRequest, LoadedContext
from strata.model.runs import Run
from strata.model.sessions import SessionKey
from strata.ports import Provider, RunQueue
from strata.providers import open_provider
from strata.providers.native import NativeProvider
from strata.sessions.append import AppendMessages
from strata.sessions.end import EndSession, ResumeSession
from strata.sessions.participants import SetParticipants
from strata.sessions.read import GetSession, ListMessages, ReadWindow
from strata.sessions.snapshot import Snapshots
from strata.sessions.summarise import SummariseSession
from strata.sessions.working import WorkingMemory
from strata.sharing.agents import Agents, Authenticator
from strata.sharing.collection import Collections
from strata.sharing.episodes import Episodes
from strata.sharing.grants import Grants
from strata.sharing.impact import Impacts
from strata.sharing.library import Library
from strata.sharing.look_first import LookFirst
from strata.sharing.quarantine import Reviews, Screening
from strata.sharing.rollback import Rollbacks
from strata.sharing.search import SearchLibrary
from strata.sharing.transfer import Transfer
from strata.sharing.undo import Undo
from strata.sharing.vectors import Vectors
from strata.sharing.verify import Verification
from strata.storage.secrets import Secret
from strata.tokens.counter import TokenCounter

LOOK_FIRST_TOP_K = 8
"""Stored memories that an insert is held against."""


class Runtime:
    """What the doors call."""

    def __init__(self, settings: Settings, *, clock: Clock, queue: RunQueue | None = None) -> None:
        self.settings = settings
        self.clock = clock
        self._stores = open_stores(settings, clock, queue)
        self._counter = TokenCounter()
        self._wire_sessions()
        self._wire_library()
        self._wire_long_term()

    def _wire_sessions(self) -> None:
        stores, clock, limits = self._stores, self.clock, self.settings.session
        snapshots = Snapshots(
            log=stores.log,
            sessions=stores.sessions,
            cache=stores.cache,
            list_length=self.settings.cache.list_length,
        )
        self.append = AppendMessages(
            log=stores.log,
            sessions=stores.sessions,
            cache=stores.cache,
            counter=self._counter,
            settings=limits,
            clock=clock,
        )
        self.read_window = ReadWindow(snapshots=snapshots, counter=self._counter, settings=self.settings.window)
        self.read_messages = ListMessages(log=stores.log, sessions=stores.sessions)
        self.get_session = GetSession(sessions=stores.sessions)
        self.end_session = EndSession(sessions=stores.sessions, runs=stores.runs, queue=stores.queue, clock=clock)
        self.resume_session = ResumeSession(sessions=stores.sessions, clock=clock)
        self.working = WorkingMemory(snapshots=snapshots, cache=stores.cache, settings=limits)
        self.set_participants = SetParticipants(
            sessions=stores.sessions, cache=stores.cache, settings=limits, clock=clock
        )

    def _wire_library(self) -> None:
        stores, clock, limits = self._stores, self.clock, self.settings.library
        self.events, self.runs, self.types, self.queue = stores.events, stores.runs, stores.types, stores.queue
        self.embedder = stores.embedder
        self.agents = Agents(stores.agents, clock)
        self._authenticator = Authenticator(
            stores.agents, clock, self.settings.auth, bootstrap_key=self._bootstrap_key()
        )
        self.collections = Collections(stores.collections, stores.types, clock)
        self.grants = Grants(stores.collections, stores.types, stores.events, clock)
        self.searching = SearchLibrary(stores.memories, stores.embedder, clock, limits)
        self.search = self.searching.search
        look_first = LookFirst(
            self.searching.similar,
            decide,
            similarity=limits.similarity,
            top_k=LOOK_FIRST_TOP_K,
            indexes=self.searching.indexes,
        )
        screening = Screening(stores.quarantine, screen.instructs, clock)
        self.library = Library(
            stores.memories,
            stores.types,
            look_first,
            Vectors(stores.embedder, stores.model),
            clock,
            limits,
            screening,
        )
        self.reviews = Reviews(stores.quarantine, self.library, stores.collections, clock)
        self.rollbacks = Rollbacks(self.library, stores.memories, stores.ledger, clock)
        self.impacts = Impacts(stores.memories, stores.archive, stores.ledger, clock)
        self.undo = Undo(
            stores.memories, stores.archive, stores.copies, stores.quarantine, self.library.embedded, clock
        )
        self.transfer = Transfer(self.library, stores.archive, stores.collections, clock, limits)
        self.verification = Verification(stores.events, stores.archive, stores.collections)
        self.episodes = Episodes(stores.memories, stores.embedder, clock, stores.types.all)

    def _wire_long_term(self) -> None:
        stores, clock, settings = self._stores, self.clock, self.settings
        native = NativeProvider(self.search, stores.memories, clock, semantic=bool(stores.embedder.name))
        self._providing = Providing(stores.agents, native, self._open_provider)
        chat = open_chat(settings.inference, secret_text)
        self._summarise = SummariseSession(
            log=stores.log,
            sessions=stores.sessions,
            cache=stores.cache,
            chat=chat,
            counter=self._counter,
            settings=settings.session,
            window=settings.window,
            timeout_seconds=settings.inference.chat_timeout_seconds,
            clock=clock,
        )
        settling = consolidating.wire(
            settings, stores, clock, self._providing, chat, self.undo.of_run, (self._fold, self._remember)
        )
        self.consolidate, self.replay, self.rejudge = settling.consolidate, settling.replay, settling.rejudge
        self.undo_run, self.dry_run = settling.undo, settling.dry_run
        upkeep = maintaining.wire(settings, stores, clock, self._providing)
        self.jobs, self.audits = upkeep.jobs, upkeep.audits
        self.erasure, self.export = upkeep.erasure, upkeep.export
        limits = settings.context
        gather = Gather(
            stores.memories,
            self._providing.of,
            query_context_chars=limits.query_context_chars,
            default_top_k=limits.top_k,
        )
        self._load = LoadContext(self.read_window, gather, stores.ledger.record, self._counter, settings, clock)

    def load_context(self, caller: Caller, request: ContextRequest) -> LoadedContext:
        """Load the context of a request as the caller's profile wants it. Raises as ``LoadContext``."""
        return self._load(caller, self._providing.profile(caller.tenant, caller.agent_id), request)

    def authenticate(self, presented: str, request_id: str) -> Caller:
        """Return the caller that a key proves. Raises AuthenticationError."""
        return self._authenticator(presented, request_id=request_id)

    def health(self) -> dict[str, dict[str, str]]:
        """Return the state of every dependency."""
        return health.states(self._stores)

    def schema_version(self) -> str:
        """Return the revision of the database."""
        return health.schema(self._stores)

    def warm(self) -> None:
        """Load what would make the first request slow: vocabulary, embedding model, the rules' data."""
        self._counter.count("warm")
        rules.judge((), zone="UTC")
        decide("warm", "warm up")
        if self._stores.embedder.dimensions:
            self._stores.embedder.embed(["warm"], query=True)

    def close(self) -> None:
        """Close every connection."""
        self._load.close()
        self._stores.cache.close()
        self._stores.database.close()

    def _open_provider(self, name: ProviderName) -> Provider:
        return open_provider(name, self.settings.providers, self.clock, secret_text)

    def _bootstrap_key(self) -> Callable[[], str]:
        secret = self.settings.auth.bootstrap_admin_key_secret
        return Secret(secret).text if secret else str

    def _fold(self, run: Run, _talk: Conversation) -> None:
        self._summarise(SessionKey(tenant=run.tenant, session_id=run.session_id))

    def _remember(self, run: Run, talk: Conversation) -> None:
        if self.settings.consolidation.episodes and self._providing.keeps_episodes(run.tenant, run.agent_id):
            self.episodes(run, talk.messages, talk.new, talk.zone)
