"""The closed tables of what excludes what, and the shape of a contradiction."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from strata.dedup.resources import load_toml


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Why two clauses contradict each other."""

    reason: str
    """``polarity``, ``value``, ``opposite``, ``slot``, ``update``."""
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Oppositions:
    """``data/oppositions.toml``, read."""

    exclusive: Mapping[str, frozenset[str]]
    """By concept those that cannot hold with it."""
    slots: Mapping[str, frozenset[str]]
    """Properties with one value at a time, and the families a value may be of; ``*`` = any."""
    topics: frozenset[str]
    """Properties worth comparing whatever their values share, ``slots`` included."""
    rivals: frozenset[str]
    """Families of which one holds the place: browsers, employers."""
    attitude: frozenset[str]
    ability: frozenset[str]
    of_food: frozenset[str]
    with_bare: frozenset[str]
    """Stances that a plain statement can deny or affirm."""
    limits: frozenset[str]
    harmless: frozenset[str]
    """Acts that come with what is denied: having, eating, keeping."""
    taking: frozenset[str]
    """Acts of which one may deny what another affirms: not eating, having ordered."""
    approaches: frozenset[str]
    """Acts that do not presuppose what they aim at: learning to swim is compatible with not swimming."""

    members: Mapping[str, frozenset[str]]
    """By kind of food or drink what belongs to it."""
    faint: frozenset[str]
    """Stances that say nothing without what they are about."""
    own_measures: frozenset[str]
    """Families of values that are somebody's without further words."""

    def exclude(self, one: str, other: str) -> bool:
        """Tell whether two concepts cannot hold of one thing."""
        return other in self.exclusive.get(one, _NOTHING)

    def excluded(self, concepts: frozenset[str]) -> frozenset[str]:
        """The concepts that cannot hold of a thing together with one of ``concepts``."""
        known = self.exclusive
        return _NOTHING.union(*(known[concept] for concept in concepts if concept in known))


_NOTHING: frozenset[str] = frozenset()


@lru_cache(maxsize=1)  # read-only tables
def oppositions() -> Oppositions:
    """The tables, read on first use."""
    data = load_toml("oppositions.toml")
    slots = {name: _names(families) for name, families in data["slots"].items()}
    stances, acts = data["stances"], data["acts"]
    return Oppositions(
        exclusive=_exclusive(data["exclusive"]["_"]),
        slots=slots,
        topics=_names(data["topics"]["_"]) | slots.keys(),
        rivals=_names(data["rivals"]["_"]),
        attitude=_names(stances["attitude"]),
        ability=_names(stances["ability"]),
        of_food=_names(stances["of_food"]),
        with_bare=_names(stances["with_bare"]),
        limits=_names(stances["limits"]),
        harmless=_names(acts["harmless"]),
        taking=_names(acts["taking"]),
        approaches=_names(acts["approaches"]),
        members={kind: _names(names) for kind, names in data["members"].items()},
        faint=_names(data["faint"]["_"]),
        own_measures=_names(data["faint"]["measures"]),
    )


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(","))


def _exclusive(text: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in text.split("\n"):
        words = frozenset(line.split())
        for word in words:
            found[word] = found.get(word, _NOTHING) | words - {word}
    return found
