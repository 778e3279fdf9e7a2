"""Entries and shelves for the tests of the ranking room."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

import numpy as np

from strata.model.context import SearchMode
from strata.ranking.asking import Asking
from strata.ranking.calibration import Background
from strata.ranking.mix import FACTS, Mix
from strata.ranking.postings import statistics_of
from strata.ranking.query import Query, prepared
from strata.ranking.ranked import Candidate, ranked
from strata.ranking.shelf import Entry, Shelf

DIMENSIONS = 4
MARCH = date(2026, 3, 10)


def entry(name: str, text: str, **fields: Any) -> Entry:
    return Entry(memory_id=name, text=text, **{"said_on": MARCH, **fields})


def shelf_of(entries: Iterable[Entry], *, dimensions: int = 0, label: str = "user_preference") -> Shelf:
    shelf = Shelf(label, dimensions)
    for one in entries:
        shelf.put(one)
    return shelf


def texts(*contents: str, dimensions: int = 0, **fields: Any) -> Shelf:
    """Return a shelf of entries named ``m0``, ``m1`` and so on."""
    named = (entry(f"m{number}", content, **fields) for number, content in enumerate(contents))
    return shelf_of(named, dimensions=dimensions)


def vector(*values: float) -> bytes:
    made = np.array(values, dtype="<f4")
    return bytes((made / np.linalg.norm(made)).tobytes())


def background(dense_scripts: int, *, question: bool) -> tuple[float, float]:
    return 0.0, 0.1


def asking(
    shelf: Shelf,
    query: Query,
    *,
    mix: Mix = FACTS,
    mode: SearchMode = SearchMode.HYBRID,
    scale: Background = background,
) -> Asking:
    statistics = statistics_of([shelf.postings], query.terms)
    return Asking(query=query, statistics=statistics, mix=mix, mode=mode, background=scale)


def search(
    shelves: Sequence[Shelf] | Shelf,
    question: str,
    *,
    mix: Mix = FACTS,
    mode: SearchMode = SearchMode.HYBRID,
    limit: int = 10,
    now: float = 0.0,
    **query: Any,
) -> list[Candidate]:
    several = [shelves] if isinstance(shelves, Shelf) else shelves
    return ranked(several, prepared(question, now=now, **query), mix, mode, background, limit=limit)


def names(found: Sequence[Candidate]) -> list[str]:
    return [candidate.memory_id for candidate in found]
