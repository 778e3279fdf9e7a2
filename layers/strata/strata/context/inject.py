"""Filling the injection budget: whole lines only, constraints first, then lanes with their shares.

Header, separators and the wrapper count like everything else. User and shared memories together get up to their share;
what they leave goes to the agent's memories. What does not fit is skipped and reported; smaller ones behind it may
enter. While a constraint waits outside, nothing else enters. A share never leaves the block empty: where it would, the
first memory that fits the whole budget is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from strata.config import Context
from strata.context import render
from strata.context.choice import Choice, Chosen
from strata.model.context import ContextMemory, Dropped, Lane
from strata.tokens.counter import MESSAGE_TOKENS, TokenCounter

PERSONAL = (Lane.USER, Lane.SHARED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """The block and what is in it."""

    prompt: str
    tokens: int
    """Of the block as a message; 0 if there is none."""
    memories: tuple[ContextMemory, ...]
    dropped: tuple[Dropped, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    memory: ContextMemory
    text: str


class Inject:
    """Makes the block."""

    def __init__(self, counter: TokenCounter, settings: Context) -> None:
        self._counter = counter
        self._settings = settings
        self._frame = 0

    def __call__(self, choice: Choice, budget: int, now: datetime) -> Injection:
        """Return the block within ``budget`` tokens; with a budget of 0 it is empty."""
        lines = [self._line(one, now) for one in choice.chosen]
        entered = self._filled(lines, budget - self._frame_tokens())
        lanes = [(lane, [line.text for line in entered if line.memory.lane is lane]) for lane in Lane]
        kept = {id(line) for line in entered}
        skipped = [line.memory.hit.memory.memory_id for line in lines if id(line) not in kept]
        return Injection(
            prompt=render.block(lanes),
            tokens=self._frame_tokens() + self._cost(entered) if entered else 0,
            memories=tuple(line.memory for lane in Lane for line in entered if line.memory.lane is lane),
            dropped=(*choice.dropped, *(Dropped(memory_id=one, reason="over_budget") for one in skipped)),
        )

    def _filled(self, lines: Sequence[_Line], room: int) -> list[_Line]:
        constraints = [line for line in lines if line.memory.lane is Lane.CONSTRAINT]
        entered = self._enter([], constraints, room)
        if len(entered) < len(constraints):
            return entered
        left = room - self._cost(entered)
        personal = [line for line in lines if line.memory.lane in PERSONAL]
        entered += self._enter([], personal, int(left * self._settings.user_share))
        own = [line for line in lines if line.memory.lane is Lane.AGENT]
        entered = self._enter(entered, own, room)
        return entered or self._enter([], personal, room)[:1]

    def _enter(self, inside: Sequence[_Line], waiting: Sequence[_Line], room: int) -> list[_Line]:
        entered = list(inside)
        for line in waiting:
            if self._cost([*entered, line]) <= room:
                entered.append(line)
        return entered

    def _cost(self, lines: Sequence[_Line]) -> int:
        lanes = {line.memory.lane for line in lines}
        return sum(line.memory.tokens for line in lines) + sum(self._header_tokens(lane) for lane in lanes)

    def _line(self, one: Chosen, now: datetime) -> _Line:
        text = render.line(one.hit.memory, one.text, now)
        tokens = self._counter.count(text)
        return _Line(memory=ContextMemory(hit=one.hit, lane=one.lane, text=one.text, tokens=tokens), text=text)

    def _header_tokens(self, lane: Lane) -> int:
        return self._counter.count(render.HEADERS[lane])

    def _frame_tokens(self) -> int:
        """The wrapper and what a chat format adds to a message; counted once."""
        if not self._frame:
            self._frame = MESSAGE_TOKENS + self._counter.count(render.OPENING) + self._counter.count(render.CLOSING)
        return self._frame
