"""What is left of a difference once the closed tables have explained what they can."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from strata.dedup.resources import load_toml
from strata.dedup.tokens import Clause

Conditions = tuple[frozenset[str], ...]
"""Alternatives, each of which asks for all of its members in what both clauses share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Concepts that stand on one side and that nothing explains."""

    left: frozenset[str]
    right: frozenset[str]

    @property
    def is_empty(self) -> bool:
        """Tell whether both sides are fully explained."""
        return not self.left and not self.right


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    implied: Mapping[str, Conditions]
    twins: Mapping[str, Mapping[str, Conditions]]
    compounds: Mapping[str, Conditions]
    taboo: frozenset[str]
    of_consumption: frozenset[str]


@lru_cache(maxsize=1)  # read-only tables
def _tables() -> _Tables:
    data = load_toml("explanations.toml")
    substitutes = data["substitutes"]
    return _Tables(
        implied={concept: _conditions(text) for concept, text in data["implied"].items()},
        twins=_twins(data["twins"]),
        compounds={concept: _compounds(text) for concept, text in data["compounds"].items()},
        taboo=frozenset(_names(substitutes["taboo"])),
        of_consumption=frozenset(_names(substitutes["of_consumption"])),
    )


def _twins(table: Mapping[str, str]) -> dict[str, dict[str, Conditions]]:
    found: dict[str, dict[str, Conditions]] = {}
    for pair, text in table.items():
        one, other = pair.split()
        found.setdefault(one, {})[other] = found.setdefault(other, {})[one] = _conditions(text)
    return found


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _conditions(text: str) -> Conditions:
    return tuple(frozenset(part.strip() for part in name.split("&")) for name in _names(text))


def _compounds(text: str) -> Conditions:
    return tuple(sorted((frozenset(names.split()) for names in _names(text)), key=len, reverse=True))


@lru_cache(maxsize=1)  # read-only tables
def _explainable() -> frozenset[str]:
    tables = _tables()
    parts = (names for alternatives in tables.compounds.values() for names in alternatives)
    return frozenset().union(tables.implied, tables.twins, tables.compounds, tables.taboo, *parts)


def fixed(items: frozenset[str]) -> frozenset[str]:
    """Those of ``items`` that no table can explain, whatever stands on the other side; amounts may always be."""
    return frozenset(concept for concept in items - _explainable() if "@" not in concept)


def difference(left: Clause, right: Clause) -> Difference:
    """The unexplained concepts of two clauses, people apart; symmetric."""
    return _difference(left.items, left.context, right.items, right.context)


@lru_cache(maxsize=4_096)  # a pair is asked whether it says the same, and then whether it contradicts
def _difference(
    left: frozenset[str], left_context: frozenset[str], right: frozenset[str], right_context: frozenset[str]
) -> Difference:
    only_left, only_right = set(left - right), set(right - left)
    if not only_left and not only_right:
        return _NONE
    if len(only_left) == len(only_right) == 1 and _are_other_amounts(*only_left, *only_right):
        return Difference(left=frozenset(only_left), right=frozenset(only_right))
    if only_left and only_right and min(only_left) > min(only_right):  # found one by one: always from the same side
        turned = _explained(only_right, only_left, right_context, left_context, left | right)
        return Difference(left=turned.right, right=turned.left)
    return _explained(only_left, only_right, left_context, right_context, left | right)


def _are_other_amounts(one: str, other: str) -> bool:
    """Tell whether two concepts are amounts in one unit, of which no table knows either: nothing explains them."""
    if one[0] != "@" or one.partition("=")[0] != other.partition("=")[0]:
        return False
    return one not in _explainable() and other not in _explainable()


def _explained(
    only_left: set[str],
    only_right: set[str],
    left_context: frozenset[str],
    right_context: frozenset[str],
    said: frozenset[str],
) -> Difference:
    shared = left_context & right_context
    _drop_compounds(only_left, only_right, shared)
    _drop_compounds(only_right, only_left, shared)
    if only_left and only_right:
        _drop_twins(only_left, only_right, shared | (left_context | right_context) & _MARKS)
    _drop_open_hours(only_left, only_right)
    _drop_open_hours(only_right, only_left)
    only_left = _unexplained(only_left, shared | right_context & _MARKS)
    only_right = _unexplained(only_right, shared | left_context & _MARKS)
    if "-" in shared and _is_one_taboo(only_left, only_right, said):
        only_left, only_right = set(), set()
    return Difference(left=frozenset(only_left), right=frozenset(only_right))


_NONE = Difference(left=frozenset(), right=frozenset())
_MARKS = frozenset({"~bare", "~order", "~habit"})
"""What one side alone may say of itself to explain a word of the other."""


def _drop_open_hours(open_side: set[str], other: set[str]) -> None:
    """An hour that may be of the morning or the evening says less than one that is certain, and nothing else."""
    for hour in [concept for concept in open_side if "@clock12=" in concept]:
        minutes = float(hour.partition("=")[2])
        if any("@clock=" in concept and (float(concept.partition("=")[2]) - minutes) % 720 == 0 for concept in other):
            open_side.discard(hour)


def _unexplained(concepts: set[str], known: frozenset[str]) -> set[str]:
    implied = _tables().implied
    return {concept for concept in concepts if concept not in implied or not _holds(implied[concept], known)}


def _drop_compounds(whole: set[str], parts: set[str], shared: frozenset[str]) -> None:
    """One word here for several there: a shoe size is the size of the shoes one wears."""
    for concept in sorted(whole):
        for names in _tables().compounds.get(concept, ()):
            if names <= parts | shared and names & parts:
                whole.discard(concept)
                parts -= names


def _holds(conditions: Conditions, known: frozenset[str]) -> bool:
    return any(condition <= known for condition in conditions)


def _drop_twins(left: set[str], right: set[str], shared: frozenset[str]) -> None:
    """Take out pairs that say the same: a synonym here, a bare number there."""
    for one in sorted(left):
        partners = _tables().twins.get(one, {})
        twin = next((other for other in sorted(right) if _are_twins(one, other, partners, shared)), None)
        if twin is not None:
            left.discard(one)
            right.discard(twin)


def _are_twins(one: str, other: str, partners: Mapping[str, Conditions], shared: frozenset[str]) -> bool:
    if other in partners:
        return _holds(partners[other], shared)
    if not shared.isdisjoint(_SESSIONS) and {one.partition("=")[0], other.partition("=")[0]} == {"@times", "@count"}:
        return one.partition("=")[2] == other.partition("=")[2]
    return one[0] == other[0] == "@" and (_is_bare_of(one, other) or _is_bare_of(other, one))


_SESSIONS = frozenset({"CLASS", "WALK", "MEETING", "WALK_DOG", "FEED", "FILM", "MOVIE_GOING"})
"""What is had as often as there are of it: two lessons a week, a lesson twice a week."""
_TYPED = frozenset(
    {
        "@age",
        "@count",
        "@temperature",
        "@dose",
        "@floor",
        "@grade",
        "@yuan",
        "@usd",
        "@people",
        "@cups",
        "@size",
        "@monthday",
        "@ordinal",
        "@spaces",
        "@pages",
        "@digits",
    }
)


def _is_bare_of(bare: str, typed: str) -> bool:
    """*is 6* and *is 6 years old*; *two pills* and 2片."""
    family, _, amount = typed.partition("=")
    return bare in {f"@n={amount}", f"@count={amount}", f"@ordinal={amount}"} and family in _TYPED and bare != typed


_COOKED_OR_EATEN = frozenset({"COOK", "EAT"})
_TURNED_DOWN = frozenset({"ADD", "WANT", "AVOID", "MAY", "CAN", "HAVE"})
"""Who does not cook something may eat it; who wants none in the dishes does not."""


def _is_one_taboo(left: set[str], right: set[str], said: frozenset[str]) -> bool:
    """Two ways of saying that somebody does not take something."""
    tables = _tables()
    words = left | right
    if "AVOID" in said:
        words = words - {"NEED"}  # must avoid
    if not words <= tables.taboo or {"EAT", "DRINK"} <= words:
        return False
    if said >= _COOKED_OR_EATEN and not said & _TURNED_DOWN:
        return False
    return not tables.of_consumption.isdisjoint(said)
