"""Which messages a client sent again, told by their digests alone.

A client without message ids sends what it has once more: the whole transcript, its last part, or a page of it. A
person says a sentence once more because they changed their mind back: 喜欢辣 · 不喜欢辣 · 喜欢辣. The digest is the
same in both cases; the company it comes in is not. A re-sent block continues up to where the transcript ended, or it
is long. A sentence that comes back after something else was said, without what followed it then, is said anew.
"""

from collections import defaultdict
from collections.abc import Sequence

PAGE = 4
"""Messages in a row that make a block a re-sent page wherever it stood."""
TAIL = 2
"""Messages in a row that make a block behind something new a re-sent end of the transcript."""
PLACES = 64
"""Latest places of one digest that are looked at, so that a thousand times "ok" costs nothing."""


def resent(history: Sequence[str], fresh: Sequence[str]) -> list[int | None]:
    """Return for each new digest the position in ``history`` that it repeats, or None if it is new.

    ``history`` holds the digests of the same session that were processed recently enough, oldest first.
    """
    places: defaultdict[str, list[int]] = defaultdict(list)
    for position, digest in enumerate(history):
        places[digest].append(position)
    found: list[int | None] = []
    while len(found) < len(fresh):
        start = len(found)
        begin, length = _longest(history, fresh, start, places[fresh[start]][-PLACES:])
        found.extend(range(begin, begin + length) if length else [None])
    return found


def _longest(history: Sequence[str], fresh: Sequence[str], start: int, begins: Sequence[int]) -> tuple[int, int]:
    """The longest re-sent block that begins at ``start``: its position in ``history`` and its length."""
    blocks = ((begin, _shared(history, fresh, begin, start)) for begin in begins)
    proven = [block for block in blocks if _is_resent(*block, start=start, end=len(history))]
    return max(proven, key=lambda block: block[1], default=(0, 0))


def _shared(history: Sequence[str], fresh: Sequence[str], begin: int, start: int) -> int:
    length = 0
    while begin + length < len(history) and start + length < len(fresh):
        if history[begin + length] != fresh[start + length]:
            break
        length += 1
    return length


def _is_resent(begin: int, length: int, *, start: int, end: int) -> bool:
    reaches_the_end = begin + length == end and (start == 0 or length >= TAIL)
    return reaches_the_end or length >= PAGE
