"""Export and import of a collection as JSON lines. What is exported and imported comes out again byte for byte.

A line holds one live memory at its present version, without vector (it is made again) and without history: that
begins anew with the import.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

from strata import config
from strata.clock import Clock
from strata.dedup.fingerprint import fingerprint
from strata.errors import ConflictError, ForbiddenError, NotFoundError, UnknownMemoryTypeError, ValidationError
from strata.model.memories import AccessPolicy, Memory
from strata.model.messages import JsonObject
from strata.policy.names import checked_collection, checked_id
from strata.policy.retention import checked_instant, checked_ttl
from strata.ports import Access, Archive, CollectionStore
from strata.sharing.library import Library
from strata.sharing.units import checked_content, checked_importance, checked_metadata, checked_policy

PAGE = 200
Check: TypeAlias = Callable[[object, config.Library], Any]
_LISTS = ("read_agents", "write_agents")


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import did, and the lines it left out: number (from 1) and why."""

    written: int
    present: int
    refused: tuple[tuple[int, str], ...]


class Transfer:
    """Moves collections in and out."""

    def __init__(
        self,
        library: Library,
        archive: Archive,
        collections: CollectionStore,
        clock: Clock,
        settings: config.Library,
    ) -> None:
        self._library = library
        self._archive = archive
        self._collections = collections
        self._clock = clock
        self._settings = settings

    def export(self, access: Access, collection: str) -> Iterator[str]:
        """Yield one line, with its line break, for each memory the caller may read, in the order of ids.

        Raises NotFoundError.
        """
        after = ""
        page = self._library.listed(access, collection, limit=PAGE)
        while page:
            yield from (line_of(memory) for memory in page)
            after = page[-1].memory_id
            page = self._library.listed(access, collection, limit=PAGE, after=after) if len(page) == PAGE else []

    def import_lines(self, access: Access, collection: str, lines: Iterable[str]) -> Imported:
        """Write exported memories as they were; those that are there already are left as they are.

        Lines are independent: one that cannot be read, has run out or whose id is in use elsewhere is named and left
        out. Raises ForbiddenError; NotFoundError if there is no such collection.
        """
        if not (access.admin or access.system):
            raise ForbiddenError
        if self._collections.get(access.tenant, checked_collection(collection)) is None:
            raise NotFoundError
        written = present = 0
        refused: list[tuple[int, str]] = []
        for number, line in enumerate(lines, start=1):
            try:
                created = self._import(access, collection, line)
            except (ValidationError, ConflictError, UnknownMemoryTypeError) as error:
                refused.append((number, error.message))
                continue
            written, present = written + created, present + (not created)
        return Imported(written=written, present=present, refused=tuple(refused))

    def _import(self, access: Access, collection: str, line: str) -> bool:
        now = self._clock.now()
        memory = memory_of(line, access.tenant, collection, self._settings)
        if not memory.is_live(now):
            raise ValidationError("The memory has run out.")
        embedding, model = self._library.embedded(memory.content)
        whole = replace(memory, embedding=embedding, embedding_model=model)
        return self._archive.adopt(access.tenant, whole, actor=access.agent_id, now=now).created


def line_of(memory: Memory) -> str:
    """Return a memory as one line of JSON."""
    values: dict[str, Any] = {name: _written(getattr(memory, name)) for name in _CHECKS}
    values["access_policy"] = {name: getattr(memory.policy, name) for name in _LISTS}
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"


def memory_of(line: str, tenant: str, collection: str, limits: config.Library) -> Memory:
    """Return the memory of a line, without its vector. Raises ValidationError."""
    try:
        values = json.loads(line)
        checked: dict[str, Any] = {name: check(values[name], limits) for name, check in _CHECKS.items()}
        policy = AccessPolicy(**{name: _names(values["access_policy"][name]) for name in _LISTS})
    except (ValueError, KeyError, TypeError):
        raise ValidationError("The line is not an exported memory.") from None
    return Memory(
        tenant=tenant,
        collection=collection,
        policy=checked_policy(policy),
        fingerprint=fingerprint(checked["content"]),
        **checked,
    )


def _flag(value: object, _limits: config.Library) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _fraction(value: object, _limits: config.Library) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return float(value)


def _counted(value: object, _limits: config.Library) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise TypeError
    return value


def _tags(value: object, limits: config.Library) -> JsonObject:
    if not isinstance(value, dict):
        raise TypeError
    return checked_metadata(value, limits)


def _id(field: str) -> Check:
    return lambda value, _limits: checked_id(value, field)


def _optional_id(field: str) -> Check:
    return lambda value, _limits: checked_id(value, field) if value else value


def _instant(field: str) -> Check:
    return lambda value, _limits: checked_instant(value, field)


_CHECKS: dict[str, Check] = {
    "memory_id": _id("memory_id"),
    "memory_type": _id("memory_type"),
    "agent_id": _id("agent_id"),
    "content": checked_content,
    "metadata": _tags,
    "ttl_seconds": lambda value, _limits: checked_ttl(value),
    "version": _counted,
    "standing": _flag,
    "safety": _flag,
    "importance": lambda value, _limits: checked_importance(value),
    "superseded_by": _optional_id("superseded_by"),
    "run_id": _optional_id("run_id"),
    "user_id": _optional_id("user_id"),
    "confidence": _fraction,
    "said_at": _instant("said_at"),
    "created_at": _instant("created_at"),
    "updated_at": _instant("updated_at"),
    "expires_at": lambda value, _limits: None if value is None else checked_instant(value, "expires_at"),
}


def _written(value: object) -> object:
    return value.isoformat(timespec="microseconds") if isinstance(value, datetime) else value


def _names(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)
