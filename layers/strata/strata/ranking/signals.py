"""The signals of a search, each an array over all rows of a field. Needs numpy.

All rows share one set of BM25 statistics, so that rows of different shelves are comparable.
"""

import numpy as np

from strata.ranking.calibration import Background
from strata.ranking.columns import Array
from strata.ranking.dates import NamedDate
from strata.ranking.field import Field, joined, shifted
from strata.ranking.postings import Statistics, best_score, weighted_query
from strata.ranking.query import Query, names_speaker
from strata.ranking.shelf import Shelf

NEAR_DAYS, SAME_WEEK_DAYS = 1, 7
SAME_WEEK, SAME_MONTH = 0.75, 0.5


def keyword(field: Field, query: Query, statistics: Statistics) -> Array:
    """Return BM25 as a share of what a document of mean length with every query term once would get."""
    weights = weighted_query(query.terms, statistics)
    best = best_score(weights)
    found = [field.occurrences(term) for term in weights]
    if not found:
        return np.zeros(field.size)
    rows, counts = joined([rows for rows, _ in found]), joined([counts for _, counts in found])
    worth = np.repeat(np.array(list(weights.values())) / best, [len(rows) for rows, _ in found])
    norms = statistics.norms(field.lengths())
    scores: Array = np.bincount(rows, worth * statistics.saturated(counts, norms[rows]), minlength=field.size)
    return scores


def window(field: Field, query: Query) -> Array:
    """Return BM25 over each row together with the turns before and after it, in the unit of ``keyword``."""
    live = field.column("live")
    lengths = _with_neighbours(field, field.lengths())
    base = Statistics(max(1, int(live.sum())), max(1.0, float(lengths[live].mean())), {})
    norms = base.norms(lengths)
    scores, best = np.zeros(field.size), 0.0
    for term in dict.fromkeys(query.terms):
        rows, counts = field.occurrences(term)
        if not len(rows):
            best += base.rarity(term)
            continue
        spread = np.zeros(field.size)
        spread[rows] = counts
        spread = _with_neighbours(field, spread)
        weight = Statistics(base.documents, base.mean_length, {term: int(np.count_nonzero(spread))}).rarity(term)
        scores += weight * base.saturated(spread, norms)
        best += weight
    return scores / (best or 1.0)


def semantic(field: Field, query: Query, background: Background) -> Array | None:
    """Return how far each cosine lies above that of unrelated texts, in deviations; None without vectors.

    Cosines of texts in one script are higher than across scripts, whatever they say: each pair of scripts has its own
    background. Rows without a vector count as unrelated.
    """
    parts = [_above_background(shelf, query, background) for shelf in field.shelves]
    known = [part for part in parts if part is not None]
    return joined(known) if known and len(known) == len(parts) else None


def common(field: Field, query: Query, background: Background) -> Array:
    """Return how much more than others of its script each row is like everything around it, in the same deviations.

    Some texts are near to every question, because they are near to everything. Needs vectors on every shelf.
    """
    return joined([_above_others(shelf, query, background) for shelf in field.shelves])


def speaker_named(field: Field, query: Query) -> Array | None:
    """Return which rows were said by someone the question names, unless it names nobody or everybody."""
    if not any(shelf.speakers.numbers for shelf in field.shelves):
        return None
    parts = []
    named: set[str] = set()
    known: set[str] = set()
    for shelf in field.shelves:
        names = {name: number for name, number in shelf.speakers.numbers.items() if names_speaker(query.folded, name)}
        known |= set(shelf.speakers.numbers)
        named |= set(names)
        parts.append(np.isin(shelf.column("speaker"), list(names.values())))
    return joined(parts).astype(np.float64) if named and named != known else None


def date_named(field: Field, query: Query) -> Array | None:
    """Return how well each row's date fits one that the question names, 0–1; None if it names none."""
    if not query.dates:
        return None
    years, months, days = (field.column(name) for name in ("year", "month", "day"))
    best: Array = np.max([_date_fit(date, years, months, days) for date in query.dates], axis=0)
    return best


def _above_background(shelf: Shelf, query: Query, background: Background) -> Array | None:
    cosines = shelf.cosines(query.vector) if query.vector is not None else None
    if cosines is None:
        return None
    (latin, latin_deviation), (dense, dense_deviation) = (
        background(script + query.dense_script, question=not query.passage) for script in (0, 1)
    )
    script = shelf.column("dense_script")
    above = np.where(script, (cosines - dense) / dense_deviation, (cosines - latin) / latin_deviation)
    above[~shelf.column("embedded")] = 0.0
    return above


def _above_others(shelf: Shelf, query: Query, background: Background) -> Array:
    found, embedded, dense = np.zeros(shelf.size), shelf.column("embedded"), shelf.column("dense_script")
    near = shelf.nearness()
    for script in (False, True):
        rows = embedded & (dense == script)
        if rows.any():
            _, deviation = background(script + query.dense_script, question=not query.passage)
            found[rows] = (near[rows] - near[rows].mean()) / deviation
    return found


def _date_fit(date: NamedDate, years: Array, months: Array, days: Array) -> Array:
    fits: Array = ((years == date.year) | (date.year == 0)) & ((months == date.month) | (date.month == 0))
    if not date.day:
        return fits.astype(np.float64)
    apart = np.abs(days - date.day)
    return fits * np.where(apart <= NEAR_DAYS, 1.0, np.where(apart <= SAME_WEEK_DAYS, SAME_WEEK, SAME_MONTH))


def _with_neighbours(field: Field, values: Array) -> Array:
    summed: Array = values + shifted(values, field.links("previous")) + shifted(values, field.links("following"))
    return summed
