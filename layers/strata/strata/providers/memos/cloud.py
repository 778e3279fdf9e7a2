"""MemOS Cloud: OpenMem v1.

A collection is a ``user_id`` of the project, which is what the service keeps apart; one search takes one of them.
Adds never answer with an id. A search shows tags but not the metadata that was stored, a listing shows both; what a
reader must know of a memory therefore stands among its tags as well.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from strata.config import Providers
from strata.errors import ProviderRejectedError
from strata.model.agents import ProviderName
from strata.ports import Capabilities
from strata.providers.answers import Answer
from strata.providers.deadline import Deadline
from strata.providers.fanout import FanOut
from strata.providers.http import Call, Endpoint
from strata.providers.items import Item, mapping
from strata.providers.marks import KEY, VERBATIM, tag_mark
from strata.providers.memos.envelope import data_of
from strata.providers.memos.items import cloud_items, told_as_tags
from strata.providers.memos.self_hosted import PREFERENCES, RELATIVITY
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

_NO_CONVERSATION = "strata.session.none"
"""The service wants a conversation with every add."""
_MOST_RESULTS = 25
_PAGE = 50
_LOOK_ITEMS = 500
_NOTHING_THERE = frozenset({40307, 40308})
"""No such memory, no such user: an empty collection has not been written to yet."""


class CloudMemos:
    """The wire to one project of MemOS Cloud."""

    name = ProviderName.MEMOS

    def __init__(self, endpoint: Endpoint, settings: Providers) -> None:
        self._endpoint = endpoint
        self._async = settings.memos_async
        self._fan_out = FanOut()

    @property
    def capabilities(self) -> Capabilities:
        """Say what the service can do."""
        return Capabilities(
            keyword=False, semantic=True, tags=True, update=False, returns_ids=False, asynchronous=self._async
        )

    def close(self) -> None:
        """Close the connections."""
        self._fan_out.close()
        self._endpoint.close()

    def search(self, question: Question, deadline: Deadline) -> Findings:
        """Search the cubes side by side."""
        return self._fan_out.ask(question.cubes, lambda cube: self._searched(cube, question, deadline))

    def store(self, entry: Entry, deadline: Deadline) -> Acknowledgement:
        """Add, in the background or at once."""
        return self._added(entry, deadline, entry.marks)

    def store_verbatim(self, entry: Entry, deadline: Deadline) -> Acknowledgement:
        """Add at once: the service has no way past its model."""
        return self._added(entry, deadline, {**entry.marks, VERBATIM: 1}, at_once=True)

    def find(self, cube: Cube, key: str, content: str, remaining: Remaining) -> list[Item]:  # noqa: ARG002
        """Ask for the key, and look for it in the list where the service did not find it."""
        asked = self._pages(cube, remaining, {"and": [{KEY: key}]})
        found = [item for item in islice(asked, _PAGE) if key_of(item) == key]
        return found or [item for item in islice(self._pages(cube, remaining), _LOOK_ITEMS) if key_of(item) == key]

    def everything(self, cube: Cube, limit: int, remaining: Remaining) -> list[Item]:
        """List the cube."""
        return list(islice(self._pages(cube, remaining), limit))

    def matching(self, cube: Cube, ids: frozenset[str], remaining: Remaining) -> list[Item]:
        """List the cube and pick."""
        return matching(self._pages(cube, remaining), ids)

    def remove(self, cube: Cube, external_ids: Sequence[str], remaining: Remaining) -> None:  # noqa: ARG002
        """Delete by id."""
        for ids in batches(external_ids, BATCH):
            call = Call(operation="delete", path="/delete/memory", body={"memory_ids": list(ids)})
            self._endpoint.call(call, remaining(), _or_nothing)

    def _searched(self, cube: Cube, question: Question, deadline: Deadline) -> Findings:
        payload = {
            "query": question.text,
            "user_id": cube,
            "memory_limit_number": min(question.limit, _MOST_RESULTS),
            "include_preference": True,
            "preference_limit_number": PREFERENCES,
            "include_tool_memory": False,
            "include_skill": False,
            "relativity": RELATIVITY,
            **({"conversation_id": question.conversation} if question.conversation else {}),
            **({"filter": _filter(question.tags)} if question.tags else {}),
        }
        call = Call(operation="search", path="/search/memory", body=payload)
        data = self._endpoint.call(call, deadline, _details)
        return Findings(items=tuple(cloud_items(data, cube)))

    def _added(
        self, entry: Entry, deadline: Deadline, marks: Mapping[str, str | int | float], *, at_once: bool = False
    ) -> Acknowledgement:
        said = entry.draft.said_at.strftime("%Y-%m-%d %H:%M:%S")
        payload = {
            "user_id": entry.cube,
            "conversation_id": entry.conversation or _NO_CONVERSATION,
            "messages": [{"role": "user", "content": entry.draft.content, "chat_time": said}],
            "info": dict(marks),
            "tags": told_as_tags(marks),
            "async_mode": self._async and not at_once,
            "allow_public": False,
        }
        call = Call(operation="add", path="/add/message", body=payload, repeatable=False)
        return self._endpoint.call(call, deadline, _acknowledged)

    def _pages(self, cube: Cube, remaining: Remaining, where: Mapping[str, Any] | None = None) -> Iterator[Item]:
        page, pages = 1, 1
        while page <= pages:
            payload = {
                "user_id": cube,
                "page": page,
                "size": _PAGE,
                "include_preference": True,
                "include_tool_memory": False,
                **({"filter": where} if where else {}),
            }
            data = self._endpoint.call(Call(operation="list", path="/get/memory", body=payload), remaining(), _details)
            items = list(cloud_items(data, cube))
            yield from items
            told = data.get("pages")
            page, pages = page + 1, told if isinstance(told, int) else page + (len(items) >= _PAGE)


def _filter(tags: Mapping[str, str]) -> dict[str, Any]:
    return {"and": [{tag_mark(key): value} for key, value in tags.items()]}


def _details(answer: Answer) -> Mapping[str, Any]:
    """Return the lists of a search or a listing."""
    data = _or_nothing(answer)
    if not isinstance(data, dict):
        answer.unusable("it has no lists of memories")
    return mapping(data)


def _or_nothing(answer: Answer) -> Any:  # noqa: ANN401 whatever the envelope holds
    """Return ``data``, empty if the service knows no such user or memory."""
    try:
        return data_of(answer)
    except ProviderRejectedError as error:
        if error.fields.get("provider_code") in _NOTHING_THERE:
            return {}
        raise


def _acknowledged(answer: Answer) -> Acknowledgement:
    """Read the answer to an add. A background add may be accepted without a body."""
    if answer.is_empty and answer.status == 202:  # noqa: PLR2004 Accepted
        return Acknowledgement()
    data = data_of(answer)
    if not isinstance(data, dict) or not data.keys() & {"success", "task_id", "status"}:
        answer.unusable("it does not say whether it was stored")
    return Acknowledgement(stored=data.get("success") is not False and data.get("status") != "failed")
