"""One question to some shelves, with everything that ranking them takes."""

from dataclasses import dataclass

from strata.model.context import SearchMode
from strata.ranking.calibration import Background
from strata.ranking.mix import Mix
from strata.ranking.postings import Statistics
from strata.ranking.query import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A question, how to weigh what speaks for a row, and what is known of all rows together."""

    query: Query
    statistics: Statistics
    mix: Mix
    mode: SearchMode
    background: Background
