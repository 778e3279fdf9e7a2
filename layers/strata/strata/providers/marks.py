"""What Strata writes beside a memory at a provider, and the memory it reads from there again.

The marks are flat, named ``strata_…``, and hold texts and numbers only: that is what every provider keeps, also the
ones that flatten, drop reserved names or refuse nested objects. ``strata_id`` is the idempotency key.

``strata_content`` is the memory as Strata wrote it. Providers rewrite: a model there extracts again, translates, adds a
role and a time, or leaks an example of its own prompt. The words that were judged and checked are the ones delivered,
unless the entry was changed or merged after it was stored.

Entries that others wrote are read too. Their type is ``user_preference``, or ``task_experience`` in an agent's layer.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from strata.model.agents import ProviderName
from strata.model.memories import AccessPolicy, CollectionKind, Memory, MemoryStatus, collection_kind
from strata.model.messages import JsonObject
from strata.ports import MemoryDraft, ProviderScope
from strata.providers.items import UNKNOWN_AGE, Item, instant, mapping, number, text

PROVISIONAL = "provisional"
"""Key in a memory's metadata: stored, but under a temporary id until the provider has worked on it."""

KEY = "strata_id"
VERBATIM = "strata_verbatim"
"""Set where the raw text is the final form and not a copy that waits to be worked on."""

_PLAIN_TAG = re.compile(r"[a-z][a-z0-9_]{0,31}")
_ROLE_PREFIX = re.compile(r"^(?:user|assistant|system|tool):\s*(?:\[[^\]\n]{1,60}\]:\s*)?")


def marks_of(scope: ProviderScope, draft: MemoryDraft) -> dict[str, str | int | float]:
    """Return what is stored beside a draft. An agent's layer is shared by users, so nothing there names one."""
    personal = collection_kind(draft.collection) is not CollectionKind.AGENT
    marks: dict[str, str | int | float | None] = {
        KEY: draft.memory_id,
        "strata_tenant": scope.tenant,
        "strata_collection": draft.collection,
        "strata_type": draft.memory_type,
        "strata_content": draft.content,
        "strata_agent": scope.agent_id,
        "strata_user": draft.user_id if personal else None,
        "strata_session": scope.session_id if personal else None,
        "strata_said_at": draft.said_at.isoformat(),
        "strata_expires_at": draft.expires_at.isoformat() if draft.expires_at else None,
        "strata_ttl_seconds": draft.ttl_seconds,
        "strata_importance": draft.importance,
        "strata_confidence": draft.confidence,
        "strata_standing": int(draft.standing),
        "strata_safety": int(draft.safety),
        "strata_fingerprint": draft.fingerprint,
        "strata_run": draft.run_id,
        "strata_superseded_by": draft.superseded_by,
        "strata_read_agents": _listed(draft.policy.read_agents),
        "strata_write_agents": _listed(draft.policy.write_agents),
        "strata_metadata": json.dumps(dict(draft.metadata), ensure_ascii=False, default=str),
    }
    tags = {tag_mark(key): str(value) for key, value in draft.metadata.items() if isinstance(value, str | int | float)}
    return {name: value for name, value in (marks | tags).items() if value not in (None, "")}


def tag_mark(key: str) -> str:
    """Return the mark that holds a tag. Services paste names into queries, so a name that is not plain is hashed."""
    if _PLAIN_TAG.fullmatch(key):
        return f"strata_tag_{key}"
    return "strata_tag_x" + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def belongs(item: Item, tenant: str, collection: str) -> bool:
    """Whether an entry's own marks agree with where it was found."""
    told = item.marks.get("strata_tenant", tenant), item.marks.get("strata_collection", collection)
    return told == (tenant, collection)


def memory_of(item: Item, provider: ProviderName, tenant: str, collection: str) -> Memory:
    """Read a memory. It keeps the id that Strata gave it; an entry of others has the provider's."""
    marks = item.marks
    created = item.created_at or item.updated_at or UNKNOWN_AGE
    superseded_by = text(marks.get("strata_superseded_by")) or None
    return Memory(
        tenant=tenant,
        memory_id=text(marks.get(KEY)) or item.external_id,
        collection=collection,
        memory_type=text(marks.get("strata_type")) or _type_of_others(item, collection),
        agent_id=text(marks.get("strata_agent")) or text(marks.get("agent_id")),
        content=_content(item),
        metadata=_metadata(item, provider),
        policy=AccessPolicy(
            read_agents=_agents(marks.get("strata_read_agents")), write_agents=_agents(marks.get("strata_write_agents"))
        ),
        ttl_seconds=int(number(marks.get("strata_ttl_seconds")) or 0),
        status=MemoryStatus.SUPERSEDED if superseded_by else MemoryStatus.ACTIVE,
        standing=bool(number(marks.get("strata_standing"))),
        safety=bool(number(marks.get("strata_safety"))),
        importance=int(number(marks.get("strata_importance")) or 5),
        said_at=instant(marks.get("strata_said_at")) or created,
        created_at=created,
        updated_at=item.updated_at or created,
        expires_at=instant(marks.get("strata_expires_at")),
        superseded_by=superseded_by,
        fingerprint=text(marks.get("strata_fingerprint")),
        run_id=text(marks.get("strata_run")) or None,
        user_id=text(marks.get("strata_user")),
        confidence=_confidence(marks),
    )


def _content(item: Item) -> str:
    written = text(item.marks.get("strata_content"))
    if written and not item.rewritten:
        return written
    return _ROLE_PREFIX.sub("", item.text.strip()).strip()


def _metadata(item: Item, provider: ProviderName) -> JsonObject:
    whose = {PROVISIONAL: True} if item.provisional else {"external_id": item.external_id}
    return {**_object(item.marks.get("strata_metadata")), "provider": provider.value, **whose}


def _type_of_others(item: Item, collection: str) -> str:
    agents = collection_kind(collection) is CollectionKind.AGENT
    return "task_experience" if agents and not item.preference else "user_preference"


def _confidence(marks: Mapping[str, Any]) -> float:
    given = number(marks.get("strata_confidence"))
    return 1.0 if given is None else min(1.0, max(0.0, given))


def _listed(agents: tuple[str, ...] | None) -> str | None:
    return None if agents is None else json.dumps(agents, ensure_ascii=False)


def _agents(value: object) -> tuple[str, ...] | None:
    """Read an allow-list. One that cannot be read allows nobody."""
    if value is None:
        return None
    try:
        parsed = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        parsed = None
    return tuple(str(agent) for agent in parsed) if isinstance(parsed, list) else ()


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, str):
        return mapping(value)
    try:
        return mapping(json.loads(value))
    except (ValueError, RecursionError):
        return {}
