"""The adapters of one process: database, cache, queue, embedder, chat. Nothing connects before it is used."""

from dataclasses import dataclass

from strata.clock import Clock
from strata.config import Settings
from strata.inference.embed import open_embedder
from strata.inference.remembered import RememberedEmbedder
from strata.ports import Embedder, RunQueue
from strata.storage.agents import SqlAgentStore
from strata.storage.archive import SqlArchive
from strata.storage.cache import RedisSessionCache, open_cache
from strata.storage.collections import SqlCollectionStore
from strata.storage.copies import SqlCopyLedger
from strata.storage.engine import Database, open_database
from strata.storage.events import SqlEventLog
from strata.storage.ledger import SqlReadLedger
from strata.storage.memories import SqlMemoryStore
from strata.storage.memory_types import SqlTypeStore
from strata.storage.messages import SqlMessageLog
from strata.storage.quarantine import SqlQuarantineStore
from strata.storage.queue import open_queue
from strata.storage.runs import SqlRunStore
from strata.storage.secrets import Secret
from strata.storage.sessions import SqlSessionStore
from strata.storage.vectors import SqlVectorStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """Every store of one process."""

    database: Database
    cache: RedisSessionCache
    queue: RunQueue
    log: SqlMessageLog
    sessions: SqlSessionStore
    agents: SqlAgentStore
    types: SqlTypeStore
    collections: SqlCollectionStore
    memories: SqlMemoryStore
    archive: SqlArchive
    copies: SqlCopyLedger
    events: SqlEventLog
    ledger: SqlReadLedger
    quarantine: SqlQuarantineStore
    runs: SqlRunStore
    embedder: Embedder
    model: Embedder
    """The embedder without what is kept in the database."""


def open_stores(settings: Settings, clock: Clock, queue: RunQueue | None) -> Stores:
    """Make the stores. Raises ConfigurationError."""
    database = open_database(settings.database, clock)
    types = SqlTypeStore(database, clock)
    model = open_embedder(settings.inference, secret_text, clock)
    return Stores(
        database=database,
        cache=open_cache(settings.cache, clock, settings.session.summary_cache_seconds),
        queue=queue or open_queue(settings.queue),
        log=SqlMessageLog(database),
        sessions=SqlSessionStore(database),
        agents=SqlAgentStore(database),
        types=types,
        collections=SqlCollectionStore(database, types),
        memories=SqlMemoryStore(database, types, restore_days=settings.library.restore_days),
        archive=SqlArchive(database, types),
        copies=SqlCopyLedger(database),
        events=SqlEventLog(database),
        ledger=SqlReadLedger(database),
        quarantine=SqlQuarantineStore(database),
        runs=SqlRunStore(database),
        embedder=RememberedEmbedder(model, SqlVectorStore(database), clock),
        model=model,
    )


def secret_text(name: str) -> str:
    """Fetch a secret anew. Raises TransientError."""
    return Secret(name).text()
