"""Proving that nothing was changed, removed or reordered behind the product's back.

Four things have to agree: the chain of audit events (numbered, each with the hash of the one before), the digests
that every memory and every version carries, what the events say those digests were, and the policies and
registrations that the events tell of. A whole database that was put
back to an earlier state agrees with itself; it is found by a head that was kept elsewhere (``anchors``: the weekly
reports hold one).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from strata.model.events import AuditEvent
from strata.model.memories import Collection, Memory, MemoryVersion, Registration
from strata.policy.digests import FIRST_HASH, event_hash, memory_digest, version_digest
from strata.ports import Archive, CollectionStore, EventLog
from strata.sharing.rights_witness import Finding, RightsWitness

PAGE = 500
GONE = frozenset({"memory.purged", "memory.erased"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The outcome: how much was looked at, what was found, and the head to keep elsewhere."""

    events: int
    memories: int
    versions: int
    findings: tuple[Finding, ...]
    head: tuple[int, str]

    @property
    def is_whole(self) -> bool:
        """Tell whether nothing was found."""
        return not self.findings


@dataclass(slots=True)
class Expected:
    """What the events say of one memory."""

    collection: str
    digest: str
    versions: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Witness:
    """What must be there, going by the events; what was seen is taken out."""

    memories: dict[str, Expected] = field(default_factory=dict)

    def hear(self, event: AuditEvent) -> None:
        """Take one event into account."""
        if event.kind in GONE:
            self.memories.pop(event.memory_id, None)
        elif event.kind == "collection.deleted":
            self.memories = {key: one for key, one in self.memories.items() if one.collection != event.collection}
        elif "version_digest" in event.detail:
            self._expect(event.memory_id, event.collection, event.detail)

    def _expect(self, memory_id: str, collection: str, detail: Mapping[str, Any]) -> None:
        expected = self.memories.setdefault(memory_id, Expected(collection=collection, digest=""))
        expected.digest = detail["digest"]
        expected.versions[detail["version"]] = detail["version_digest"]

    def see_memory(self, memory: Memory) -> Finding | None:
        """Compare a stored memory with what was said of it."""
        expected = self.memories.get(memory.memory_id)
        if expected is None:
            return Finding(kind="memory_unknown", memory_id=memory.memory_id)
        told, expected.digest = expected.digest, ""
        if memory.digest == told == memory_digest(memory):
            return None
        return Finding(kind="memory_changed", memory_id=memory.memory_id, version=memory.version)

    def see_version(self, version: MemoryVersion) -> Finding | None:
        """Compare a stored version with what was said of it."""
        expected = self.memories.get(version.memory_id)
        told = expected.versions.pop(version.version, None) if expected else None
        if told is None:
            return Finding(kind="version_unknown", memory_id=version.memory_id, version=version.version)
        if version.digest == told == version_digest(version):
            return None
        return Finding(kind="version_changed", memory_id=version.memory_id, version=version.version)

    def unseen(self) -> Iterator[Finding]:
        """Yield what was told of and not seen."""
        for memory_id, expected in self.memories.items():
            if expected.digest:
                yield Finding(kind="memory_missing", memory_id=memory_id)
            for version in expected.versions:
                yield Finding(kind="version_missing", memory_id=memory_id, version=version)


class Trail:
    """Follows the chain of events."""

    def __init__(self, anchors: Mapping[int, str]) -> None:
        self.seq = 0
        self.hash = FIRST_HASH
        self._anchors = anchors

    def follow(self, event: AuditEvent) -> Iterator[Finding]:
        """Yield what is wrong with the next event."""
        if event.seq != self.seq + 1:
            yield Finding(kind="event_missing", seq=self.seq + 1)
        elif event.previous_hash != self.hash:
            yield Finding(kind="event_reordered", seq=event.seq)
        if event.hash != event_hash(event):
            yield Finding(kind="event_changed", seq=event.seq)
        if self._anchors.get(event.seq, event.hash) != event.hash:
            yield Finding(kind="history_replaced", seq=event.seq)
        self.seq, self.hash = event.seq, event.hash

    def end(self, head: tuple[int, str]) -> Iterator[Finding]:
        """Yield what is wrong with the end of the trail."""
        if head != (self.seq, self.hash):
            yield Finding(kind="head_moved", seq=head[0])
        if any(seq > self.seq for seq in self._anchors):
            yield Finding(kind="history_replaced", seq=max(self._anchors))


class Verification:
    """Walks a tenant's trail, memories, versions, policies and registrations."""

    def __init__(self, events: EventLog, archive: Archive, collections: CollectionStore) -> None:
        self._events = events
        self._archive = archive
        self._collections = collections

    def verify(self, tenant: str, *, anchors: Mapping[int, str] | None = None) -> Verified:
        """Return everything that does not agree. ``anchors``: hashes of earlier heads by their number."""
        witness, rights, trail = Witness(), RightsWitness(), Trail(anchors or {})
        findings: list[Finding] = []
        for event in self._trail(tenant):
            wrong = list(trail.follow(event))
            findings.extend(wrong)
            witness.hear(event)
            if not any(finding.kind == "event_changed" for finding in wrong):
                rights.hear(event)  # a forged event may say anything, or nothing
        head = self._events.head(tenant)
        findings.extend(trail.end(head))
        memories = [witness.see_memory(memory) for memory in self._memories(tenant)]
        versions = [witness.see_version(version) for version in self._versions(tenant)]
        findings.extend(finding for finding in (*memories, *versions) if finding is not None)
        findings.extend(witness.unseen())
        findings.extend(self._rights(tenant, rights))
        return Verified(
            events=trail.seq, memories=len(memories), versions=len(versions), findings=tuple(findings), head=head
        )

    def _rights(self, tenant: str, rights: RightsWitness) -> Iterator[Finding]:
        seen = [rights.see_policy(stored) for stored in self._policies(tenant)]
        seen += [rights.see_registration(stored, decided_by) for stored, decided_by in self._registrations(tenant)]
        yield from (finding for finding in seen if finding is not None)
        yield from rights.unseen()

    def _trail(self, tenant: str) -> Iterator[AuditEvent]:
        page = self._events.after(tenant, 0, limit=PAGE)
        while page:
            yield from page
            page = self._events.after(tenant, page[-1].seq, limit=PAGE)

    def _memories(self, tenant: str) -> Iterator[Memory]:
        page = self._archive.memories_after(tenant, "", limit=PAGE)
        while page:
            yield from page
            page = self._archive.memories_after(tenant, page[-1].memory_id, limit=PAGE)

    def _versions(self, tenant: str) -> Iterator[MemoryVersion]:
        page = self._archive.versions_after(tenant, "", 0, limit=PAGE)
        while page:
            yield from page
            page = self._archive.versions_after(tenant, page[-1].memory_id, page[-1].version, limit=PAGE)

    def _policies(self, tenant: str) -> Iterator[Collection]:
        page = self._collections.page(tenant, limit=PAGE)
        while page:
            yield from page
            page = self._collections.page(tenant, limit=PAGE, after=page[-1].name)

    def _registrations(self, tenant: str) -> Iterator[tuple[Registration, str]]:
        page = self._collections.registrations_after(tenant, "", "", limit=PAGE)
        while page:
            yield from page
            last = page[-1][0]
            page = self._collections.registrations_after(tenant, last.collection, last.agent_id, limit=PAGE)
