"""What is counted of an evening, and when a fact counts as delivered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from strata.evaluation.catalogue import Catalogue
from strata.evaluation.household_people import Fact, Kind
from strata.evaluation.household_reading import Line, forbids, tastes

TURNS = ("dinner", "less_soy", "shopping", "stewing", "next_day")


@dataclass(slots=True)
class Score:
    """What is counted; a JSON object once ``document`` is called."""

    needed: list[tuple[str, str, bool]] = field(default_factory=list)
    """(turn, kind of fact, whether it was in the context)."""
    missed: list[tuple[str, str, str]] = field(default_factory=list)
    hits: list[tuple[str, bool]] = field(default_factory=list)
    """(turn, whether the answer is what the household prefers)."""
    picks: list[tuple[str, str, list[str]]] = field(default_factory=list)
    """(turn, dish, what in it somebody must not or will not eat)."""
    right_dish: list[tuple[str, bool]] = field(default_factory=list)
    follow_ups: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TURNS, 0))
    load_ms: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    degraded: int = 0
    judge: str = ""

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    def enter(self, turn: str, kind: str, text: str, *, is_there: bool) -> None:
        """Count a fact that a turn needs."""
        self.needed.append((turn, kind, is_there))
        if not is_there:
            self.missed.append((turn, kind, text))


def is_there(fact: Fact, found: Sequence[Line], foods: Catalogue) -> bool:
    """Tell whether the very words were delivered, or a line that says the same of the same thing."""
    if any(fact.text in line.text for line in found):
        return True
    told = [line for line in found if line.speaker != "assistant"]
    if fact.kind in {Kind.ALLERGY, Kind.TABOO}:
        members = foods.ingredients[fact.key].members
        return any(members <= forbids(line, foods) for line in told)
    if fact.kind is Kind.TASTE:
        taste, wanted = fact.key.removeprefix("not_"), not fact.key.startswith("not_")
        return any(tastes(line).get(taste) is wanted for line in told)
    cue = "accepts" if fact.kind is Kind.ACCEPTED else "rejects"
    return any(fact.key in foods.dishes_in(line.text) and line.says(cue) for line in told)


def is_decided(dish: str, found: Sequence[Line], foods: Catalogue) -> bool:
    """Tell whether a dish was delivered as something of today."""
    return any(line.age_days == 0 and dish in foods.dishes_in(line.text) for line in found)
