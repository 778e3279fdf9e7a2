"""Writes of a plan to the native library: insert, renew, supersede; each a no-op when it is repeated."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from strata.consolidation.claim import Hold
from strata.consolidation.lookup import access_of
from strata.dedup.fingerprint import fingerprint
from strata.errors import NotFoundError
from strata.model.agents import ProviderName
from strata.model.memories import ChangeKind, CollectionKind, Memory, MemoryStatus, collection_kind
from strata.model.runs import PlannedWrite, Receipt, Run, WriteAction
from strata.observability import logger
from strata.ports import MemoryDraft, MemoryEdit, MemoryStore

MOST_TRIES = 3
_RELATIONS = {WriteAction.REFINE: "refines", WriteAction.SUPERSEDE: "supersedes"}


class NativeWrites:
    """Applies planned writes to a ``MemoryStore``."""

    name = ProviderName.MYSQL.value

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def draft(
        self,
        run: Run,
        write: PlannedWrite,
        *,
        expires_at: datetime | None,
        embedding: bytes | None,
        embedding_model: str,
    ) -> MemoryDraft:
        """Return the memory that a planned write becomes; an agent's memory names no user."""
        about_user = collection_kind(write.collection) is CollectionKind.USER
        relation = "contradicts" if write.keep_old_visible else _RELATIONS.get(write.action, "")
        return MemoryDraft(
            memory_id=write.key,
            collection=write.collection,
            memory_type=write.memory_type,
            content=write.content,
            fingerprint=fingerprint(write.content),
            metadata=write.metadata,
            policy=write.policy,
            ttl_seconds=write.ttl_seconds,
            standing=write.standing,
            safety=write.safety,
            importance=write.importance,
            said_at=write.said_at,
            expires_at=expires_at,
            embedding=embedding,
            embedding_model=embedding_model,
            run_id=run.run_id,
            user_id=run.user_id if about_user else "",
            sources=write.sources,
            links=tuple((old, relation) for old in write.replaces) if relation else (),
            superseded_by=write.superseded_by,
            confidence=write.confidence,
        )

    def write(self, hold: Hold, write: PlannedWrite, draft: MemoryDraft, now: datetime) -> Receipt:
        """Insert the memory, or renew the one that says the same."""
        receipt = Receipt(key=write.key, memory_id="", action=write.action, version=0, provider=self.name)
        try:
            memory = self._insert(hold, write, draft, now)
        except NotFoundError:
            # The collection's policy does not let the agent write, or what it repeats is gone meanwhile.
            hold.counts["refused"] = hold.counts.get("refused", 0) + 1
            logger.warning("commit.refused", extra={"run_id": hold.run.run_id, "memory_type": write.memory_type})
            return receipt
        return replace(receipt, memory_id=memory.memory_id, version=memory.version)

    def retire(self, hold: Hold, write: PlannedWrite, replaced_by: str, now: datetime) -> None:
        """Mark old memories as superseded; those already gone stay gone. Nothing is retired without a successor.

        What was said again since the plan was made, and later than its successor, stays: looking again settles it.
        """
        for old in write.replaces if replaced_by else ():
            edit = MemoryEdit(
                memory_id=old,
                change=ChangeKind.SUPERSEDE,
                superseded_by=replaced_by,
                unless_said_after=write.said_at,
                reason=write.reason,
                run_id=hold.run.run_id,
                key=f"{write.key}:retire",
                sources=write.sources,
            )
            try:
                self._store.edit(access_of(hold.run), write.collection, edit, now=now)
            except NotFoundError:
                logger.info("commit.already_retired", extra={"run_id": hold.run.run_id, "memory_id": old})

    def give_up(self, hold: Hold, kept: Collection[str], now: datetime) -> None:
        """Take back what an earlier judgement of the run stored and the present plan does not speak of.

        Constraints stay: a model that overlooks an allergy must not make it go away.
        """
        access = access_of(hold.run)
        own = {
            version.memory_id: version.version
            for version in self._store.of_run(hold.run.tenant, hold.run.run_id)
            if version.memory_id not in kept
        }
        for memory in self._store.get_many(access, list(own), now=now):
            is_untouched = memory.run_id == hold.run.run_id and memory.version == own[memory.memory_id] == 1
            if memory.standing or memory.safety or not is_untouched:
                continue
            edit = MemoryEdit(
                memory_id=memory.memory_id,
                change=ChangeKind.UNDO,
                reason="not confirmed when judged again",
                run_id=hold.run.run_id,
                key=f"{hold.run.run_id}:unconfirmed",
            )
            self._store.edit(access, memory.collection, edit, now=now)

    def _insert(self, hold: Hold, write: PlannedWrite, draft: MemoryDraft, now: datetime) -> Memory:
        """Insert, or renew what says the same; what was superseded while we looked at it is said anew."""
        access, same = access_of(hold.run), write.repeats
        for _ in range(MOST_TRIES):
            try:
                if same is not None:
                    found = self._store.get(access, write.collection, same, now=now)
                    return self._renew(hold, write, found, draft, now)
                written = self._store.insert(access, draft, now=now)
            except NotFoundError:
                if same is None or not self._is_overtaken(hold, write.collection, same):
                    raise
                same = None
                continue
            if written.created or written.memory.memory_id == draft.memory_id:
                return written.memory
            same = written.memory.memory_id
        raise NotFoundError

    def _is_overtaken(self, hold: Hold, collection: str, memory_id: str) -> bool:
        """Tell whether a memory was superseded since the plan was made. What somebody deleted stays away."""
        changed = self._store.changes(hold.run.tenant, collection, hold.seen.get(collection, 0))
        return any(memory.memory_id == memory_id and memory.status is MemoryStatus.SUPERSEDED for memory in changed)

    def _renew(self, hold: Hold, write: PlannedWrite, memory: Memory, draft: MemoryDraft, now: datetime) -> Memory:
        """Note that a stored fact was said again: since when it holds, how long, and by which messages."""
        edit = MemoryEdit(
            memory_id=memory.memory_id,
            change=ChangeKind.RENEW,
            said_at=max(memory.said_at, write.said_at),
            importance=max(memory.importance, write.importance),
            standing=memory.standing or write.standing,
            safety=memory.safety or write.safety,
            expires_at=_later(memory.expires_at, draft.expires_at),
            keep_expiry=write.said_at <= memory.said_at,
            reason="said again",
            run_id=hold.run.run_id,
            key=f"{write.key}:renew",
            sources=write.sources,
        )
        return self._store.edit(access_of(hold.run), write.collection, edit, now=now).memory


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the later end of a life; None is for ever."""
    return None if one is None or other is None else max(one, other)
