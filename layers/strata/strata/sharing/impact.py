"""Who has read a memory, and what those sessions wrote afterwards."""

from dataclasses import dataclass
from datetime import datetime

from strata.clock import Clock
from strata.model.events import Read
from strata.model.memories import MemoryVersion
from strata.ports import Access, Archive, MemoryStore, ReadLedger


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """The readers of a memory, and the versions their sessions wrote after they had read it."""

    reads: tuple[Read, ...]
    written: tuple[MemoryVersion, ...]


class Impacts:
    """Questions to the read ledger. They are answered to whom the memory's history is open."""

    def __init__(self, memories: MemoryStore, archive: Archive, ledger: ReadLedger, clock: Clock) -> None:
        self._memories = memories
        self._archive = archive
        self._ledger = ledger
        self._clock = clock

    def reads(
        self, access: Access, collection: str, memory_id: str, *, version: int | None = None, limit: int = 1_000
    ) -> list[Read]:
        """Return who was given which version, newest first. Raises NotFoundError."""
        self._memories.history(access, collection, memory_id, now=self._clock.now())
        return self._ledger.readers(access.tenant, memory_id, version=version, limit=limit)

    def impact(self, access: Access, collection: str, memory_id: str, *, version: int | None = None) -> Impact:
        """Return the readers and what their sessions wrote afterwards, as far as the caller may read it.

        Raises NotFoundError.
        """
        reads = self.reads(access, collection, memory_id, version=version)
        first_read = _first_reads(reads)
        if not first_read:
            return Impact(reads=tuple(reads), written=())
        since = min(first_read.values())
        versions = self._archive.of_sessions(access.tenant, list(first_read), since=since)
        later = [version for version in versions if version.created_at >= first_read[version.session_id]]
        return Impact(reads=tuple(reads), written=tuple(self._visible(access, later)))

    def _visible(self, access: Access, versions: list[MemoryVersion]) -> list[MemoryVersion]:
        if access.admin or access.system:
            return versions
        ids = list(dict.fromkeys(version.memory_id for version in versions))
        readable = {memory.memory_id for memory in self._memories.get_many(access, ids, now=self._clock.now())}
        return [version for version in versions if version.memory_id in readable]


def _first_reads(reads: list[Read]) -> dict[str, datetime]:
    first: dict[str, datetime] = {}
    for read in reads:
        if read.session_id:
            first[read.session_id] = min(read.read_at, first.get(read.session_id, read.read_at))
    return first
