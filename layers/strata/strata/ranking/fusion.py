"""Signals to one ranking score: a weighted sum of standardised signals, and what else speaks for a row. Needs numpy.

Reciprocal-rank fusion throws away how far ahead a hit is; adding standard scores keeps it, and ranked better on every
set that was measured.
"""

from dataclasses import dataclass

import numpy as np

from strata.model.context import SearchMode
from strata.ranking import signals
from strata.ranking.asking import Asking
from strata.ranking.columns import Array
from strata.ranking.field import Field, shifted
from strata.ranking.mix import Mix
from strata.ranking.query import Query
from strata.ranking.shelf import NOBODY

PRIOR_ROWS = 5
"""How many unrelated rows a small collection is padded with in thought, so that three rows have a scale too."""
SEMANTIC_PRIOR = (0.0, 1.0)
"""Mean and deviation of the signal among unrelated rows."""
LEAST_WORDS = 10
LEAST_DEVIATION = 1e-9


@dataclass(frozen=True, slots=True)
class Scored:
    """What fusion found: the ranking score of every row, and the two signals that calibration reads."""

    ranking: Array
    semantic: Array | None
    keyword: Array


def fused(field: Field, asking: Asking) -> Scored:
    """Score every row of a field; rows that are no candidates have −∞."""
    query, prior = asking.query, keyword_prior(asking.query)
    allowed = field.candidates(query)
    counted = slice(None) if allowed.all() else allowed
    semantic = None if asking.mode is SearchMode.KEYWORD else signals.semantic(field, query, asking.background)
    weights = asking.mix.under(asking.mode, semantic=semantic is not None)
    keyword = signals.keyword(field, query, asking.statistics)
    total = weights.keyword * standardised(keyword, counted, prior)
    if semantic is not None:
        own = (
            semantic - weights.common * signals.common(field, query, asking.background) if weights.common else semantic
        )
        total += weights.semantic * standardised(own, counted, SEMANTIC_PRIOR)
    if weights.window:
        total += weights.window * standardised(signals.window(field, query), counted, prior)
    total = _with_surroundings(field, _with_named(field, query, weights, total), query, weights)
    total = _with_session(field, weights, total, allowed)
    return Scored(np.where(allowed, total, -np.inf), semantic, keyword)


def keyword_prior(query: Query) -> tuple[float, float]:
    """Return mean and deviation of the keyword signals among unrelated rows: one ordinary word in common or none."""
    return 0.0, 1.0 / max(LEAST_WORDS, len(query.terms))


def standardised(values: Array, counted: Array | slice, prior: tuple[float, float]) -> Array:
    """Return distances from the mean of the counted rows in deviations, both drawn towards the prior where few are."""
    mean, deviation = prior
    seen = values[counted]
    rows = len(seen) + PRIOR_ROWS
    middle = (seen.sum() + PRIOR_ROWS * mean) / rows
    apart = seen - middle
    spread = float(np.dot(apart, apart)) + PRIOR_ROWS * (deviation**2 + (mean - middle) ** 2)
    scaled: Array = (values - middle) / max(LEAST_DEVIATION, float(np.sqrt(spread / rows)))
    return scaled


def _with_named(field: Field, query: Query, weights: Mix, total: Array) -> Array:
    """A fitting date speaks for the whole session, so it is added before neighbours are heard."""
    dates = signals.date_named(field, query) if weights.date else None
    return total if dates is None else total + weights.date * dates


def _with_surroundings(field: Field, total: Array, query: Query, weights: Mix) -> Array:
    if any(weights.neighbours):
        total = total + _neighbours(field, total, weights)
    if weights.length:
        total = total + weights.length * field.column("length")
    if weights.question or weights.answer:
        asks = field.column("question")
        total = total - weights.question * asks + weights.answer * shifted(asks, field.links("previous"))
    speakers = signals.speaker_named(field, query) if weights.speaker else None
    return total if speakers is None else total + weights.speaker * speakers


def _neighbours(field: Field, total: Array, weights: Mix) -> Array:
    previous, following = field.links("previous"), field.links("following")
    before, after = shifted(total, previous), shifted(total, following)
    one_before, one_after, two_before, two_after = weights.neighbours
    added: Array = one_before * before + one_after * after
    return added + two_before * shifted(before, previous) + two_after * shifted(after, following)


def _with_session(field: Field, weights: Mix, total: Array, allowed: Array) -> Array:
    if not weights.session:
        return total
    sessions, known = field.sessions()
    counted = allowed & (sessions != NOBODY)
    best = np.full(known + 1, -np.inf)
    np.maximum.at(best, sessions[counted], total[counted])
    of_session = np.where(counted, best[sessions], 0.0)
    if not counted.any():
        return total
    spread = float(of_session[counted].std()) or 1.0
    return np.where(counted, total + weights.session * (of_session - of_session[counted].mean()) / spread, total)


def best_rows(ranking: Array, limit: int) -> list[int]:
    """Return the rows with the highest scores, best first; −∞ is never among them."""
    rows = np.argpartition(-ranking, limit)[:limit] if limit < len(ranking) else np.arange(len(ranking))
    ordered = rows[np.lexsort((rows, -ranking[rows]))]
    found: list[int] = ordered[np.isfinite(ranking[ordered])].tolist()
    return found
