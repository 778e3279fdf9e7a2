"""Shelves and a question to ranked, calibrated candidates; with numpy by all signals, without it by keywords."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from strata.model.context import SearchMode
from strata.ranking.calibration import Background, combined, coverage, pooled, similarity
from strata.ranking.mix import Mix
from strata.ranking.postings import Statistics, statistics_of
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
class _Found:
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
    if numpy_is_there():
        found = _by_all_signals(filled, query, mix, mode, background, limit)
    else:
        found = _by_keywords(filled, query, statistics, limit)
    return _calibrated(found, query, statistics, mode)


def _by_all_signals(
    shelves: Sequence[Shelf], query: Query, mix: Mix, mode: SearchMode, background: Background, limit: int
) -> list[_Found]:
    from strata.ranking.field import Field
    from strata.ranking.fusion import best_rows, fused

    field = Field.of(shelves)
    scored = fused(field, query, mix, mode, background)
    found = []
    for row in best_rows(scored.ranking, limit):
        shelf, slot = field.locate(row)
        found.append(_Found(shelf, slot, None if scored.semantic is None else float(scored.semantic[row])))
    return found


def _by_keywords(shelves: Sequence[Shelf], query: Query, statistics: Statistics, limit: int) -> list[_Found]:
    weights = {term: statistics.rarity(term) for term in query.terms}
    scored = [
        (score, number, slot)
        for number, shelf in enumerate(shelves)
        for slot, score in shelf.postings.scores(weights, statistics).items()
        if _may_be_found(shelf, slot, query)
    ]
    best = sorted(scored, key=lambda item: (-item[0], item[1], item[2]))[:limit]
    return [_Found(shelves[number], slot, None) for _, number, slot in best]


def _may_be_found(shelf: Shelf, slot: int, query: Query) -> bool:
    entry = shelf.entry(slot)
    is_open = query.reader is None or entry.readers is None or query.reader in entry.readers
    return is_open and entry.expires > query.now and query.tags <= entry.tags


def _calibrated(found: Sequence[_Found], query: Query, statistics: Statistics, mode: SearchMode) -> list[Candidate]:
    rarities = {term: statistics.rarity(term) for term in query.terms}
    whole = sum(rarities.values())
    measured = [_measures(item, query, rarities, whole, mode) for item in found]
    scores = pooled([combined(semantic, keyword) for semantic, keyword in measured])
    return [
        Candidate(
            memory_id=item.shelf.entry(item.slot).memory_id,
            shelf=item.shelf.label,
            score=score,
            signals=_signals(semantic, keyword),
            terms=frozenset(item.shelf.postings.terms_of(item.slot)),
        )
        for item, (semantic, keyword), score in zip(found, measured, scores, strict=True)
    ]


def _measures(
    item: _Found, query: Query, rarities: Mapping[str, float], whole: float, mode: SearchMode
) -> tuple[float, float]:
    """Return the semantic and the keyword score, each 0 if the mode does not use it."""
    semantic = similarity(item.deviations, passage=query.passage) if item.deviations is not None else 0.0
    if mode is SearchMode.SEMANTIC and item.deviations is not None:
        return semantic, 0.0
    postings = item.shelf.postings
    shared = sum(rarities[term] for term in postings.terms_of(item.slot) if term in rarities)
    return semantic, coverage(shared, whole, postings.rarity_of(item.slot)) if shared > 0.0 else 0.0


def _signals(semantic: float, keyword: float) -> tuple[str, ...]:
    by_meaning = (SEMANTIC,) if semantic >= FOUND_BY_MEANING else ()
    return ((KEYWORD,) if keyword > 0 else ()) + by_meaning
