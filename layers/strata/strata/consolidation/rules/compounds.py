"""Several facts in one sentence: which of them stand by themselves.

"I'm allergic to nuts and my son hates coriander" are two facts; "I'm breastfeeding, so no alcohol" is one and its
consequence, "I can't do milk, it gives me a rash" one in two clauses.
"""

import re
from functools import cache

from strata.consolidation.rule_data import table
from strata.consolidation.rules.clauses import Sentence
from strata.consolidation.rules.lexicon import CLASSES
from strata.consolidation.rules.patterns import compiled

_THINGS = frozenset(CLASSES[name] for name in ("food", "alcohol", "allergen", "drug", "condition", "pet"))

_OWN = re.compile(r"[我咱俺](?!们?家?的?[\ue000-\uf8ff])|(?:i|i'm|i've)\b")


def adds(coded: str, sentence: Sentence, clauses: range, before: range) -> bool:
    """Tell whether the fact in ``clauses`` says something more than the one in the clauses ``before``.

    It does if it names a thing and opens with a word that adds, with a person, or with the user after a person.
    """
    if clauses.start <= before.stop - 1:
        return False
    text, other = _text(coded, sentence, clauses), _text(coded, sentence, before)
    opens = _opening().match(text) or (_OWN.match(text) and CLASSES["person"] in other)
    return bool(opens) and not _THINGS.isdisjoint(text)


def _text(coded: str, sentence: Sentence, clauses: range) -> str:
    return coded[sentence.clauses[clauses.start].start : sentence.clauses[clauses.stop - 1].end]


@cache
def _opening() -> re.Pattern[str]:
    return compiled(table("talk")["compounds"]["opening"], {})
