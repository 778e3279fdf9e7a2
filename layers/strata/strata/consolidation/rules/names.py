"""Proper names in a sentence, told by their capital letters: *Ines* in "my manager is Ines".

The first word of a sentence always has one, so that it tells nothing; what is written in capitals throughout shouts.
Chinese names carry no mark; there the rules look at the words around them.
"""

import re

from strata.consolidation.rules.clauses import Sentence
from strata.consolidation.rules.lexicon import Coded

_WORD = re.compile("[a-z\u00e0-\u024f][a-z\u00e0-\u024f'-]*")
_NO_NAMES = frozenset(
    "i i'm i've i'd i'll ok tv uk us usa eu ai dr mr mrs ms god christmas easter english monday tuesday wednesday"
    " thursday friday saturday sunday january february march april may june july august september october november"
    " december".split()
)


def names_in(coded: Coded, sentence: Sentence) -> tuple[tuple[int, int], ...]:
    """Return the ranges of coded text that are spelt like a name."""
    if coded.original.islower() or coded.original.isupper():
        return ()
    found = _WORD.finditer(coded.text, sentence.start, sentence.end)
    return tuple(match.span() for match in found if match.start() > sentence.start and _is_name(coded, match))


def _is_name(coded: Coded, match: re.Match[str]) -> bool:
    source = coded.source(*match.span())
    return source[:1].isupper() and not source[1:].isupper() and match.group() not in _NO_NAMES
