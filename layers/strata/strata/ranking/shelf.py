"""One memory type of one collection, ready to be searched: terms, vectors and features in numbered slots.

Kept warm between calls and changed memory by memory. Types stay physically apart here as they do in the database.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from strata.ranking.columns import Array, Columns
from strata.ranking.dates import MONTHS
from strata.ranking.postings import Postings
from strata.ranking.tokens import fold, is_dense, terms
from strata.ranking.vectors import VectorMatrix, numpy_is_there

NOBODY = -1
QUESTION_MARKS = ("?", "？")
ROLE_NAMES = frozenset({"user", "assistant", "system", "tool"})
"""Names that say what a speaker is and not who."""

_ATTACHMENT = re.compile(r"\s*\[[^\[\]]*\]\s*$")
"""A note in brackets behind a turn, such as the caption of a photo."""

Tag = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What an index needs to know of one memory."""

    memory_id: str
    text: str
    said_on: date
    expires: float = math.inf
    """Seconds since 1970."""
    vector: bytes | None = None
    tags: frozenset[Tag] = frozenset()
    readers: frozenset[str] | None = None
    """Agents that may read it; None = all that may read the collection."""
    speaker: str = ""
    session_id: str = ""
    seq: int = 0
    previous_seq: int = 0
    """The turn before it in its session; 0 = none."""
    dated: bool = False
    """Whether the date counts as part of the text."""


@dataclass(slots=True)
class _Names:
    """Numbers for names, in the order of their appearance."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers)) if name else NOBODY


class Shelf:
    """Entries in numbered slots. Not locked; the owner serialises.

    ``dimensions`` is that of the embedding model, 0 if there is none. Without numpy there are no vectors and no
    features, and only keyword search is possible.
    """

    def __init__(self, label: str, dimensions: int = 0) -> None:
        self.label = label
        self.postings = Postings()
        self.columns = Columns() if numpy_is_there() else None
        self.vectors = VectorMatrix(dimensions) if dimensions and self.columns is not None else None
        self.speakers = _Names()
        self.sessions = _Names()
        self._entries: dict[int, Entry] = {}
        self._slots: dict[str, int] = {}
        self._free: list[int] = []
        self._tagged: dict[Tag, set[int]] = {}
        self._restricted: dict[int, frozenset[str]] = {}
        self._turns: dict[tuple[str, int], int] = {}
        self._followers: dict[tuple[str, int], int] = {}

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def size(self) -> int:
        """Slots in use or free: the length of every column."""
        return len(self._slots) + len(self._free)

    def put(self, entry: Entry) -> None:
        """Enter a memory, or its new version."""
        self.drop(entry.memory_id)
        slot = self._free.pop() if self._free else len(self._slots)
        self._slots[entry.memory_id] = slot
        self._entries[slot] = entry
        for tag in entry.tags:
            self._tagged.setdefault(tag, set()).add(slot)
        if entry.readers is not None:
            self._restricted[slot] = entry.readers
        words = terms(entry.text)
        self.postings.add(slot, words + (date_terms(entry.said_on) if entry.dated else ()))
        if self.columns is not None:
            self._describe(self.columns, slot, entry, len(words))

    def drop(self, memory_id: str) -> None:
        """Take a memory out, if it is here."""
        slot = self._slots.pop(memory_id, None)
        if slot is None:
            return
        entry = self._entries.pop(slot)
        self._free.append(slot)
        self._restricted.pop(slot, None)
        for tag in entry.tags:
            self._tagged[tag].discard(slot)
        self.postings.remove(slot)
        if self.columns is not None:
            self._unlink(self.columns, slot, entry)
            self.columns.put(slot, {"live": 0, "embedded": 0})
        if self.vectors is not None:
            self.vectors.clear(slot)

    def entry(self, slot: int) -> Entry:
        """Return what is in a slot."""
        return self._entries[slot]

    def slots_with(self, tags: Iterable[Tag]) -> set[int] | None:
        """Return the slots that carry every tag; None if no tag is asked for."""
        wanted = [self._tagged.get(tag, set()) for tag in tags]
        return set.intersection(*wanted) if wanted else None

    def slots_closed_to(self, reader: str | None) -> list[int]:
        """Return the slots whose own allow-list leaves the agent out."""
        return [] if reader is None else [slot for slot, may in self._restricted.items() if reader not in may]

    def column(self, name: str) -> Array:
        """Return a feature of every slot. Needs numpy."""
        if self.columns is None:
            raise LookupError(name)
        return self.columns.view(name, self.size)

    def cosines(self, query: bytes) -> Array | None:
        """Return the cosine of every slot with a query, or None if there are no vectors."""
        return self.vectors.cosines(query, self.size) if self.vectors is not None else None

    def nearness(self) -> Array:
        """Return how near every slot is to the mean of the shelf; 0 for those without a vector."""
        if self.vectors is None:
            raise LookupError(self.label)
        return self.vectors.nearness(self.size)

    def _describe(self, columns: Columns, slot: int, entry: Entry, words: int) -> None:
        embedded = self.vectors is not None and entry.vector is not None and self.vectors.put(slot, entry.vector)
        columns.put(slot, {**_features(entry, words), "live": 1, "embedded": embedded})
        columns.put(
            slot,
            {
                "speaker": self.speakers.number(speaker_name(entry.speaker)),
                "session": self.sessions.number(entry.session_id),
            },
        )
        self._link(columns, slot, entry)

    def _link(self, columns: Columns, slot: int, entry: Entry) -> None:
        previous = self._turns.get((entry.session_id, entry.previous_seq), NOBODY) if entry.previous_seq else NOBODY
        following = self._followers.get((entry.session_id, entry.seq), NOBODY) if entry.seq else NOBODY
        columns.put(slot, {"previous": previous, "following": following})
        if previous != NOBODY:
            columns.put(previous, {"following": slot})
        if following != NOBODY:
            columns.put(following, {"previous": slot})
        if entry.seq:
            self._turns[entry.session_id, entry.seq] = slot
        if entry.previous_seq:
            self._followers[entry.session_id, entry.previous_seq] = slot

    def _unlink(self, columns: Columns, slot: int, entry: Entry) -> None:
        for links, key in (
            (self._turns, (entry.session_id, entry.seq)),
            (self._followers, (entry.session_id, entry.previous_seq)),
        ):
            if links.get(key) == slot:
                del links[key]
        previous, following = (int(columns.view(name, self.size)[slot]) for name in ("previous", "following"))
        if previous != NOBODY:
            columns.put(previous, {"following": NOBODY})
        if following != NOBODY:
            columns.put(following, {"previous": NOBODY})


def speaker_name(speaker: str) -> str:
    """Return a speaker as it is looked for in a question; roles are no names."""
    name = fold(speaker).strip()
    return "" if name in ROLE_NAMES else name


def date_terms(said_on: date) -> tuple[str, ...]:
    """Return the search terms of a date: day, month and year as an English reader writes them."""
    return terms(f"{said_on.day} {MONTHS[said_on.month - 1]} {said_on.year}")


def _features(entry: Entry, words: int) -> Mapping[str, float]:
    return {
        "dense_script": is_dense(entry.text),
        "question": _ATTACHMENT.sub("", entry.text).rstrip().endswith(QUESTION_MARKS),
        "expires": entry.expires,
        "length": math.log(max(1, words)),
        "year": entry.said_on.year,
        "month": entry.said_on.month,
        "day": entry.said_on.day,
    }
