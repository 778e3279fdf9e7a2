"""Ids and names: what they may be, and how two of them are joined without colliding.

Ids are at most 128 characters of any UTF-8, compared byte for byte. Control characters are refused, which is what
lets a line break part the names of a stored list and a unit separator part the halves of a joined key.
"""

import hashlib
import json
import re
from datetime import datetime

from strata.errors import ValidationError
from strata.model.memories import CollectionKind, collection_kind

MAX_ID_CHARS = 128
MAX_TAG_CHARS = 256
CHANCE_BITS = 74
"""Of an id made by us."""
_TYPE_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_SEPARATOR = "\x1f"
_NOT_IN_IDS = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters and lone surrogates; the latter have no UTF-8."""
_NOT_IN_TEXTS = re.compile("[\x00\ud800-\udfff]")


def checked_id(value: object, field: str, *, limit: int = MAX_ID_CHARS) -> str:
    """Return ``value`` if it is an id. Raises ValidationError, which names the field and never repeats the value."""
    if not isinstance(value, str) or not value:
        raise ValidationError(f"{field} must be a non-empty text.", fields={"field": field})
    if len(value) > limit:
        raise ValidationError(f"{field} must have at most {limit} characters.", fields={"field": field})
    if _NOT_IN_IDS.search(value):
        raise ValidationError(f"{field} must not hold control characters.", fields={"field": field})
    return value


def checked_collection(name: object) -> str:
    """Return a collection's name: an id, or ``user:`` or ``agent:`` before one. Raises ValidationError."""
    if not isinstance(name, str) or collection_kind(name) is CollectionKind.SHARED:
        return checked_id(name, "collection")
    prefix, _, owner = name.partition(":")
    return f"{prefix}:{checked_id(owner, 'collection')}"


def checked_type_name(name: object) -> str:
    """Return the name of a memory type: it becomes part of a table's name. Raises ValidationError."""
    if not isinstance(name, str) or not _TYPE_NAME.fullmatch(name):
        message = "A memory type is a lower-case letter, then up to 40 lower-case letters, digits and underscores."
        raise ValidationError(message, fields={"field": "memory_type"})
    return name


def checked_text(value: object, field: str, *, limit: int) -> str:
    """Return a text that every store keeps byte for byte: no NUL, no lone surrogate. Raises ValidationError."""
    if not isinstance(value, str):
        raise ValidationError(f"{field} must be a text.", fields={"field": field})
    if len(value) > limit:
        raise ValidationError(f"{field} must have at most {limit} characters.", fields={"field": field})
    if _NOT_IN_TEXTS.search(value):
        raise ValidationError(f"{field} must not hold NUL or lone surrogates.", fields={"field": field})
    return value


def joined_key(*parts: str) -> str:
    """Return one key for several ids; two different lists of ids of the same length never give the same."""
    return _SEPARATOR.join(parts)


def derived_id(*parts: str) -> str:
    """Return 32 hex digits that depend on every part, in order: the deterministic id of a write. Any text will do."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def timed_id(now: datetime, chance: int) -> str:
    """Return an id of 32 hex digits: a UUID of version 7 (RFC 9562), milliseconds first, then chance.

    What is written together stands together in every index, and a database changes few pages instead of many.
    """
    milliseconds = int(now.timestamp() * 1_000) & (1 << 48) - 1
    return f"{milliseconds:012x}7{chance >> 62:03x}{1 << 63 | chance & (1 << 62) - 1:016x}"


def agent_layer(agent_id: str) -> str:
    """Return the collection that is an agent's own."""
    return f"agent:{agent_id}"


def user_layer(user_id: str) -> str:
    """Return the collection of memories about a user."""
    return f"user:{user_id}"
