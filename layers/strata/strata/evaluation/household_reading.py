"""What an agent understands of the context it was given: plain words in its lines, Chinese and English, nothing else.

It stands for the model that a real agent has. It sees the delivered block and the window, and never what was meant.
"""

import html
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from strata.client import ContextResult
from strata.evaluation.catalogue import Catalogue

ONE_SIDED = frozenset({"soft", "light"})
"""Tastes that nobody minds; to speak of them is to ask for them."""
DECIDED = "adopted_decision"
_LINE = re.compile(r"- \(([^,]+), ([^,]+), by [^)]*\) (.*)")
_AGE = re.compile(r"(\d+) (d|mo|y) ago")
_DAYS = {"d": 1, "mo": 30, "y": 365}
_CLAUSE = re.compile(r"[,，。;；!！?？:：]|\.\s")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_CONSTRAINTS = "Constraints"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One delivered line: of the memory block, or a message of the window."""

    text: str
    speaker: str = ""
    """``user`` or ``assistant`` where it is somebody's turn, empty for a fact."""
    memory_type: str = ""
    age_days: int = 0
    is_constraint: bool = False
    is_window: bool = False

    def says(self, cue: str) -> bool:
        """Tell whether it has one of the words of a cue in its language."""
        return _has(self.text, cue)


@dataclass(slots=True)
class Reading:
    """What is known now."""

    forbidden: set[str] = field(default_factory=set)
    wanted: set[str] = field(default_factory=set)
    unwanted: set[str] = field(default_factory=set)
    accepted: set[str] = field(default_factory=set)
    rejected: set[str] = field(default_factory=set)
    dish: str | None = None
    """The dish that is being spoken of."""
    less_soy: bool = False


def lines(loaded: ContextResult, asked: str) -> list[Line]:
    """Return what was delivered, the question itself aside."""
    window = [
        Line(text=message["content"], speaker=message["role"], is_window=True)
        for message in loaded.messages
        if message["role"] != "system" and isinstance(message["content"], str) and message["content"] != asked
    ]
    return [*_block(loaded.prompt), *window]


def read(found: Sequence[Line], foods: Catalogue) -> Reading:
    """Understand the lines. What an agent said is no fact about the household."""
    reading = Reading()
    for line in found:
        if line.speaker != "assistant" and not line.says("strangers"):
            _take_in(reading, line, foods)
    reading.wanted -= reading.unwanted
    reading.dish = _dish_spoken_of(found, reading, foods)
    return reading


def forbids(line: Line, foods: Catalogue) -> frozenset[str]:
    """Return the ingredients that a line forbids."""
    if _is_less_soy(line) or line.says("likes_anyway"):
        return frozenset()
    if line.is_constraint:
        return foods.foods_in(line.text)
    exact = [foods.foods_in(clause) for clause in _clauses(line, foods) if _has(clause, "forbids")]
    named = frozenset[str]().union(*exact)
    return named or (foods.foods_in(line.text) if line.says("forbids") else frozenset())


def tastes(line: Line) -> Mapping[str, bool]:
    """Return the tastes that a line wants (True) or does not (False)."""
    found: dict[str, bool] = {}
    for taste, words in _lexicon(line.text)["tastes"].items():
        about = [clause for clause in _CLAUSE.split(line.text) if any(word in clause.casefold() for word in words)]
        if about:
            wanted = _wants(taste, about, line)
            found |= {taste: wanted} if wanted is not None else {}
    return found


def is_about_soy(line: Line) -> bool:
    """Tell whether a line asks for less soy sauce."""
    return _is_less_soy(line)


def _take_in(reading: Reading, line: Line, foods: Catalogue) -> None:
    dishes = foods.dishes_in(line.text)
    if dishes and line.says("rejects"):
        reading.rejected.update(dishes)
    elif dishes and line.says("accepts"):
        reading.accepted.update(dishes)
    elif not dishes or line.is_constraint:
        reading.forbidden |= forbids(line, foods)
        for taste, wanted in tastes(line).items():
            (reading.wanted if wanted else reading.unwanted).add(taste)
    reading.less_soy |= _is_less_soy(line)


def _wants(taste: str, about: Sequence[str], line: Line) -> bool | None:
    if taste in ONE_SIDED or line.says("likes_anyway"):
        return True
    for place in (*about, line.text):
        if _has(place, "dislikes"):
            return False
        if _has(place, "likes"):
            return True
    return None


def _dish_spoken_of(found: Sequence[Line], reading: Reading, foods: Catalogue) -> str | None:
    """The dish last named in the window, or else the latest one decided on; None if that cannot be told."""
    spoken = [name for line in found if line.is_window for name in foods.dishes_in(line.text)[:1]]
    if spoken:
        return spoken[-1]
    named = [(line, names[0]) for line in found if (names := foods.dishes_in(line.text))]
    decided = [(line, name) for line, name in named if line.memory_type == DECIDED or line.says("decides")]
    fresh = [(line, name) for line, name in named if line.age_days == 0 and name not in reading.rejected]
    return _latest(decided) or _latest(fresh)


def _latest(named: Iterable[tuple[Line, str]]) -> str | None:
    named = list(named)
    if not named:
        return None
    youngest = min(line.age_days for line, _ in named)
    counted = Counter(name for line, name in named if line.age_days == youngest).most_common(2)
    is_clear = len(counted) == 1 or counted[0][1] > counted[1][1]
    return counted[0][0] if is_clear else None


def _is_less_soy(line: Line) -> bool:
    return line.says("soy") and line.says("less")


def _clauses(line: Line, foods: Catalogue) -> Iterator[str]:
    return (clause for clause in _CLAUSE.split(line.text) if foods.foods_in(clause))


def _block(prompt: str) -> Iterator[Line]:
    is_constraint = False
    for row in prompt.split("\n"):
        match = _LINE.fullmatch(row)
        if match is None:
            is_constraint = row.startswith(_CONSTRAINTS)
            continue
        memory_type, age, text = match.groups()
        speaker, _, rest = html.unescape(text).partition(": ")
        is_turn = speaker in {"user", "assistant"}
        yield Line(
            text=rest if is_turn else html.unescape(text),
            speaker=speaker if is_turn else "",
            memory_type=memory_type,
            age_days=_days(age),
            is_constraint=is_constraint,
        )


def _days(age: str) -> int:
    match = _AGE.fullmatch(age)
    return int(match[1]) * _DAYS[match[2]] if match else 0


def _has(text: str, cue: str) -> bool:
    low = text.casefold()
    return any(word in low for word in _lexicon(text)[cue])


def _lexicon(text: str) -> Mapping[str, Any]:
    return _lexicons()["zh" if _HAN.search(text) else "en"]


@cache
def _lexicons() -> Mapping[str, Mapping[str, Any]]:
    text = files("strata.evaluation").joinpath("data/household_reading.toml").read_text(encoding="utf-8")
    table: Mapping[str, Mapping[str, Any]] = tomllib.loads(text)
    return table
