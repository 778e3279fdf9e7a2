"""A search as the ranking sees it: what is asked, prepared once for all shelves."""

import re
from dataclasses import dataclass, field

from strata.ranking.dates import NamedDate, named_dates
from strata.ranking.shelf import Tag
from strata.ranking.tokens import fold, is_dense, terms

MOST_TERMS = 512
"""A longer message names its topic long before this many terms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """The question in every form the signals need."""

    folded: str
    terms: tuple[str, ...]
    dates: tuple[NamedDate, ...]
    """Asked for; a stored text asks for none."""
    dense_script: bool
    vector: bytes | None = None
    passage: bool = False
    """Whether the vector was embedded as a stored text and not as a question."""
    tags: frozenset[Tag] = field(default_factory=frozenset)
    reader: str | None = None
    """The agent that asks; None may read whatever is here."""
    now: float = 0.0
    """Seconds since 1970; what expired before is left out."""


def prepared(
    text: str,
    *,
    vector: bytes | None = None,
    passage: bool = False,
    tags: frozenset[Tag] = frozenset(),
    reader: str | None = None,
    now: float,
) -> Query:
    """Prepare a question."""
    folded = fold(text)
    return Query(
        folded=folded,
        terms=terms(text)[:MOST_TERMS],
        dates=() if passage else named_dates(folded),
        dense_script=is_dense(text),
        vector=vector,
        passage=passage,
        tags=tags,
        reader=reader,
        now=now,
    )


def names_speaker(folded: str, name: str) -> bool:
    """Tell whether a folded question names a speaker: the whole name or, with Latin letters, its first word."""
    if not name.isascii():
        return name in folded
    return any(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", folded) for part in {name, name.split(" ", 1)[0]} if part)
