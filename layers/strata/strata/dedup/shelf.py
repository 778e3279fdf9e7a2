"""Stored texts kept prepared between calls, so that nothing is read again that is already known.

One process settles the sessions of the same few collections again and again. What a text normalises to and how it
reads is remembered by text (``fingerprint.normalise``, ``reading.read``); here the index over a collection is, by all
of its texts: one text more or less is another index, made from what is remembered, some 20 µs a text.
"""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from strata.dedup.similarity import Profiles

MOST_TEXTS = 30_000
"""Texts in all indexes kept, some 2 KB each: at most 60 MB. A larger collection is kept alone."""


class Shelf:
    """The indexes last used; safe to share between threads."""

    def __init__(self, most_texts: int = MOST_TEXTS) -> None:
        self._most_texts = most_texts
        self._kept: OrderedDict[tuple[str, ...], Profiles] = OrderedDict()
        self._lock = Lock()

    def profiles(self, texts: Sequence[str]) -> Profiles:
        """The index over ``texts``, in their order."""
        key = tuple(texts)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        made = Profiles(key)
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > 1 and sum(map(len, self._kept)) > self._most_texts:
                self._kept.popitem(last=False)
        return made
