"""The self-hosted MemOS server: ``/product/*``.

A collection is a cube; isolation is by cube id and nothing else, so every search names its cubes and ``user_id``, the
server's fallback, is a cube of ours as well. Filters are not used: the default backend applies them after it has cut to
``top_k``, the Postgres one ignores them, and a plain one is taken for a map of cubes and matches everything.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from strata.config import Providers
from strata.model.agents import ProviderName
from strata.ports import Capabilities
from strata.providers.answers import Answer
from strata.providers.deadline import Deadline
from strata.providers.http import Call, Endpoint
from strata.providers.items import Item, mapping
from strata.providers.marks import VERBATIM
from strata.providers.memos.envelope import data_of
from strata.providers.memos.items import self_hosted_items
from strata.providers.scopes import Cube
from strata.providers.wire import (
    BATCH,
    Acknowledgement,
    Entry,
    Findings,
    Question,
    Remaining,
    batches,
    key_of,
    matching,
)

RELATIVITY = 0.45
PREFERENCES = 6

_PAGE = 100
_LOOK_PAGES = 5
"""Newest pages that are looked through for a key: more than a retry lies behind. Older ones are found by content."""
_LOOK_TOP_K = 20
_LISTING_FACTOR = 8


class SelfHostedMemos:
    """The wire to one MemOS server."""

    name = ProviderName.MEMOS

    def __init__(self, endpoint: Endpoint, settings: Providers) -> None:
        self._endpoint = endpoint
        self._async = settings.memos_async

    @property
    def capabilities(self) -> Capabilities:
        """Say what the server can do."""
        return Capabilities(
            keyword=False,
            semantic=True,
            tags=False,
            update=False,
            returns_ids=not self._async,
            asynchronous=self._async,
        )

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def search(self, question: Question, deadline: Deadline) -> Findings:
        """Search all cubes in one request."""
        payload = {
            "query": question.text,
            "user_id": question.cubes[0],
            "readable_cube_ids": list(question.cubes),
            "mode": "fast",
            "top_k": question.limit,
            "relativity": RELATIVITY,
            "dedup": "mmr",
            "include_preference": True,
            "pref_top_k": PREFERENCES,
            "search_tool_memory": False,
            "include_skill_memory": False,
            **({"session_id": question.conversation} if question.conversation else {}),
        }
        call = Call(operation="search", path="/product/search", body=payload)
        return Findings(items=tuple(self._items(call, question.cubes, deadline)))

    def store(self, entry: Entry, deadline: Deadline) -> Acknowledgement:
        """Add, in the background or at once; a model works on it either way."""
        return self._added(entry, deadline, {"async_mode": "async" if self._async else "sync", "mode": "fine"})

    def store_verbatim(self, entry: Entry, deadline: Deadline) -> Acknowledgement:
        """Add the text as it is: what a model found nothing in, or could not be asked about."""
        return self._added(entry, deadline, {"async_mode": "sync", "mode": "fast"}, **{VERBATIM: 1})

    def find(self, cube: Cube, key: str, content: str, remaining: Remaining) -> list[Item]:
        """Look through the newest pages, then search by content: the order in which a retry finds its own."""
        recent = [item for item in self._pages(cube, remaining, pages=_LOOK_PAGES) if key_of(item) == key]
        return recent or [item for item in self._similar(cube, content, remaining()) if key_of(item) == key]

    def everything(self, cube: Cube, limit: int, remaining: Remaining) -> list[Item]:
        """List the cube, newest first."""
        items: list[Item] = []
        for item in self._pages(cube, remaining):
            items.append(item)
            if len(items) >= limit:
                break
        return items

    def matching(self, cube: Cube, ids: frozenset[str], remaining: Remaining) -> list[Item]:
        """List the cube and pick: an id alone proves nothing, the server shows and deletes anybody's by it."""
        return matching(self._pages(cube, remaining), ids)

    def remove(self, cube: Cube, external_ids: Sequence[str], remaining: Remaining) -> None:
        """Delete by id. The server's ``data.status`` says failure after success and the other way round."""
        for ids in batches(external_ids, BATCH):
            payload = {"writable_cube_ids": [cube], "memory_ids": list(ids)}
            call = Call(operation="delete", path="/product/delete_memory", body=payload)
            self._endpoint.call(call, remaining(), data_of)

    def _added(self, entry: Entry, deadline: Deadline, modes: Mapping[str, str], **marks: int) -> Acknowledgement:
        said = entry.draft.said_at.strftime("%Y-%m-%d %H:%M")
        info: dict[str, object] = {**entry.marks, **marks}
        payload = {
            "user_id": entry.cube,
            "writable_cube_ids": [entry.cube],
            "messages": [{"role": "user", "content": entry.draft.content, "chat_time": said}],
            "info": info,
            **modes,
            **({"session_id": entry.conversation} if entry.conversation else {}),
        }
        call = Call(operation="add", path="/product/add", body=payload, repeatable=False)
        return self._endpoint.call(call, deadline, lambda answer: _acknowledged(answer, entry.cube))

    def _similar(self, cube: Cube, content: str, deadline: Deadline) -> Iterator[Item]:
        payload = {
            "query": content,
            "user_id": cube,
            "readable_cube_ids": [cube],
            "mode": "fast",
            "top_k": _LOOK_TOP_K,
            "relativity": 0,
            "dedup": "no",
            "include_preference": True,
            "pref_top_k": _LOOK_TOP_K,
            "search_tool_memory": False,
            "include_skill_memory": False,
        }
        return self._items(Call(operation="find", path="/product/search", body=payload), (cube,), deadline)

    def _pages(self, cube: Cube, remaining: Remaining, *, pages: int | None = None) -> Iterator[Item]:
        """List page by page until one brings nothing new: the Postgres backend answers each with everything."""
        seen: set[str] = set()
        page = 0
        while pages is None or page < pages:
            page += 1
            payload = {
                "mem_cube_id": cube,
                "include_preference": True,
                "include_tool_memory": False,
                "include_skill_memory": False,
                "page": page,
                "page_size": _PAGE,
            }
            call = Call(operation="list", path="/product/get_memory", body=payload, size_factor=_LISTING_FACTOR)
            fresh = [item for item in self._items(call, (cube,), remaining()) if item.external_id not in seen]
            yield from fresh
            seen.update(item.external_id for item in fresh)
            if len(fresh) != _PAGE:  # fewer is the last page; more means that pages are not a thing here
                return

    def _items(self, call: Call, cubes: Sequence[Cube], deadline: Deadline) -> Iterator[Item]:
        data = self._endpoint.call(call, deadline, _parts)
        return self_hosted_items(data, frozenset(cubes))


def _parts(answer: Answer) -> Mapping[str, Any]:
    """Return the buckets of a search or a listing."""
    data = data_of(answer)
    if not isinstance(data, dict) or not isinstance(data.get("text_mem"), list):
        answer.unusable("it has no list of memories")
    return mapping(data)


def _acknowledged(answer: Answer, cube: Cube) -> Acknowledgement:
    """Read the answer to an add: an empty list is a success that stored nothing, no body one that says nothing."""
    if answer.is_empty and answer.status == 202:  # noqa: PLR2004 Accepted
        return Acknowledgement()
    data = data_of(answer)
    if not isinstance(data, list):
        answer.unusable("it has no list of what was stored")
    entries = [entry for entry in data if isinstance(entry, dict) and entry.get("memory_id")]
    if any(entry.get("cube_id", cube) != cube for entry in entries):
        answer.unusable("it stored in a cube that was not named")
    return Acknowledgement(external_ids=tuple(str(entry["memory_id"]) for entry in entries), stored=bool(entries))
