"""How well a ranked list meets the evidence. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """One line of a prompt: what it costs, and the turns it stands for."""

    tokens: int
    turns: tuple[str, ...]


Ranked = Sequence[Unit]


@dataclass(frozen=True, slots=True)
class Score:
    """How much of the evidence is among some units."""

    recall: float
    """Share of the evidence that is there."""
    any: bool
    all: bool
    tokens: int
    """What those units cost."""


def at(ranked: Ranked, evidence: Sequence[str], k: int) -> Score:
    """Score the first k units."""
    return of(ranked[:k], evidence)


def within(ranked: Ranked, evidence: Sequence[str], budget: int) -> Score:
    """Score what fits into a budget of tokens: whole lines in order; one that does not fit is skipped."""
    return of(list(fitting(ranked, budget)), evidence)


def fitting(ranked: Ranked, budget: int) -> Iterator[Unit]:
    """Give the units that enter a budget, as the context load fills it."""
    left = budget
    for unit in ranked:
        if unit.tokens <= left:
            left -= unit.tokens
            yield unit


def of(units: Ranked, evidence: Sequence[str]) -> Score:
    """Score units."""
    there = {turn for unit in units for turn in unit.turns}
    met = sum(turn in there for turn in evidence)
    return Score(
        recall=met / len(evidence),
        any=met > 0,
        all=met == len(evidence),
        tokens=sum(unit.tokens for unit in units),
    )


def reciprocal(ranked: Ranked, evidence: Sequence[str]) -> float:
    """Return one over the rank of the first unit that holds evidence; 0 if none does."""
    wanted = set(evidence)
    return next((1 / rank for rank, unit in enumerate(ranked, start=1) if wanted & set(unit.turns)), 0.0)


def sessions_at(ranked: Ranked, evidence: Sequence[str], session_of: Mapping[str, str], k: int) -> Score:
    """Score the first k sessions, in the order in which the list meets them."""
    order = dict.fromkeys(session_of[turn] for unit in ranked for turn in unit.turns if turn in session_of)
    met = [Unit(0, (session,)) for session in list(order)[:k]]
    return of(met, sorted({session_of[turn] for turn in evidence}))
