"""The shared library on a test's own database, with an index that reads everything and a judge of equal words."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from strata import config
from strata.clock import FakeClock
from strata.dedup.fingerprint import normalise
from strata.model.agents import AgentRole, Caller
from strata.model.memories import Hit
from strata.ports import Access, CollectionView, MemoryDraft
from strata.sharing.agents import Agents
from strata.sharing.collection import Collections
from strata.sharing.grants import Grants
from strata.sharing.impact import Impacts
from strata.sharing.library import Library
from strata.sharing.look_first import Beside, LookFirst
from strata.sharing.quarantine import Reviews, Screening
from strata.sharing.rollback import Rollbacks
from strata.sharing.transfer import Transfer
from strata.sharing.undo import Undo
from strata.sharing.vectors import Vectors
from strata.sharing.verify import Verification
from strata.storage.agents import SqlAgentStore
from strata.storage.archive import SqlArchive
from strata.storage.collections import SqlCollectionStore
from strata.storage.copies import SqlCopyLedger
from strata.storage.engine import Database
from strata.storage.events import SqlEventLog
from strata.storage.ledger import SqlReadLedger
from strata.storage.memories import SqlMemoryStore
from strata.storage.memory_types import SqlTypeStore
from strata.storage.quarantine import SqlQuarantineStore


@dataclass(frozen=True)
class SameWords:
    """The verdict of :func:`decide`."""

    kind: str


def decide(old: str, new: str) -> SameWords:
    """Texts are the same fact if they have the same words; texts with the same first words contradict each other."""
    if normalise(old) == normalise(new):
        return SameWords("merge")
    return SameWords("conflict" if old[:2] == new[:2] else "distinct")


class HashEmbedder:
    """Vectors that differ when texts do, and mean nothing."""

    name = "hash"
    dimensions = 8

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        """Return 32 bytes a text."""
        return [hashlib.sha256(text.encode()).digest() for text in texts]

    def background(self, dense_scripts: int, *, question: bool) -> tuple[float, float]:
        """Any two vectors are unrelated."""
        return 0.0, 1.0


class Shelf:
    """Everything a test of the shared library needs, over one database and one tenant."""

    def __init__(self, database: Database, clock: FakeClock, tenant: str) -> None:
        self.database = database
        self.clock = clock
        self.tenant = tenant
        self.types = SqlTypeStore(database, clock)
        self.memories = SqlMemoryStore(database, self.types)
        self.archive = SqlArchive(database, self.types)
        self.collection_store = SqlCollectionStore(database, self.types)
        self.events = SqlEventLog(database)
        self.ledger = SqlReadLedger(database)
        self.quarantine = SqlQuarantineStore(database)
        self.agent_store = SqlAgentStore(database)

    def access(self, agent_id: str, *, admin: bool = False) -> Access:
        """Return the rights of an agent's key."""
        return Access(tenant=self.tenant, agent_id=agent_id, admin=admin)

    @property
    def admin(self) -> Access:
        """Return an administrator's rights."""
        return self.access("admin", admin=True)

    @property
    def admin_caller(self) -> Caller:
        """Return an administrator as the edge sees one."""
        return Caller(tenant=self.tenant, agent_id="admin", role=AgentRole.ADMIN)

    @cached_property
    def library(self) -> Library:
        """The library."""
        look_first = LookFirst(self.beside, decide, similarity=0.5, top_k=5)
        screen = Screening(self.quarantine, instructs, self.clock)
        return Library(
            self.memories, self.types, look_first, Vectors(HashEmbedder()), self.clock, config.Library(), screen=screen
        )

    @cached_property
    def reviews(self) -> Reviews:
        """The quarantine, for a person."""
        return Reviews(self.quarantine, self.library, self.collection_store, self.clock)

    @cached_property
    def rollbacks(self) -> Rollbacks:
        """Rollbacks."""
        return Rollbacks(self.library, self.memories, self.ledger, self.clock)

    @cached_property
    def impacts(self) -> Impacts:
        """Questions to the ledger."""
        return Impacts(self.memories, self.archive, self.ledger, self.clock)

    @cached_property
    def undo(self) -> Undo:
        """Undos."""
        copies = SqlCopyLedger(self.database)
        return Undo(self.memories, self.archive, copies, self.quarantine, self.library.embedded, self.clock)

    @cached_property
    def transfer(self) -> Transfer:
        """Export and import."""
        return Transfer(self.library, self.archive, self.collection_store, self.clock, config.Library())

    @cached_property
    def verification(self) -> Verification:
        """Proof of the trail."""
        return Verification(self.events, self.archive, self.collection_store)

    @cached_property
    def collections(self) -> Collections:
        """Policies."""
        return Collections(self.collection_store, self.types, self.clock)

    @cached_property
    def grants(self) -> Grants:
        """Registrations."""
        return Grants(self.collection_store, self.types, self.events, self.clock)

    @cached_property
    def agents(self) -> Agents:
        """Profiles and keys."""
        return Agents(self.agent_store, self.clock)

    def beside(
        self, access: Access, draft: MemoryDraft, top_k: int, threshold: float, _view: CollectionView | None
    ) -> Beside:
        """Return memories that share characters with one about to be stored."""
        hits = self.search(access, draft.collection, draft.content, [draft.memory_type], top_k)
        return Beside(memories=[hit.memory for hit in hits if hit.score >= threshold])

    def search(self, access: Access, collection: str, text: str, types: Sequence[str], top_k: int) -> list[Hit]:
        """Return memories that share characters with the text."""
        found = self.memories.listed(access, collection, now=self.clock.now(), memory_types=types, limit=1_000)
        hits = [Hit(memory=memory, score=overlap(memory.content, text)) for memory in found]
        return sorted(hits, key=lambda hit: hit.score, reverse=True)[:top_k]

    def kinds(self) -> list[str]:
        """Return the kinds of the tenant's events, oldest first."""
        return [event.kind for event in self.events.after(self.tenant, 0, limit=10_000)]


def instructs(text: str) -> bool:
    """Tell whether a text gives orders, the way these tests write them."""
    return text.startswith(("From now on", "以后都"))


def overlap(one: str, other: str) -> float:
    """Return the Jaccard overlap of characters."""
    return len(set(one) & set(other)) / max(1, len(set(one) | set(other)))
