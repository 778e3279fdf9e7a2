"""What the flows need of the world. Adapters implement these; ``bootstrap`` joins them.

Every method is one bounded call: it returns, or raises an error of ``strata.errors``. A method that writes is atomic.
"""

from strata.ports.agents import AgentStore
from strata.ports.collections import CollectionStore, TypeStore
from strata.ports.context import ShortTerm, WindowReader
from strata.ports.inference import Chat, ChatReply, Embedder, VectorStore
from strata.ports.library import (
    Access,
    CollectionView,
    MemoryDraft,
    MemoryEdit,
    MemoryStore,
    Opening,
    Written,
)
from strata.ports.providers import Capabilities, Provider, ProviderHits, ProviderQuery, ProviderScope
from strata.ports.quarantine import QuarantineStore
from strata.ports.records import Archive, CopyLedger, EventLog, ReadLedger
from strata.ports.runs import ReadBack, RuleJudge, RunQueue, RunStore
from strata.ports.sessions import CachedSession, Counted, MessageLog, SessionCache, SessionStore
from strata.ports.upkeep import (
    Activity,
    AuditStore,
    Contested,
    JobStore,
    ProviderCopy,
    Purge,
    Purged,
    ReportArchive,
    Retention,
    UserStore,
)

__all__ = [
    "Access",
    "Activity",
    "AgentStore",
    "Archive",
    "AuditStore",
    "CachedSession",
    "Capabilities",
    "Chat",
    "ChatReply",
    "CollectionStore",
    "CollectionView",
    "Contested",
    "CopyLedger",
    "Counted",
    "Embedder",
    "EventLog",
    "JobStore",
    "MemoryDraft",
    "MemoryEdit",
    "MemoryStore",
    "MessageLog",
    "Opening",
    "Provider",
    "ProviderCopy",
    "ProviderHits",
    "ProviderQuery",
    "ProviderScope",
    "Purge",
    "Purged",
    "QuarantineStore",
    "ReadBack",
    "ReadLedger",
    "ReportArchive",
    "Retention",
    "RuleJudge",
    "RunQueue",
    "RunStore",
    "SessionCache",
    "SessionStore",
    "ShortTerm",
    "TypeStore",
    "UserStore",
    "VectorStore",
    "WindowReader",
    "Written",
]
