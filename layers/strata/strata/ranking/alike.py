"""What is stored that is like a text about to be stored: every row on the calibrated scale at once, then the best.

A question is answered by what ranks best; a repeat is found by how close it is. So nothing is standardised here, and
neither dates nor speakers count: a fact that was heard from somebody else is the same fact.
"""

from strata.model.context import SearchMode
from strata.ranking.asking import Asking
from strata.ranking.calibration import NAMED_IN_PASSING, PASSAGE_CURVE, SUPPORT, Background
from strata.ranking.columns import Array
from strata.ranking.mix import FACTS
from strata.ranking.postings import Statistics, statistics_of
from strata.ranking.query import Query
from strata.ranking.ranked import Candidate, Found, calibrated, ranked
from strata.ranking.shelf import Shelf
from strata.ranking.vectors import numpy_is_there

DROPPED_BELOW = 0.7
"""Share of the least score below which a rough score is not looked at closely."""
LEAST_WORTH = 1e-9
_DEVIATIONS = [deviations for deviations, _ in PASSAGE_CURVE]
_SCORES = [score for _, score in PASSAGE_CURVE]


def alike(shelf: Shelf, query: Query, background: Background, *, least: float, limit: int) -> list[Candidate]:
    """Return at most ``limit`` candidates, the closest first, of which any may fall short of ``least``."""
    if not len(shelf):
        return []
    if not numpy_is_there():
        return ranked([shelf], query, FACTS, SearchMode.KEYWORD, background, limit=limit)
    statistics = statistics_of([shelf.postings], query.terms)
    asking = Asking(query=query, statistics=statistics, mix=FACTS, mode=SearchMode.HYBRID, background=background)
    found = calibrated(_closest(shelf, asking, least * DROPPED_BELOW, limit), asking, scaled=list)
    return sorted(found, key=lambda candidate: -candidate.score)


def _closest(shelf: Shelf, asking: Asking, least: float, limit: int) -> list[Found]:
    import numpy as np

    from strata.ranking import signals
    from strata.ranking.field import Field
    from strata.ranking.fusion import best_rows

    field = Field.of([shelf])
    deviations = signals.semantic(field, asking.query, asking.background)
    scores = _covered(shelf, asking.query, asking.statistics)
    if deviations is not None:
        meant = np.interp(deviations, _DEVIATIONS, _SCORES)
        strong, weak = np.maximum(scores, meant), np.minimum(scores, meant)
        scores = strong + (1.0 - strong) * SUPPORT * weak
    is_close = field.candidates(asking.query) & (scores > max(0.0, least))
    rows = best_rows(np.where(is_close, scores, -np.inf), limit)
    known: list[float | None] = [None] * len(rows) if deviations is None else deviations[rows].tolist()
    return [Found(shelf, row, deviation) for row, deviation in zip(rows, known, strict=True)]


def _covered(shelf: Shelf, query: Query, statistics: Statistics) -> Array:
    """Return roughly what ``coverage`` says: words that a row does not share count as rare as those asked for."""
    import numpy as np

    from strata.ranking.field import lengths_of

    rarities = {term: statistics.rarity(term) for term in query.terms}
    whole = sum(rarities.values())
    known = [(posting.slots, rarity) for term, rarity in rarities.items() if (posting := shelf.postings.posting(term))]
    if not known or not whole:
        return np.zeros(shelf.size)
    rows = np.concatenate([slots for slots, _ in known])
    worth = np.repeat([rarity for _, rarity in known], [len(slots) for slots, _ in known])
    shared = np.bincount(rows, worth, minlength=shelf.size)
    apart = lengths_of(shelf) - np.bincount(rows, minlength=shelf.size)
    unshared = np.maximum(apart, 0.0) * (whole / len(rarities))
    return np.maximum(shared / whole, NAMED_IN_PASSING * shared / np.maximum(shared + unshared, LEAST_WORTH))
