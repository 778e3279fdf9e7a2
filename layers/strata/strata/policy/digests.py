"""Digests that make a change behind the product's back visible. Pure.

Each digest is SHA-256 over the canonical JSON of the fields named here; a field that is added to a record later is
covered by a new list, never by a longer one, so that what is stored stays provable. Versions and memories carry their
own, each audit event repeats the digests of the version it tells of, and events are chained by their hashes.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime

from strata.model.events import AuditEvent
from strata.model.memories import AccessPolicy, Memory, MemoryVersion, Source

FIRST_HASH = "0" * 64
"""What the first event of a tenant has before it."""


_MEMORY = (
    "tenant memory_id collection memory_type agent_id content metadata policy ttl_seconds version status standing "
    "safety importance said_at created_at updated_at expires_at superseded_by fingerprint run_id user_id confidence "
    "embedding embedding_model"
).split()
_VERSION = (
    "tenant memory_id version change memory_type collection content metadata agent_id reason created_at base_version "
    "conflict rolled_back_to run_id standing safety importance said_at session_id sources"
).split()
_EVENT = "tenant seq kind actor collection memory_id detail at previous_hash".split()


def memory_digest(memory: Memory) -> str:
    """Return the digest of a memory as it stands, its vector included."""
    return digest_of({name: getattr(memory, name) for name in _MEMORY})


def version_digest(version: MemoryVersion) -> str:
    """Return the digest of one step of a history."""
    return digest_of({name: getattr(version, name) for name in _VERSION})


def event_hash(event: AuditEvent) -> str:
    """Return the hash of an event, which covers the hash of the one before it."""
    return digest_of({name: getattr(event, name) for name in _EVENT})


def text_digest(text: str) -> str:
    """Return the name under which what was computed from a text is kept."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def digest_of(values: Mapping[str, object]) -> str:
    """Return the digest of a record that is about to be made of these values, all of them but the digest itself."""
    return hashlib.sha256(_CANONICAL(values).encode()).hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, AccessPolicy):
        return [value.read_agents, value.write_agents]
    if isinstance(value, Source):
        return [value.session_id, value.seq]
    message = f"{type(value).__name__} has no canonical form"
    raise TypeError(message)


_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain).encode
