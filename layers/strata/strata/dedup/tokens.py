"""What a memory says, in parts that can be compared: tokens in clauses in a reading."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a token does in its clause."""

    __hash__ = str.__hash__  # hashed for every token of every text; an enumeration's own hash is Python code

    DROP = "drop"
    """Says nothing a comparison needs."""
    NOT = "not"
    STANCE = "stance"
    """How somebody stands to something: liking, permission, need, tolerance."""
    MOOD = "mood"
    """Question, plan, hearsay, condition: not asserted as a fact of now."""
    CHANGE = "change"
    LINK = "link"
    """Begins another clause."""
    DEGREE = "degree"
    DIRECTION = "direction"
    """Makes the order of what stands around it matter."""
    PERSON = "person"
    TIME = "time"
    VALUE = "value"
    ACT = "act"
    THING = "thing"


@dataclass(frozen=True, slots=True)
class Token:
    """One concept. ``family`` names its kind of thing (``food``, ``clock``); ``?`` is a word no table knows.

    Not keyword-only: thousands are made per text compared.
    """

    concept: str
    kind: Kind
    family: str = ""
    surface: str = ""
    """The words it was read from, for evidence."""

    def __hash__(self) -> int:
        """By what tells tokens apart: clauses are looked up by theirs."""
        return hash((self.concept, self.surface))


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One statement."""

    tokens: tuple[Token, ...]
    """Everything that has content, in the order it was said."""
    items: frozenset[str]
    """The concepts of ``tokens``."""
    fixed: frozenset[str]
    """The ``items`` that no table explains: what is fixed on one side alone makes a difference."""
    matter: frozenset[str]
    """What is ``fixed``, amounts and degrees apart: has to stand on both sides for two amounts to be of one thing."""
    context: frozenset[str]
    """``items``, their families as ``#food`` and kinds as ``@act``: what may explain an odd word."""
    content: frozenset[str]
    """The concepts that say what it is about: things, acts, people unknown by name."""
    values: frozenset[str]
    """Numbers, dates, clock times, parts of the day."""
    stances: frozenset[str]
    limits: frozenset[str]
    """Words of degree and restriction: only, sometimes, except."""
    head: frozenset[str]
    """Content in front of the first predicate: what the clause speaks of."""
    listed: frozenset[str]
    """Concepts that stand in a list (香菜和葱), where order says nothing."""
    equates: bool
    """Says that one is the other, and nothing done: *blue is her favourite* is *her favourite is blue*."""
    people: frozenset[str]
    """Who it is about; empty = the user."""
    negative: bool
    doubled: bool
    """Two negations that cancel: not the same as none."""
    moods: frozenset[str]
    change: str
    """``SWITCH``, ``NOW`` or empty."""
    excluded: frozenset[str]
    """Concepts that cannot hold together with one of ``items``."""
    slots: frozenset[str]
    """The ``items`` that have one value at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text as its clauses; what stands beside them is of all clauses together, for quick comparison."""

    text: str
    """The normalised text."""
    clauses: tuple[Clause, ...]
    fixed: frozenset[str]
    denied: frozenset[str]
    """The ``content`` of the negative clauses."""
    stated: frozenset[str]
    """The ``content`` of the others."""
    excluded: frozenset[str]
    exclusive: frozenset[str]
    """The ``items`` that exclude any."""
    slots: frozenset[str]
    is_bare: bool
    """Whether a clause is without ``content``."""
    has_values: bool
    equates: bool
    turns: bool
    """Whether a clause speaks of a change, or of being alone: these deny something of other people, too."""


def worded(*clauses: Clause) -> tuple[str, ...]:
    """The words each clause was read from, for evidence."""
    return tuple(" ".join(token.surface for token in clause.tokens) for clause in clauses)
