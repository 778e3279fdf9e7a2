"""Shelves and a question to ranked, calibrated candidates; with numpy by all signals, without it by keywords."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from strata.model.context import SearchMode
from strata.ranking.asking import Asking
from strata.ranking.calibration import Background, combined, coverage, pooled, similarity
from strata.ranking.mix import Mix
from strata.ranking.postings import statistics_of
from strata.ranking.query import Query
from strata.ranking.shelf import Shelf
from strata.ranking.vectors import numpy_is_there

KEYWORD, SEMANTIC = "keyword", "semantic"
FOUND_BY_MEANING = 0.3
"""Semantic score from which a hit counts as found by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A memory that may be the answer, best first in its list."""

    memory_id: str
    shelf: str
    """The label of its shelf."""
    score: float
    """0–1, never rising along the list."""
    signals: tuple[str, ...]
    terms: frozenset[str]
    """Its search terms."""


@dataclass(frozen=True, slots=True)
class Found:
    """A slot of a shelf, and how far its cosine lies above unrelated texts; None without a vector."""

    shelf: Shelf
    slot: int
    deviations: float | None


def ranked(
    shelves: Sequence[Shelf], query: Query, mix: Mix, mode: SearchMode, background: Background, *, limit: int
) -> list[Candidate]:
    """Return at most ``limit`` candidates. ``background`` tells how close unrelated texts are under the model."""
    filled = [shelf for shelf in shelves if len(shelf)]
    if not filled:
        return []
    statistics = statistics_of([shelf.postings for shelf in filled], query.terms)
    asking = Asking(query=query, statistics=statistics, mix=mix, mode=mode, background=background)
    found = _by_all_signals(filled, asking, limit) if numpy_is_there() else _by_keywords(filled, asking, limit)
    return calibrated(found, asking)


def _by_all_signals(shelves: Sequence[Shelf], asking: Asking, limit: int) -> list[Found]:
    from strata.ranking.field import Field
    from strata.ranking.fusion import best_rows, fused

    field = Field.of(shelves)
    scored = fused(field, asking)
    rows = best_rows(scored.ranking, limit)
    deviations = [None] * len(rows) if scored.semantic is None else scored.semantic[rows].tolist()
    return [Found(*field.locate(row), deviation) for row, deviation in zip(rows, deviations, strict=True)]


def _by_keywords(shelves: Sequence[Shelf], asking: Asking, limit: int) -> list[Found]:
    query, statistics = asking.query, asking.statistics
    weights = {term: statistics.rarity(term) for term in query.terms}
    scored = [
        (score, number, slot)
        for number, shelf in enumerate(shelves)
        for slot, score in shelf.postings.scores(weights, statistics).items()
        if _may_be_found(shelf, slot, query)
    ]
    best = sorted(scored, key=lambda item: (-item[0], item[1], item[2]))[:limit]
    return [Found(shelves[number], slot, None) for _, number, slot in best]


def _may_be_found(shelf: Shelf, slot: int, query: Query) -> bool:
    entry = shelf.entry(slot)
    is_open = query.reader is None or entry.readers is None or query.reader in entry.readers
    return is_open and entry.expires > query.now and query.tags <= entry.tags


def calibrated(
    found: Sequence[Found], asking: Asking, scaled: Callable[[Sequence[float]], Sequence[float]] = pooled
) -> list[Candidate]:
    """Return the candidates in the given order; what ranking put in order has scores that do not rise."""
    rarities = {term: asking.statistics.rarity(term) for term in asking.query.terms}
    whole = sum(rarities.values())
    words = [item.shelf.postings.terms_of(item.slot) for item in found]
    measured = [
        (_semantic(item, asking), _keyword(item, of_item, rarities, whole, asking))
        for item, of_item in zip(found, words, strict=True)
    ]
    scores = scaled([combined(semantic, keyword) for semantic, keyword in measured])
    return [
        Candidate(
            memory_id=item.shelf.entry(item.slot).memory_id,
            shelf=item.shelf.label,
            score=score,
            signals=_signals(semantic, keyword),
            terms=of_item,
        )
        for item, of_item, score, (semantic, keyword) in zip(found, words, scores, measured, strict=True)
    ]


def _semantic(item: Found, asking: Asking) -> float:
    """Return the semantic score, 0 if the mode does not use it."""
    return 0.0 if item.deviations is None else similarity(item.deviations, passage=asking.query.passage)


def _keyword(item: Found, words: frozenset[str], rarities: Mapping[str, float], whole: float, asking: Asking) -> float:
    """Return the keyword score, 0 if the mode does not use it."""
    if asking.mode is SearchMode.SEMANTIC and item.deviations is not None:
        return 0.0
    shared = sum([rarities[term] for term in rarities.keys() & words])
    return coverage(shared, whole, item.shelf.postings.rarity_of(item.slot)) if shared > 0.0 else 0.0


def _signals(semantic: float, keyword: float) -> tuple[str, ...]:
    by_meaning = (SEMANTIC,) if semantic >= FOUND_BY_MEANING else ()
    return ((KEYWORD,) if keyword > 0 else ()) + by_meaning
