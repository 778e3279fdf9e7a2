"""Proof that two clauses say the same, or that one says more."""

from collections.abc import Sequence

from strata.dedup.explanations import difference
from strata.dedup.oppositions import oppositions
from strata.dedup.tokens import Clause, Kind, Reading, Token

_FREE = frozenset(
    {
        "symptom",
        "condition",
        "vehicle",
        "device",
        "office_thing",
        "payment",
        "employer",
        "browser",
        "colour",
        "media",
        "nature",
        "place",
        "city",
        "room",
        "school",
        "trait",
        "style",
        "seat",
        "measure",
        "event",
        "language_name",
    }
)
"""Families that move about a sentence without changing roles, unless two of one family change places."""

_LIFELESS = _FREE | {
    "food",
    "drink",
    "body",
    "medicine",
    "device",
    "vehicle",
    "office_thing",
    "colour",
    "instrument",
    "media",
    "clothes",
    "nature",
    "sport",
}
"""Families whose members do nothing to anybody: they may stand before or behind a person."""

_SIDE_BY_SIDE = frozenset({"seat", "measure", "symptom", "condition"})

_ORDERED = frozenset({"FIRST", "AGAIN", "OTHER", "PREFER"})
"""What makes the order of all that is done and named part of what is said: *trains over planes*, 宁可走路也不坐车."""

_NUMBERS = frozenset({"count", "n"})
"""Families of bare numbers; which one a number gets depends on the word behind it."""


def same_frame(left: Clause, right: Clause) -> bool:
    """Tell whether two clauses are about the same people, with one sign and one mood."""
    return (
        left.people == right.people
        and left.negative == right.negative
        and left.doubled == right.doubled
        and left.moods == right.moods
    )


def same_clause(left: Clause, right: Clause) -> bool:
    """Tell whether two clauses are proven to say the same. Questions are not: what is asked is not in the words."""
    if not same_frame(left, right) or left.fixed != right.fixed or "QUESTION" in left.moods:
        return False
    return difference(left, right).is_empty and same_order(left, right)


def same_reading(left: Reading, right: Reading) -> bool:
    """Tell whether two texts are proven to say the same: clause by clause in any order, or as one clause each cut
    differently.
    """
    if not left.clauses or not right.clauses or left.fixed != right.fixed:
        return False
    if len(left.clauses) == len(right.clauses):
        return _paired(left.clauses, right.clauses)
    return False


def _paired(left: Sequence[Clause], right: Sequence[Clause]) -> bool:
    """Tell whether every clause has a counterpart of its own."""
    free = list(right)
    for clause in left:
        match = next((other for other in free if same_clause(clause, other)), None)
        if match is None:
            return False
        free.remove(match)
    return True


def extends(less: Reading, more: Reading) -> bool:
    """Tell whether ``more`` repeats every clause of ``less`` and adds to it."""
    if not less.clauses or len(less.clauses) > len(more.clauses) or not less.fixed <= more.fixed:
        return False
    free = list(more.clauses)
    for clause in less.clauses:
        match = next((other for other in free if says_more(clause, other)), None)
        if match is None:
            return False
        free.remove(match)
    return True


def says_more(less: Clause, more: Clause) -> bool:
    """Tell whether ``more`` is ``less`` with words added, or the same; a word that limits or weakens adds nothing."""
    if (less.negative, less.doubled, less.moods) != (more.negative, more.doubled, more.moods):
        return False
    if not less.fixed <= more.fixed:
        return False
    if not less.people <= more.people or not _is_repeated(less, more):
        return False
    rest = difference(less, more)
    return not rest.left and not rest.right & (more.stances | more.limits) and same_order(less, more)


def _is_repeated(less: Clause, more: Clause) -> bool:
    """Tell whether most of ``less`` stands in ``more`` word for word; explanations alone repeat nothing."""
    if less.content:
        return len(less.content & more.content) * 2 > len(less.content)
    return bool(less.stances - oppositions().faint) and less.items <= more.items


def adds_only_a_list(less: Clause, more: Clause) -> bool:
    """Tell whether what ``more`` adds stands in a list with what both have: 香菜 → 香菜和葱 entails 香菜."""
    added = difference(less, more).right
    return (
        less.people == more.people
        and added <= more.listed
        and bool((more.listed - added) & less.items | (less.items if not added else frozenset()))
    )


def same_order(left: Clause, right: Clause) -> bool:
    """Tell whether who and what stand in one order wherever that can decide who does what to whom."""
    if len(left.tokens) < 2 or len(right.tokens) < 2:  # noqa: PLR2004 (one word has no order)
        return True
    if not _same_sequences(left, right):
        return False
    ours, theirs = _players(left), _players(right)
    shared = {token.concept for token in ours} & {token.concept for token in theirs}
    if len(shared) < 2:  # noqa: PLR2004
        return True
    places = {token.concept: place for place, token in reversed(list(enumerate(theirs)))}
    line = list({token.concept: token for token in ours if token.concept in shared}.values())
    return not any(
        places[one.concept] > places[other.concept] and _matters(one, other, left, right)
        for index, one in enumerate(line)
        for other in line[index + 1 :]
    )


def _same_sequences(left: Clause, right: Clause) -> bool:
    """Tell whether values of one kind come in one order (from 9 to 6), lists apart."""
    if len(left.values) < 2:  # noqa: PLR2004 (one value has no order)
        return True
    ours, theirs = _sequences(left, right), _sequences(right, left)
    return all(ours[family] == theirs.get(family, ours[family]) for family in ours)


def _sequences(clause: Clause, other: Clause) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    amounts = {_amount(token) for token in other.tokens if token.kind is Kind.VALUE}
    for token in clause.tokens:
        if token.kind is Kind.VALUE and _amount(token) in amounts and token.concept not in clause.listed:
            found.setdefault("n" if token.family in _NUMBERS else token.family, []).append(_amount(token))
    return found


def _amount(token: Token) -> str:
    return token.concept.partition("=")[2] if token.family in _NUMBERS else token.concept


def _players(clause: Clause) -> list[Token]:
    """The tokens whose order may matter: things and people, with a direction or a sequence everything done too."""
    directed = any(token.kind is Kind.DIRECTION or token.concept in _ORDERED for token in clause.tokens)
    kinds = {Kind.THING, Kind.PERSON, Kind.DIRECTION, Kind.ACT} if directed else {Kind.THING, Kind.PERSON}
    return [token for token in clause.tokens if token.kind in kinds]


def _matters(one: Token, other: Token, left: Clause, right: Clause) -> bool:
    """Tell whether these two changing places may change what is said."""
    if _is_licensed({one.concept, other.concept}, left, right):
        return False
    if Kind.DIRECTION in {one.kind, other.kind} or _weighs(left):
        return True
    families = {one.family, other.family}
    if Kind.PERSON in {one.kind, other.kind}:
        return not families & _LIFELESS
    if families <= _SIDE_BY_SIDE:
        return False
    return len(families) == 1 or not families & _FREE


def _weighs(clause: Clause) -> bool:
    """Tell whether one thing is put above another: *trains over planes*, 宁可走路也不坐车."""
    return "PREFER" in clause.stances and (
        clause.negative or any(token.concept == "AT_LEAST" for token in clause.tokens)
    )


_MEALS = frozenset({"breakfast", "lunch", "dinner"})
"""Say when something is eaten, wherever they stand."""


def _is_licensed(pair: set[str], left: Clause, right: Clause) -> bool:
    """Members of a list, the two sides of *is*, or *a blue bag* and *the bag is blue*."""
    if (pair <= left.listed and pair <= right.listed) or pair & _MEALS:
        return True
    if left.equates and right.equates:
        return True
    return (left.equates and _adjoin(pair, right)) or (right.equates and _adjoin(pair, left))


def _adjoin(pair: set[str], clause: Clause) -> bool:
    """Tell whether the two stand side by side, and are not both people."""
    return any(
        {one.concept, other.concept} == pair and not one.kind is other.kind is Kind.PERSON
        for one, other in zip(clause.tokens, clause.tokens[1:], strict=False)
    )
