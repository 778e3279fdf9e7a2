"""Whether who and what stand in one order wherever that can decide who does what to whom, and when."""

from collections import Counter

from strata.dedup.tokens import Clause, Kind, Token

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


def same_order(left: Clause, right: Clause) -> bool:
    """Tell whether who and what stand in one order wherever that can decide who does what to whom."""
    if len(left.tokens) < 2 or len(right.tokens) < 2:  # noqa: PLR2004 (one word has no order)
        return True
    if not _same_sequences(left, right) or not _same_shares(left, right):
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


def _same_shares(left: Clause, right: Clause) -> bool:
    """Tell whether what is shared out among times and meals goes to the same: swims on Monday and runs on Tuesday."""
    ours = _shares(left) if len(left.tokens) > _FEWEST_SHARED else []
    if not ours:
        return True
    shared = {token.concept for token in ours} & right.items
    return [each.concept for each in ours if each.concept in shared] == [
        each.concept for each in right.tokens if each.concept in shared
    ]


_FEWEST_SHARED = 3
"""Two times and two things take four words."""


def _shares(clause: Clause) -> list[Token]:
    """Times or meals and what is done, where a clause has several of both; else nothing."""
    told = {token.concept: _when(token) for token in clause.tokens if _when(token)}
    whens = told.keys()
    if max(Counter(told[each] for each in whens - clause.listed).values(), default=0) < 2:  # noqa: PLR2004 (of everything)
        return []
    whats = {token.concept for token in clause.tokens if token.kind in _WHATS} - whens
    if len(whats) < 2:  # noqa: PLR2004
        return []
    return [token for token in clause.tokens if token.concept in whens or token.kind in _WHATS]


def _when(token: Token) -> str:
    """What kind of time a token tells; empty = none."""
    return "meal" if token.concept in _MEALS else token.family if token.family in _WHENS else ""


_WHENS = frozenset({"weekday", "daypart", "date", "month", "clock"})
_WHATS = frozenset({Kind.ACT, Kind.THING})


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
    if pair <= left.listed and pair <= right.listed:
        return True
    if pair & _MEALS and len(left.items & _MEALS) == 1:
        return True
    if "NAME" in left.items and "NAME" in right.items and _is_naming(pair, left):
        return True
    if left.equates and right.equates:
        return not _are_related(pair, left) or _has_one_owner(pair, left, right)
    if any(concept.startswith("THAN:") for concept in pair):  # bound: it says itself what it weighs
        return True
    return (left.equates and _adjoin(pair, right)) or (right.equates and _adjoin(pair, left))


def _are_related(pair: set[str], clause: Clause) -> bool:
    """Tell whether both are people and something else is said: 小张是老李的徒弟 is not the other way round."""
    people = {token.concept for token in clause.tokens if token.kind is Kind.PERSON}
    return pair <= people and len(clause.tokens) > len(pair)


def _has_one_owner(pair: set[str], left: Clause, right: Clause) -> bool:
    """Tell whether what one of the two has is the same one's on both sides: *Lee's boss is Kim*, turned round."""
    ours, theirs = _owners(left), _owners(right)
    return any(owner in pair and theirs.get(owned) == owner for owned, owner in ours.items())


def _owners(clause: Clause) -> dict[str, str]:
    return {
        owned.concept: owner.concept
        for owner, owned in zip(clause.tokens, clause.tokens[1:], strict=False)
        if owner.kind is Kind.PERSON and owned.kind is not Kind.PERSON
    }


def _is_naming(pair: set[str], clause: Clause) -> bool:
    """Tell whether one is a name no table knows and the other what bears it: *Mimi is the cat's name*."""
    families = [token.family for token in clause.tokens if token.concept in pair]
    return len(families) == len(pair) and families.count("?") == 1


def _adjoin(pair: set[str], clause: Clause) -> bool:
    """Tell whether the two stand side by side, and are not both people."""
    return any(
        {one.concept, other.concept} == pair and not one.kind is other.kind is Kind.PERSON
        for one, other in zip(clause.tokens, clause.tokens[1:], strict=False)
    )
