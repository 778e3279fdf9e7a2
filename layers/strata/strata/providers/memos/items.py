"""Entries of both MemOS products, read into one shape."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from strata.providers.items import Item, instant, mapping, number, objects, text
from strata.providers.marks import KEY, VERBATIM

_RAW_TAG = "mode:fast"
_TOLD = (KEY, "strata_type", "strata_said_at", "strata_expires_at", "strata_superseded_by", "strata_read_agents")
_GONE = re.compile(r"deleted|archived", re.IGNORECASE)


def self_hosted_items(data: Mapping[str, Any], cubes: frozenset[str]) -> Iterator[Item]:
    """Read the text and preference buckets of a search or a listing, each entry once.

    Buckets of other cubes are left out. A search without a hit has no text bucket at all; the Postgres backend repeats
    all texts among the preferences.
    """
    seen: set[str] = set()
    for part in ("text_mem", "pref_mem"):
        for bucket in objects(data.get(part)):
            for entry in objects(bucket.get("memories")) if bucket.get("cube_id") in cubes else ():
                item = _self_hosted(entry, str(bucket.get("cube_id")))
                if item and item.external_id not in seen:
                    seen.add(item.external_id)
                    yield item


def cloud_items(data: Mapping[str, Any], cube: str) -> Iterator[Item]:
    """Read the memories and preferences of a search or a listing; either list may be null or absent."""
    for entry in objects(data.get("memory_detail_list")):
        yield from _cloud(
            entry, cube, text(entry.get("memory_value")) or text(entry.get("memory_key")), preference=False
        )
    for entry in objects(data.get("preference_detail_list")):
        yield from _cloud(entry, cube, text(entry.get("preference")), preference=True)


def told_as_tags(marks: Mapping[str, str | int | float]) -> list[str]:
    """Return the marks that a reader needs: which memory it is, of which type, and who may see it until when."""
    return [f"{name}:{marks[name]}" for name in _TOLD if name in marks]


def _self_hosted(entry: Mapping[str, Any], cube: str) -> Item | None:
    meta = mapping(entry.get("metadata"))
    external_id = text(entry.get("id")) or text(meta.get("id"))
    if not external_id or _GONE.search(text(meta.get("status"))):
        return None
    marks = {**meta, **mapping(meta.get("info"))}  # Neo4j flattens info into the metadata, Postgres does not
    preference = text(meta.get("preference"))
    return Item(
        external_id=external_id,
        cube=cube,
        text=preference or text(entry.get("memory")),
        marks=marks,
        score=number(meta.get("relativity")),
        created_at=instant(meta.get("created_at")),
        updated_at=instant(meta.get("updated_at")),
        preference=bool(preference) or meta.get("memory_type") == "PreferenceMemory",
        provisional=_is_raw(meta) and not marks.get(VERBATIM),
        rewritten=bool(meta.get("history")) or (number(meta.get("version")) or 1) > 1,
    )


def _cloud(entry: Mapping[str, Any], cube: str, said: str, *, preference: bool) -> Iterator[Item]:
    external_id = text(entry.get("id"))
    if not external_id or _GONE.search(text(entry.get("status"))):
        return
    marks = {**entry, **_from_tags(entry.get("tags")), **mapping(entry.get("info"))}
    yield Item(
        external_id=external_id,
        cube=cube,
        text=said,
        marks=marks,
        score=number(entry.get("relativity")),
        created_at=instant(entry.get("create_time")),
        updated_at=instant(entry.get("update_time")),
        preference=preference,
        provisional=_is_raw(entry) and not marks.get(VERBATIM),
    )


def _from_tags(tags: object) -> dict[str, str]:
    pairs = (text(tag).partition(":") for tag in (tags if isinstance(tags, list) else ()))
    return {name: value for name, _, value in pairs if name in _TOLD}


def _is_raw(meta: Mapping[str, Any]) -> bool:
    tags = meta.get("tags")
    return meta.get("is_fast") is True or (isinstance(tags, list) and _RAW_TAG in tags)
