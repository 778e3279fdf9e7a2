"""Memories and hits for the tests of the context room."""

from datetime import UTC, datetime, timedelta

from strata.dedup import fingerprint
from strata.model.memories import Hit, Memory

NOW = datetime(2026, 3, 10, 8, 0, tzinfo=UTC)


def memory(content: str, *, name: str = "", collection: str = "user:u", memory_type: str = "user_preference") -> Memory:
    return Memory(
        tenant="t",
        memory_id=name or fingerprint(content + collection)[:16],
        collection=collection,
        memory_type=memory_type,
        agent_id="adviser",
        content=content,
        said_at=NOW - timedelta(days=3),
        created_at=NOW,
        updated_at=NOW,
        fingerprint=fingerprint(content),
    )


def hit(content: str, score: float = 0.9, **fields: str) -> Hit:
    return Hit(memory=memory(content, **fields), score=score)
