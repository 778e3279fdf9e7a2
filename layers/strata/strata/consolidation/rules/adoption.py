"""Proposals of the assistant that the user takes up in a few words: "好的，就按这个来", "let's do that".

The assistant's words are no fact about the user; that the user agreed to them is.
"""

import re
from functools import cache

from strata.consolidation.folding import fold
from strata.consolidation.rule_data import table
from strata.consolidation.rules.clauses import sentences
from strata.consolidation.rules.lexicon import code
from strata.consolidation.rules.patterns import compiled
from strata.consolidation.texts import has_han, units

MAX_REPLY_CHARS = {True: 16, False: 60}
"""By Chinese or not: a longer reply says itself what it is about."""
MAX_CHOICE_CHARS = 24
MAX_PROPOSAL_CHARS = 140
_LETTER = re.compile(r"(?:选|plan |option |方案)?[a-d一二三1-4](?:吧|方案|please| please|那个)?")


def adopted(reply: str, proposed: str) -> str | None:
    """Return what was decided, in the language of the reply; None if the reply takes up no proposal."""
    proposal = _proposal(proposed, reply)
    chosen = bool(proposal) and _chooses(reply, proposal)
    if not proposal or not (chosen or _accepts(reply)):
        return None
    words = table("talk")["adoption"]
    form = words["answered"] if chosen or _names_something(reply) else words["adopted"]
    language = "zh" if has_han(proposal) else "en"
    text: str = form[language].format(proposal=proposal, reply=reply.strip(" \n.。!！"))
    return text


def _accepts(reply: str) -> bool:
    text = code(reply).text.strip()
    if len(reply.strip()) > MAX_REPLY_CHARS[has_han(reply)] or _pattern("refuse").search(text):
        return False
    return bool(_pattern("accept").search(text) and _pattern("decisive").search(text))


def _chooses(reply: str, proposal: str) -> bool:
    """Tell whether a reply is nothing but a piece of the question: *Aisle or window?* *Window.*"""
    folded = fold(reply).text.strip(" .,。!")
    if len(folded) > MAX_CHOICE_CHARS or _pattern("refuse").search(code(reply).text):
        return False
    named = units(folded)
    return (bool(named) and named <= units(proposal)) or bool(_LETTER.fullmatch(folded))


def _names_something(reply: str) -> bool:
    """A reply that chooses ("plan B", 选方案二) is quoted; a bare yes is not."""
    return bool(re.search(r"[a-c]\b|\d|[一二三]|方案|选|option|plan|one\b|it is", reply.lower()))


def _proposal(text: str, reply: str) -> str:
    """The sentence that proposes; of a list of options the one that the reply names, if it can be told."""
    coded = code(text)
    found = [
        coded.source(item.start, min(item.end + len(item.mark), len(coded.text))) for item in sentences(coded.text)
    ]
    proposing = [item for item in found if _pattern("proposal").search(code(item).text)]
    named = [item for item in proposing if units(reply) & units(item)]
    chosen = (named or proposing)[-1:] if not _lists_options(text) else [" ".join(proposing)]
    return chosen[0].strip()[:MAX_PROPOSAL_CHARS] if chosen else ""


def _lists_options(text: str) -> bool:
    return bool(re.search(r"方案一|方案二|选项|option 1|option a|\ba\b.{2,40}\bb\b", text.lower()))


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return compiled(table("talk")["adoption"][name], {})
