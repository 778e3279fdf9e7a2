"""What a caller gives to the library, checked, and what a memory becomes of it."""

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from strata import config
from strata.dedup.fingerprint import fingerprint
from strata.errors import ValidationError
from strata.model.memories import AccessPolicy, MemoryType, Source
from strata.model.messages import JsonObject
from strata.policy.names import MAX_TAG_CHARS, checked_id, checked_text
from strata.policy.retention import checked_instant, checked_ttl, expiry
from strata.ports import MemoryDraft

SESSION_TAG = "session_id"
USER_TAG = "user_id"
MAX_IMPORTANCE = 10
MAX_REASON_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUnit:
    """A memory that an agent wants kept. ``None`` = the default of its type, or an id of our own."""

    memory_type: str
    content: str
    metadata: JsonObject = field(default_factory=dict)
    policy: AccessPolicy = field(default_factory=AccessPolicy)
    ttl_seconds: int | None = None
    expires_at: str | datetime | None = None
    """An instant with an offset, instead of a life."""
    memory_id: str | None = None
    """Makes a repeat of the insert harmless."""
    standing: bool = False
    safety: bool = False
    importance: int = 5
    said_at: datetime | None = None
    confidence: float = 1.0
    sources: tuple[Source, ...] = ()
    """The messages it comes from; else a tag may name the session."""
    run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitChange:
    """A change to a memory; what is ``None`` stays."""

    content: str | None = None
    metadata: JsonObject | None = None
    policy: AccessPolicy | None = None
    ttl_seconds: int | None = None
    standing: bool | None = None
    safety: bool | None = None
    importance: int | None = None
    memory_type: str | None = None
    """Moves the memory to another type."""
    expected_version: int | None = None
    reason: str = ""
    key: str = ""
    """Makes a repeat of the change a no-op."""


def draft_of(
    unit: NewUnit, collection: str, memory_type: MemoryType, memory_id: str, limits: config.Library, now: datetime
) -> MemoryDraft:
    """Return the draft of a checked unit, without its vector. Raises ValidationError."""
    ttl_seconds, expires_at = lifetime(unit, memory_type, now)
    metadata = checked_metadata(unit.metadata, limits)
    session_id = str(metadata.get(SESSION_TAG) or "")
    return MemoryDraft(
        memory_id=checked_id(memory_id, "memory_id"),
        collection=collection,
        memory_type=memory_type.name,
        content=checked_content(unit.content, limits),
        fingerprint=fingerprint(unit.content),
        metadata=metadata,
        policy=checked_policy(unit.policy),
        ttl_seconds=ttl_seconds,
        expires_at=expires_at,
        standing=unit.standing,
        safety=unit.safety,
        importance=checked_importance(unit.importance),
        said_at=unit.said_at or now,
        user_id=str(metadata.get(USER_TAG) or ""),
        confidence=unit.confidence,
        sources=unit.sources or _session(session_id),
        run_id=unit.run_id,
    )


def lifetime(unit: NewUnit, memory_type: MemoryType, now: datetime) -> tuple[int, datetime | None]:
    """Return life in seconds and the instant it ends: as given, or as the type has it.

    Raises:
        ValidationError: both are given, or one that means nothing, or an end that has passed.
    """
    if unit.expires_at is None:
        ttl_seconds = checked_ttl(memory_type.ttl_seconds if unit.ttl_seconds is None else unit.ttl_seconds)
        return ttl_seconds, expiry(ttl_seconds, now)
    if unit.ttl_seconds is not None:
        raise ValidationError("Give ttl or expires_at, not both.", fields={"field": "expires_at"})
    ends = checked_instant(unit.expires_at, "expires_at")
    if ends <= now:
        raise ValidationError("expires_at has passed.", fields={"field": "expires_at"})
    return checked_ttl(max(1, int((ends - now).total_seconds()))), ends


def checked_content(content: object, limits: config.Library) -> str:
    """Return the text of a memory. Raises ValidationError."""
    text = checked_text(content, "content", limit=limits.max_content_chars)
    if not any(_says_something(character) for character in text):
        raise ValidationError("content must not be blank.", fields={"field": "content"})
    return text


def _says_something(character: str) -> bool:
    """A letter, a digit or an emoji: mere signs, and what nobody sees, would all be one and the same fact."""
    return character.isalnum() or unicodedata.category(character) == "So"


def checked_metadata(metadata: Mapping[str, object], limits: config.Library) -> JsonObject:
    """Return tags: any key in any language, JSON values. Raises ValidationError."""
    if not metadata:
        return {}
    if len(metadata) > limits.max_tags:
        raise ValidationError(f"metadata may have {limits.max_tags} keys.", fields={"field": "metadata"})
    for key in metadata:
        checked_text(key, "metadata", limit=MAX_TAG_CHARS)
    try:
        text = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        raise ValidationError("metadata must be JSON.", fields={"field": "metadata"}) from None
    return dict(json.loads(checked_text(text, "metadata", limit=limits.max_content_chars * 4)))


def checked_policy(policy: AccessPolicy) -> AccessPolicy:
    """Return a memory's own allow-lists with each agent once. Raises ValidationError."""
    return AccessPolicy(read_agents=_agents(policy.read_agents), write_agents=_agents(policy.write_agents))


def checked_importance(importance: object) -> int:
    """Return an importance from 1 to 10. Raises ValidationError."""
    if isinstance(importance, bool) or not isinstance(importance, int) or not 1 <= importance <= MAX_IMPORTANCE:
        raise ValidationError("importance must be a whole number from 1 to 10.", fields={"field": "importance"})
    return importance


def _session(session_id: str) -> tuple[Source, ...]:
    return (Source(session_id=checked_id(session_id, SESSION_TAG), seq=0),) if session_id else ()


def _agents(agents: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if agents is None else tuple(dict.fromkeys(checked_id(agent, "access_policy") for agent in agents))
