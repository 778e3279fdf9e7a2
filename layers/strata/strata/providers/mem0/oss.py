"""The open-source Mem0 server.

A search wants one entity at the top of its filters and joins several by AND, so each collection is asked for by itself.
A metadata filter is exact, which makes the idempotency key one request. Listings end at 1,000.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from strata.model.agents import ProviderName
from strata.ports import Capabilities
from strata.providers.answers import Answer
from strata.providers.deadline import Deadline
from strata.providers.fanout import FanOut
from strata.providers.http import Call, Endpoint
from strata.providers.items import Item
from strata.providers.marks import KEY, tag_mark
from strata.providers.mem0.items import THRESHOLD, add_body, added_ids, entity_of, items_of, read_entry
from strata.providers.scopes import Cube
from strata.providers.wire import Acknowledgement, Entry, Findings, Question, Remaining, key_of

_MOST = 1_000
_LOOK_TOP_K = 20
_NOT_FOUND = frozenset({404})
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_LISTING_FACTOR = 2


class OssMem0:
    """The wire to one Mem0 server."""

    name = ProviderName.MEM0
    capabilities = Capabilities(
        keyword=False, semantic=True, tags=True, update=True, returns_ids=True, asynchronous=False
    )

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._fan_out = FanOut()

    def close(self) -> None:
        """Close the connections."""
        self._fan_out.close()
        self._endpoint.close()

    def search(self, question: Question, deadline: Deadline) -> Findings:
        """Search the cubes side by side."""
        return self._fan_out.ask(question.cubes, lambda cube: self._searched(cube, question, deadline))

    def store(self, entry: Entry, deadline: Deadline) -> Acknowledgement:
        """Store the memory as it stands."""
        call = Call(operation="add", path="/memories", body=add_body(entry), repeatable=False)
        return self._endpoint.call(call, deadline, _acknowledged)

    def store_verbatim(self, entry: Entry, deadline: Deadline) -> Acknowledgement:
        """Try again: the first time was verbatim already."""
        return self.store(entry, deadline)

    def find(self, cube: Cube, key: str, content: str, remaining: Remaining) -> list[Item]:
        """Ask for the key; the listing answers where the search's semantic gate hides it."""
        where = {entity_of(cube): cube, KEY: key}
        payload = {"query": content, "filters": where, "top_k": _LOOK_TOP_K, "threshold": 0.0, "show_expired": True}
        call = Call(operation="find", path="/search", body=payload)
        found = self._endpoint.call(call, remaining(), lambda answer: items_of(answer, frozenset({cube})))
        return [item for item in found if key_of(item) == key] or self._with_key(cube, key, remaining)

    def everything(self, cube: Cube, limit: int, remaining: Remaining) -> list[Item]:
        """List the cube, as far as the server does."""
        query: dict[str, str | int] = {entity_of(cube): cube, "top_k": min(limit, _MOST), "show_expired": "true"}
        call = Call(operation="list", method="GET", path="/memories", query=query, size_factor=_LISTING_FACTOR)
        items = self._endpoint.call(call, remaining(), lambda answer: items_of(answer, frozenset({cube})))
        return sorted(items, key=_newest, reverse=True)

    def matching(self, cube: Cube, ids: frozenset[str], remaining: Remaining) -> list[Item]:
        """Get each id that is one of the server's, and find each key."""
        found = [item for one in ids if _UUID.fullmatch(one) for item in self._got(cube, one, remaining)]
        keys = (ids | {key_of(item) for item in found}) - {""}
        found += [item for key in sorted(keys) for item in self.find(cube, key, key, remaining)]
        return list({item.external_id: item for item in found}.values())

    def remove(self, cube: Cube, external_ids: Sequence[str], remaining: Remaining) -> None:  # noqa: ARG002
        """Delete one by one: deleting by entity once emptied whole stores."""
        for external_id in external_ids:
            call = Call(operation="delete", method="DELETE", path=f"/memories/{external_id}", expected=_NOT_FOUND)
            self._endpoint.call(call, remaining(), lambda answer: answer.status)

    def _searched(self, cube: Cube, question: Question, deadline: Deadline) -> Findings:
        where = {entity_of(cube): cube, **{tag_mark(key): value for key, value in question.tags.items()}}
        payload = {"query": question.text, "filters": where, "top_k": question.limit, "threshold": THRESHOLD}
        call = Call(operation="search", path="/search", body=payload)
        items = self._endpoint.call(call, deadline, lambda answer: items_of(answer, frozenset({cube})))
        return Findings(items=tuple(items))

    def _with_key(self, cube: Cube, key: str, remaining: Remaining) -> list[Item]:
        return [item for item in self.everything(cube, _MOST, remaining) if key_of(item) == key]

    def _got(self, cube: Cube, external_id: str, remaining: Remaining) -> list[Item]:
        """Return one entry if it is in the cube: the server shows anybody's by its id."""
        call = Call(operation="get", method="GET", path=f"/memories/{external_id}", expected=_NOT_FOUND)
        entry = self._endpoint.call(call, remaining(), _entry)
        return list(read_entry(entry, frozenset({cube})))


def _newest(item: Item) -> float:
    return item.created_at.timestamp() if item.created_at else 0.0


def _entry(answer: Answer) -> Mapping[str, Any]:
    """Return one entry; the server says 200 and null where there is none."""
    parsed = answer.json() if answer.status not in _NOT_FOUND else None
    if parsed is not None and not isinstance(parsed, dict):
        answer.unusable("it is not one memory")
    return parsed or {}


def _acknowledged(answer: Answer) -> Acknowledgement:
    """Read the answer to an add: an empty list is a success that stored nothing."""
    results = answer.document().get("results")
    if not isinstance(results, list):
        answer.unusable("it has no list of results")
    ids = added_ids(results)
    return Acknowledgement(external_ids=ids, stored=bool(ids))
