"""The Mem0 Platform, version 3 of its API.

Entities are stored apart: a filter that joins a user and an agent by AND finds nothing, one that joins them by OR finds
both, so one search covers all collections. Adds are queued. A deleted memory may be found for a while, so what this
process has deleted it does not show again; for the same reason a delete cannot be checked by reading.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from strata.model.agents import ProviderName
from strata.ports import Capabilities
from strata.providers.answers import Answer
from strata.providers.deadline import Deadline
from strata.providers.http import Call, Endpoint
from strata.providers.items import Item
from strata.providers.mem0.items import THRESHOLD, add_body, added_ids, entity_of, items_of
from strata.providers.scopes import Cube
from strata.providers.wire import Acknowledgement, Entry, Findings, Question, Remaining, key_of, matching

_PAGE = 200
_LOOK_ITEMS = 1_000
_LOOK_TOP_K = 20
_MOST_RESULTS = 1_000
_NOT_FOUND = frozenset({404})
_TOMBSTONES = 10_000


class PlatformMem0:
    """The wire to one project of the Platform."""

    name = ProviderName.MEM0
    capabilities = Capabilities(
        keyword=False, semantic=True, tags=False, update=True, returns_ids=False, asynchronous=True
    )

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._deleted = _Tombstones()

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def search(self, question: Question, deadline: Deadline) -> Findings:
        """Search all cubes in one request."""
        limit = min(question.limit * len(question.cubes), _MOST_RESULTS)
        items = self._found("search", question.cubes, question.text, limit, deadline)
        return Findings(items=tuple(items))

    def store(self, entry: Entry, deadline: Deadline) -> Acknowledgement:
        """Store the memory as it stands."""
        call = Call(operation="add", path="/v3/memories/add/", body=add_body(entry), repeatable=False)
        return self._endpoint.call(call, deadline, _acknowledged)

    def store_verbatim(self, entry: Entry, deadline: Deadline) -> Acknowledgement:
        """Try again: the first time was verbatim already."""
        return self.store(entry, deadline)

    def find(self, cube: Cube, key: str, content: str, remaining: Remaining) -> list[Item]:
        """Search by content, then look through the list."""
        near = self._found("find", (cube,), content, _LOOK_TOP_K, remaining())
        found = [item for item in near if key_of(item) == key]
        return found or [item for item in islice(self._pages(cube, remaining), _LOOK_ITEMS) if key_of(item) == key]

    def everything(self, cube: Cube, limit: int, remaining: Remaining) -> list[Item]:
        """List the cube."""
        return list(islice(self._pages(cube, remaining), limit))

    def matching(self, cube: Cube, ids: frozenset[str], remaining: Remaining) -> list[Item]:
        """List the cube and pick."""
        return matching(self._pages(cube, remaining), ids)

    def remove(self, cube: Cube, external_ids: Sequence[str], remaining: Remaining) -> None:  # noqa: ARG002
        """Delete one by one: deleting by entity is queued and tells no count."""
        for external_id in external_ids:
            path = f"/v1/memories/{external_id}/"
            call = Call(operation="delete", method="DELETE", path=path, expected=_NOT_FOUND)
            self._endpoint.call(call, remaining(), lambda answer: answer.status)
            self._deleted.add(external_id)

    def _found(
        self, operation: str, cubes: tuple[Cube, ...], query: str, limit: int, deadline: Deadline
    ) -> Iterator[Item]:
        payload = {
            "query": query,
            "filters": _any_of(cubes),
            "top_k": limit,
            "threshold": THRESHOLD if operation == "search" else 0.0,
            "rerank": False,
        }
        call = Call(operation=operation, path="/v3/memories/search/", body=payload)
        return self._deleted.without(
            self._endpoint.call(call, deadline, lambda answer: items_of(answer, frozenset(cubes)))
        )

    def _pages(self, cube: Cube, remaining: Remaining) -> Iterator[Item]:
        page = 0
        while True:
            page += 1
            query = {"page": page, "page_size": _PAGE}
            payload = {"filters": _any_of((cube,)), "show_expired": True}
            call = Call(operation="list", path="/v3/memories/", query=query, body=payload)
            items, more = self._endpoint.call(call, remaining(), lambda answer: _page(answer, cube))
            yield from self._deleted.without(items)
            if not more:
                return


class _Tombstones:
    """Ids that this process has deleted, the newest few thousand."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids: OrderedDict[str, None] = OrderedDict()

    def add(self, external_id: str) -> None:
        with self._lock:
            self._ids[external_id] = None
            if len(self._ids) > _TOMBSTONES:
                self._ids.popitem(last=False)

    def without(self, items: Iterable[Item]) -> Iterator[Item]:
        """Pass on what was not deleted."""
        with self._lock:
            deleted = frozenset(self._ids)
        return (item for item in items if item.external_id not in deleted)


def _any_of(cubes: tuple[Cube, ...]) -> dict[str, Any]:
    return {"OR": [{entity_of(cube): cube} for cube in cubes]}


def _page(answer: Answer, cube: Cube) -> tuple[list[Item], bool]:
    """Return the entries of one page and whether there is another."""
    items = items_of(answer, frozenset({cube}))
    return items, bool(answer.document().get("next"))


def _acknowledged(answer: Answer) -> Acknowledgement:
    """Read the answer to an add: an event that is pending, or results that are there already."""
    body = answer.document()
    results = body.get("results")
    if not body.get("event_id") and not isinstance(results, list):
        answer.unusable("it has neither an event nor results")
    ids = added_ids(results)
    queued = bool(body.get("event_id")) and body.get("status") != "FAILED"
    return Acknowledgement(external_ids=ids, stored=bool(ids) or queued)
