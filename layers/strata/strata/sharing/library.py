"""The library: insert (looking first), update, delete, restore, move, and one memory at a time."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from secrets import randbits

from strata import config
from strata.clock import Clock
from strata.dedup.fingerprint import fingerprint
from strata.errors import NotFoundError, UnknownMemoryTypeError, VersionConflictError
from strata.model.memories import ChangeKind, Memory, MemoryType, MemoryVersion
from strata.model.quarantine import Review
from strata.policy.digests import text_digest
from strata.policy.names import CHANCE_BITS, checked_collection, checked_id, checked_text, timed_id
from strata.ports import Access, MemoryDraft, MemoryEdit, MemoryStore, TypeStore, Written
from strata.sharing.edits import edit_of, merging
from strata.sharing.look_first import Found, LookFirst
from strata.sharing.screening import Proposed, Screen, pass_all, proposal_of
from strata.sharing.units import MAX_REASON_CHARS, NewUnit, UnitChange, checked_content, draft_of
from strata.sharing.vectors import Vectors

LOOKS = 3
"""How often an insert looks when the collection changes in between; the last time it writes all the same."""


class InsertStatus(StrEnum):
    """What became of an insert."""

    INSERTED = "inserted"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inserted:
    """The outcome of an insert: the memory as it stands, and those it is linked to."""

    status: InsertStatus
    memory: Memory
    linked: tuple[str, ...] = ()


class Library:
    """Memories of collections, on behalf of an agent; the store enforces its rights."""

    def __init__(
        self,
        memories: MemoryStore,
        types: TypeStore,
        look_first: LookFirst,
        vectors: Vectors,
        clock: Clock,
        settings: config.Library,
        screen: Screen = pass_all,
    ) -> None:
        self._memories = memories
        self._types = types
        self._look_first = look_first
        self._vectors = vectors
        self._clock = clock
        self._settings = settings
        self._screen = screen

    def insert(self, access: Access, collection: str, unit: NewUnit, *, review: Review | None = None) -> Inserted:
        """Keep a memory: the same fact becomes a new version of what is stored, anything else is inserted.

        A text that a person lets in is not screened; its ``review`` is decided in one with what is written.

        Raises:
            NotFoundError: the agent may not write there.
            ValidationError: a value that is not allowed.
            UnknownMemoryTypeError: no such type; a write never makes one.
            QuarantinedError: the text instructs a model.
            ConflictError: the text under review was decided about meanwhile.
        """
        now = self._clock.now()
        memory_type = self._type(unit.memory_type)
        memory_id = unit.memory_id or timed_id(now, randbits(CHANCE_BITS))
        draft = draft_of(unit, checked_collection(collection), memory_type, memory_id, self._settings, now)
        if review is not None:
            return self._insert(access, replace(draft, review=review), now)
        if unit.memory_id is not None and (present := self._present(access, draft, now)) is not None:
            return present
        self._screen(access, proposal_of(draft, unit))
        return self._insert(access, draft, now)

    def update(
        self, access: Access, collection: str, memory_id: str, change: UnitChange, *, review: Review | None = None
    ) -> Written:
        """Change a memory as a new version; new words are screened unless a person lets them in by a ``review``.

        Raises:
            NotFoundError: absent, expired, or not the agent's to change.
            VersionConflictError: outdated ``expected_version`` where the collection rejects it.
            ValidationError, UnknownMemoryTypeError, QuarantinedError, ConflictError: as for an insert.
        """
        now = self._clock.now()
        edit = replace(edit_of(checked_id(memory_id, "memory_id"), change, self._settings, now), review=review)
        if change.memory_type is not None:
            self._type(change.memory_type)
        if change.content is not None:
            content = checked_content(change.content, self._settings)
            if review is None:
                self._screen_change(access, collection, edit.memory_id, content, change)
            edit = self._with_content(edit, content, now)
        return self._memories.edit(access, collection, edit, now=now)

    def delete(self, access: Access, collection: str, memory_id: str, *, reason: str = "", key: str = "") -> Written:
        """Delete a memory; its tombstone keeps consolidation from bringing it back. Raises NotFoundError."""
        return self._change(access, collection, memory_id, ChangeKind.DELETE, reason, key)

    def restore(self, access: Access, collection: str, memory_id: str, *, reason: str = "", key: str = "") -> Written:
        """Bring a deleted or superseded memory back, unless it has run out. Raises NotFoundError."""
        return self._change(access, collection, memory_id, ChangeKind.RESTORE, reason, key)

    def move(self, access: Access, collection: str, memory_id: str, memory_type: str, *, reason: str = "") -> Written:
        """Move a memory to another type; its life stays. Raises NotFoundError, UnknownMemoryTypeError."""
        return self.update(access, collection, memory_id, UnitChange(memory_type=memory_type, reason=reason))

    def get(self, access: Access, collection: str, memory_id: str) -> Memory:
        """Return one live memory. Raises NotFoundError."""
        return self._memories.get(access, collection, memory_id, now=self._clock.now())

    def listed(
        self,
        access: Access,
        collection: str,
        *,
        memory_types: tuple[str, ...] | None = None,
        limit: int = 100,
        after: str = "",
    ) -> list[Memory]:
        """Return live memories in the order of their ids.

        Raises:
            NotFoundError: the agent may not read the collection, or there is none.
        """
        now = self._clock.now()
        found = self._memories.listed(access, collection, now=now, memory_types=memory_types, limit=limit, after=after)
        if not found and collection not in self._memories.view(access, [collection], now=now):
            raise NotFoundError
        return found

    def history(self, access: Access, collection: str, memory_id: str) -> list[MemoryVersion]:
        """Return every version, oldest first. Raises NotFoundError."""
        return self._memories.history(access, collection, memory_id, now=self._clock.now())

    def embedded(self, content: str) -> tuple[bytes | None, str]:
        """Return the vector of a text and the model that made it; nothing if there is no model at the moment."""
        return self._vectors.of(content)

    def _present(self, access: Access, draft: MemoryDraft, now: datetime) -> Inserted | None:
        found = self._memories.get_many(access, [draft.memory_id], now=now)
        same_place = [memory for memory in found if memory.collection == draft.collection]
        return Inserted(status=InsertStatus.UNCHANGED, memory=same_place[0]) if same_place else None

    def _insert(self, access: Access, bare: MemoryDraft, now: datetime) -> Inserted:
        """Look, then write; where the collection changed meanwhile, look again."""
        name, text_hash = self._vectors.name, text_digest(bare.content)
        opening = self._memories.opening(access, bare.collection, model=name, text_hash=text_hash, now=now)
        draft, view = self._vectors.given_to(bare, opening), opening.view
        found = Found(same=None, links=())
        for _look in range(LOOKS):
            found = self._look_first(access, draft, view)
            looked = replace(draft, links=found.links, as_of=found.as_of, is_first=found.is_first)
            if (inserted := self._written(access, looked, found, now)) is not None:
                return inserted
            view = None
        return self._write_new(access, replace(draft, links=found.links), found, now)

    def _written(self, access: Access, draft: MemoryDraft, found: Found, now: datetime) -> Inserted | None:
        """Write what was found to be written; None if it is outdated."""
        try:
            if found.same is None:
                return self._write_new(access, draft, found, now)
            return self._merge(access, found.same, draft, now)
        except VersionConflictError:
            return None
        except NotFoundError:
            if found.same is None:
                raise  # the agent may not write here; else what was to be merged into went away
            return None

    def _write_new(self, access: Access, draft: MemoryDraft, found: Found, now: datetime) -> Inserted:
        written = self._memories.insert(access, draft, now=now)
        if written.created:
            self._look_first.wrote(written.memory, found)
        status = InsertStatus.INSERTED if written.created else InsertStatus.UNCHANGED
        linked = tuple(memory_id for memory_id, _relation in found.links) if written.created else ()
        return Inserted(status=status, memory=written.memory, linked=linked)

    def _merge(self, access: Access, old: Memory, draft: MemoryDraft, now: datetime) -> Inserted:
        written = self._memories.edit(access, draft.collection, merging(old, draft), now=now)
        status = InsertStatus.UPDATED if written.created else InsertStatus.UNCHANGED
        return Inserted(status=status, memory=written.memory)

    def _screen_change(self, access: Access, collection: str, memory_id: str, content: str, change: UnitChange) -> None:
        """Screen new words of a memory; of one that the agent may not see, the edit tells, as if it were absent."""
        found = self._memories.get_many(access, [memory_id], now=self._clock.now())
        for memory in (memory for memory in found if memory.collection == collection):
            proposed = Proposed(
                collection=collection,
                memory_type=change.memory_type or memory.memory_type,
                content=content,
                unit=change,
                memory_id=memory_id,
                user_id=memory.user_id,
            )
            self._screen(access, proposed)

    def _with_content(self, edit: MemoryEdit, content: str, now: datetime) -> MemoryEdit:
        embedding, model = self.embedded(content)
        return replace(
            edit,
            content=content,
            fingerprint=fingerprint(content),
            embedding=embedding,
            embedding_model=model,
            said_at=now,
        )

    def _change(
        self, access: Access, collection: str, memory_id: str, change: ChangeKind, reason: str, key: str
    ) -> Written:
        edit = MemoryEdit(
            memory_id=checked_id(memory_id, "memory_id"),
            change=change,
            reason=checked_text(reason, "reason", limit=MAX_REASON_CHARS),
            key=key,
        )
        return self._memories.edit(access, collection, edit, now=self._clock.now())

    def _type(self, name: str) -> MemoryType:
        found = self._types.named(name)
        if found is None:
            raise UnknownMemoryTypeError(fields={"memory_type": name})
        return found
