"""Rolling a memory back: first who has read what is to be replaced, then an old content as a new version.

A rollback appends. What the memory was open to and how long it lives stay those of today.
"""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from strata.clock import Clock
from strata.errors import NotFoundError
from strata.model.events import Read
from strata.model.memories import ChangeKind, Memory, MemoryVersion
from strata.policy.names import checked_text
from strata.ports import Access, MemoryStore, ReadLedger, Written
from strata.sharing.edits import going_back
from strata.sharing.library import Library
from strata.sharing.units import MAX_REASON_CHARS


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackPreview:
    """What a rollback would do: the memory, the version that comes back, and who has read a later one."""

    memory: Memory
    target: MemoryVersion
    readers: tuple[Read, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBack:
    """What a rollback did."""

    written: Written
    readers: tuple[Read, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Two versions of a memory side by side."""

    old: MemoryVersion
    new: MemoryVersion
    text: tuple[tuple[str, str], ...]
    """Pieces in order, each ``equal``, ``removed`` or ``added``."""
    metadata: tuple[str, ...]
    """Keys whose values differ."""


class Rollbacks:
    """Previews, rollbacks and differences between versions."""

    def __init__(self, library: Library, memories: MemoryStore, ledger: ReadLedger, clock: Clock) -> None:
        self._library = library
        self._memories = memories
        self._ledger = ledger
        self._clock = clock

    def preview(self, access: Access, collection: str, memory_id: str, version: int) -> RollbackPreview:
        """Return what a rollback to ``version`` would do, and change nothing. Raises NotFoundError."""
        memory = self._library.get(access, collection, memory_id)
        target = _version(self._library.history(access, collection, memory_id), version)
        reads = self._ledger.readers(access.tenant, memory_id)
        later = tuple(read for read in reads if read.version > version)
        return RollbackPreview(memory=memory, target=target, readers=later)

    def roll_back(
        self, access: Access, collection: str, memory_id: str, version: int, *, reason: str = ""
    ) -> RolledBack:
        """Append the content of ``version`` as a new version; tell who has read what it replaces.

        Raises NotFoundError: absent, expired, not the agent's to change, or no such version.
        """
        shown = self.preview(access, collection, memory_id, version)
        checked = checked_text(reason, "reason", limit=MAX_REASON_CHARS)
        vector = self._library.embedded(shown.target.content)
        edit = going_back(shown.target, ChangeKind.ROLLBACK, vector, reason=checked)
        written = self._memories.edit(access, collection, edit, now=self._clock.now())
        return RolledBack(written=written, readers=shown.readers)

    def diff(self, access: Access, collection: str, memory_id: str, old: int, new: int) -> Difference:
        """Return the difference between two versions. Raises NotFoundError."""
        history = self._library.history(access, collection, memory_id)
        return difference(_version(history, old), _version(history, new))


def difference(old: MemoryVersion, new: MemoryVersion) -> Difference:
    """Return two versions side by side, their texts compared character by character."""
    matcher = difflib.SequenceMatcher(a=old.content, b=new.content, autojunk=False)
    pieces: list[tuple[str, str]] = []
    for operation, from_old, to_old, from_new, to_new in matcher.get_opcodes():
        if operation == "equal":
            pieces.append(("equal", old.content[from_old:to_old]))
            continue
        pieces.append(("removed", old.content[from_old:to_old]))
        pieces.append(("added", new.content[from_new:to_new]))
    keys = sorted({*old.metadata, *new.metadata})
    changed = tuple(key for key in keys if old.metadata.get(key) != new.metadata.get(key))
    return Difference(old=old, new=new, text=tuple(piece for piece in pieces if piece[1]), metadata=changed)


def _version(history: Sequence[MemoryVersion], number: int) -> MemoryVersion:
    for version in history:
        if version.version == number:
            return version
    raise NotFoundError(f"The memory has no version {number} that this key may see.")
