"""What an adapter says to its service, in words that all four understand. ``RemoteProvider`` does the rest."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from strata.model.agents import ProviderName
from strata.ports import Capabilities, MemoryDraft
from strata.providers.deadline import Deadline
from strata.providers.items import Item, text
from strata.providers.marks import KEY
from strata.providers.scopes import Cube

MAX_QUERY_CHARS = 2_500
"""Services refuse or cut long queries (MemOS Cloud: 4,000 tokens); what is asked stands first."""

BATCH = 100
"""Ids in one delete."""

Remaining = Callable[[], Deadline]
"""Makes the deadline of the next request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One search."""

    cubes: tuple[Cube, ...]
    text: str
    limit: int
    """Entries per cube."""
    tags: Mapping[str, str] = field(default_factory=dict)
    conversation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What a service found, and what it could not do as asked."""

    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One memory on its way to a service."""

    cube: Cube
    draft: MemoryDraft
    marks: Mapping[str, str | int | float]
    conversation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledgement:
    """A service's word that it took an entry, which is not a proof that it has it."""

    external_ids: tuple[str, ...] = ()
    stored: bool = True
    """False if the answer itself shows that nothing was stored."""


def batches(ids: Sequence[str], size: int) -> Iterator[list[str]]:
    """Cut a sequence into lists of at most ``size``."""
    for start in range(0, len(ids), size):
        yield list(ids[start : start + size])


def matching(items: Iterable[Item], ids: frozenset[str]) -> list[Item]:
    """Return the items that have one of the ids or carry it as their key, with every other item of the same memory."""
    every = list(items)
    keys = {key_of(item) for item in every if item.external_id in ids} - {""} | ids
    return [item for item in every if item.external_id in ids or key_of(item) in keys]


def key_of(item: Item) -> str:
    """Return the idempotency key that an item carries, or an empty text."""
    return text(item.marks.get(KEY))


class Wire(Protocol):
    """One service. Every method is one or several requests and raises the errors of ``Endpoint.call``."""

    @property
    def name(self) -> ProviderName: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def search(self, question: Question, deadline: Deadline) -> Findings:
        """Search several cubes. Entries of other cubes do not come back."""
        ...

    def store(self, entry: Entry, deadline: Deadline) -> Acknowledgement:
        """Store one entry."""
        ...

    def store_verbatim(self, entry: Entry, deadline: Deadline) -> Acknowledgement:
        """Store one entry without a model in between, after ``store`` stored nothing."""
        ...

    def find(self, cube: Cube, key: str, content: str, remaining: Remaining) -> list[Item]:
        """Return the entries of a cube that carry an idempotency key, as far back as a retry can lie."""
        ...

    def everything(self, cube: Cube, limit: int, remaining: Remaining) -> list[Item]:
        """Return a cube's entries, newest first, at least ``limit`` of them if there are so many."""
        ...

    def matching(self, cube: Cube, ids: frozenset[str], remaining: Remaining) -> list[Item]:
        """Return a cube's entries that have one of the ids or carry it as their key, with all of the same memory."""
        ...

    def remove(self, cube: Cube, external_ids: Sequence[str], remaining: Remaining) -> None:
        """Delete entries that were seen in the cube."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...
