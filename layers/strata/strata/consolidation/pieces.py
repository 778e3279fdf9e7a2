"""What the rules are given to read: of a long message one piece after another, of a long run of one sign its beginning.

The rules look far ahead and back, so what they take grows with the square of a text. In pieces it grows with the text,
and a pasted log, a row of dots or a page of blank lines cannot hold up what else was said.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from strata.consolidation.texts import spoken
from strata.model.messages import Message

LONGEST = 1_000
"""Characters of one piece."""
_RUN = re.compile(r"(.{1,4}?)\1{30,}", re.DOTALL)
_ENDS = re.compile(r"[。！？!?\n]|\.(?=\s)")


def readable(messages: Iterable[Message]) -> list[Message]:
    """Return messages that are read in a time that grows with their length; short ones as they are."""
    return [piece for message in messages for piece in _pieces(message)]


def _pieces(message: Message) -> Iterator[Message]:
    text = spoken(message)
    if len(text) <= LONGEST // 4:
        yield message
        return
    calm = _RUN.sub(r"\1\1\1", text)
    if calm == text and len(text) <= LONGEST:
        yield message
        return
    yield from (replace(message, content=piece) for piece in _cut(calm))


def _cut(text: str) -> Iterator[str]:
    """Yield a text in pieces that end where a sentence does, if one does in their second half."""
    start = 0
    while start < len(text):
        end = start + LONGEST
        if end < len(text):
            ends = [found.end() for found in _ENDS.finditer(text, start + LONGEST // 2, end)]
            end = ends[-1] if ends else end
        yield text[start:end]
        start = end
