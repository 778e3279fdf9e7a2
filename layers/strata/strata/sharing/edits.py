"""What a change asked for, and a fact told again, make of a stored memory. Pure."""

from dataclasses import replace
from datetime import datetime

from strata import config
from strata.dedup.fingerprint import fingerprint
from strata.model.memories import ChangeKind, Memory, MemoryVersion
from strata.policy.names import checked_text
from strata.policy.retention import checked_ttl, expiry
from strata.ports import MemoryDraft, MemoryEdit
from strata.sharing.units import MAX_REASON_CHARS, UnitChange, checked_importance, checked_metadata, checked_policy


def edit_of(memory_id: str, change: UnitChange, limits: config.Library, now: datetime) -> MemoryEdit:
    """Return the edit of a checked change, without its content. Raises ValidationError."""
    edit = MemoryEdit(
        memory_id=memory_id,
        change=ChangeKind.UPDATE if change.memory_type is None else ChangeKind.MOVE,
        metadata=None if change.metadata is None else checked_metadata(change.metadata, limits),
        policy=None if change.policy is None else checked_policy(change.policy),
        standing=change.standing,
        safety=change.safety,
        importance=None if change.importance is None else checked_importance(change.importance),
        memory_type=change.memory_type,
        expected_version=change.expected_version,
        reason=checked_text(change.reason, "reason", limit=MAX_REASON_CHARS),
        key=change.key,
    )
    if change.ttl_seconds is None:
        return edit
    ttl_seconds = checked_ttl(change.ttl_seconds)
    return replace(edit, ttl_seconds=ttl_seconds, expires_at=expiry(ttl_seconds, now), keep_expiry=False)


def going_back(
    target: MemoryVersion, change: ChangeKind, embedded: tuple[bytes | None, str], *, reason: str, key: str = ""
) -> MemoryEdit:
    """Return the edit by which a memory gets the content of an old version again; ``embedded``: its vector and model.

    What it is open to and how long it lives stay those of today.
    """
    embedding, model = embedded
    return MemoryEdit(
        memory_id=target.memory_id,
        change=change,
        content=target.content,
        fingerprint=fingerprint(target.content),
        metadata=target.metadata,
        embedding=embedding,
        embedding_model=model,
        said_at=target.said_at,
        standing=target.standing,
        safety=target.safety,
        importance=target.importance,
        rolled_back_to=target.version,
        reason=reason,
        key=key,
    )


def merging(old: Memory, draft: MemoryDraft) -> MemoryEdit:
    """Return the edit by which a fact told again takes up what is stored: its words are the new ones.

    Tags are joined; what was a constraint, a safety fact or important stays so.
    """
    is_reworded = draft.content != old.content
    edit = MemoryEdit(
        memory_id=old.memory_id,
        change=ChangeKind.UPDATE,
        content=draft.content,
        fingerprint=draft.fingerprint,
        embedding=draft.embedding if is_reworded else None,
        embedding_model=draft.embedding_model if is_reworded else "",
        metadata={**old.metadata, **draft.metadata},
        standing=old.standing or draft.standing,
        safety=old.safety or draft.safety,
        importance=max(old.importance, draft.importance),
        expected_version=old.version,
        said_at=max(old.said_at, draft.said_at),
        reason="said again",
        sources=draft.sources,
        review=draft.review,
    )
    if not _lives_longer(draft, old):
        return edit
    return replace(edit, ttl_seconds=draft.ttl_seconds, expires_at=draft.expires_at, keep_expiry=False)


def _lives_longer(draft: MemoryDraft, old: Memory) -> bool:
    """A repeat renews a life and never shortens it."""
    if old.expires_at is None:
        return False
    return draft.expires_at is None or draft.expires_at > old.expires_at
