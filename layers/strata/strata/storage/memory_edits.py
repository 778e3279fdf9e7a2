"""What an edit makes of a memory. Pure: the store applies it."""

from dataclasses import replace
from datetime import datetime

from strata.model.memories import ChangeKind, Memory, MemoryStatus
from strata.ports import MemoryEdit
from strata.storage.memory_rows import sealed

_STATUS = {
    ChangeKind.SUPERSEDE: MemoryStatus.SUPERSEDED,
    ChangeKind.DELETE: MemoryStatus.DELETED,
    ChangeKind.UNDO: MemoryStatus.DELETED,
    ChangeKind.RESTORE: MemoryStatus.ACTIVE,
}

_GIVEN = ("metadata", "policy", "ttl_seconds", "said_at", "standing", "safety", "importance", "memory_type")
"""Fields that an edit replaces if it has them."""


def changes_something(memory: Memory, edit: MemoryEdit) -> bool:
    """Tell whether an edit would leave anything different; a rollback always counts as a step of its own."""
    if edit.change is ChangeKind.ROLLBACK:
        return True
    after = _edited(memory, edit)
    return replace(after, run_id=memory.run_id) != memory


def edited(memory: Memory, edit: MemoryEdit, author: str, now: datetime) -> Memory:
    """Return the memory at its next version."""
    return sealed(replace(_edited(memory, edit), version=memory.version + 1, agent_id=author, updated_at=now))


def _edited(memory: Memory, edit: MemoryEdit) -> Memory:
    given = {name: getattr(edit, name) for name in _GIVEN if getattr(edit, name) is not None}
    if edit.content == memory.content:
        given.pop("said_at", None)  # the same words sent again are not a newer saying
    after = replace(
        memory, **given, status=_STATUS.get(edit.change, memory.status), superseded_by=_superseded_by(memory, edit)
    )
    if not edit.keep_expiry:
        after = replace(after, expires_at=edit.expires_at)
    if edit.run_id is not None:
        after = replace(after, run_id=edit.run_id)
    return _with_content(after, edit)


def _superseded_by(memory: Memory, edit: MemoryEdit) -> str | None:
    if edit.change is ChangeKind.RESTORE:
        return None
    return edit.superseded_by or memory.superseded_by


def _with_content(memory: Memory, edit: MemoryEdit) -> Memory:
    """New words never keep the old vector."""
    if edit.content is not None and edit.content != memory.content:
        return replace(
            memory,
            content=edit.content,
            fingerprint=edit.fingerprint or "",
            embedding=edit.embedding,
            embedding_model=edit.embedding_model,
        )
    if edit.embedding is not None:
        return replace(memory, embedding=edit.embedding, embedding_model=edit.embedding_model)
    return memory
