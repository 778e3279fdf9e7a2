"""A denial against an affirmation."""

from strata.dedup.explanations import Difference, difference
from strata.dedup.oppositions import Clash, oppositions
from strata.dedup.tokens import Clause, Kind, worded

_FOODS = frozenset({"food", "drink", "consume"})
_HOW = frozenset({"symptom", "body"})
_MOST_ADDED = 4
_HARDLY = frozenset({"ALMOST"})
"""几乎不 denies all the same."""


_AMPLY = frozenset({"MUCH"})
"""Who does something a lot is contradicted by *never* as well."""
_ALL_THE_TIME = frozenset({"DAILY", "EVERY"})


_ILL = frozenset({"ILL", "INJURE"})
_WELL = frozenset({"FINE", "GOOD"})
"""Who is ill is not well: these affirm what the denial says."""


def opposed_signs(no: Clause, yes: Clause) -> Clash | None:
    """A denial contradicts an affirmation of the same or of something narrower; not of something wider."""
    if not _about_the_same(no, yes) or (no.limits - _HARDLY | yes.limits - _AMPLY) & oppositions().limits:
        return None
    if yes.items & _ILL and no.stances & _WELL:
        return None
    if not _comparable(no, yes) or not _same_doing(no, yes) or not _covers(no, yes, difference(no, yes)):
        return None
    return Clash(reason="polarity", evidence=worded(no, yes))


def _about_the_same(no: Clause, yes: Clause) -> bool:
    if no.content or yes.content:
        return bool(no.content & yes.content)
    return bool((no.stances & yes.stances) - oppositions().faint or no.people - {"USER"} or no.values & yes.values)


def _covers(no: Clause, yes: Clause, rest: Difference) -> bool:
    """Tell whether nothing narrows the denial (symptoms and organs only say how), and nothing in front of the
    affirmation makes it about something else.
    """
    harmless = {token.concept for token in no.tokens if token.family in _HOW} | oppositions().harmless | _ALL_THE_TIME
    if rest.left - no.stances - harmless - _kinds_of(no, yes):
        return False
    added = rest.right - yes.stances
    traits = {token.concept for token in yes.tokens if token.family == "trait"}
    return not (added - traits) & yes.head and len(added) <= _MOST_ADDED


def _kinds_of(no: Clause, yes: Clause) -> frozenset[str]:
    """Kinds that what is affirmed belongs to: who drinks no alcohol drinks no beer; who dislikes fish may like tuna."""
    tables = oppositions()
    if no.stances & tables.attitude:
        return frozenset()
    return frozenset(kind for kind in no.content if not tables.members.get(kind, frozenset()).isdisjoint(yes.items))


def _same_doing(no: Clause, yes: Clause) -> bool:
    """Tell whether what is denied is what is affirmed to be done: 不喝酒 does not deny 卖酒, 不会游泳 not 学游泳."""
    tables = oppositions()
    denied, done = _acts(no), _acts(yes)
    if (done - denied) & tables.approaches:
        return False
    if denied == {"AVOID"}:
        return True
    if denied and done and not denied & done:
        return denied | done <= tables.taking
    return denied <= done or done - denied <= tables.harmless


def _acts(clause: Clause) -> frozenset[str]:
    return frozenset(token.concept for token in clause.tokens if token.kind is Kind.ACT)


def _comparable(no: Clause, yes: Clause) -> bool:
    """Tell whether the two stances speak of one another: hating meetings does not deny having one."""
    tables = oppositions()
    if no.stances & yes.stances:
        return True
    if not no.stances:
        return yes.stances <= tables.with_bare
    if not yes.stances:
        return no.stances <= (tables.with_bare - tables.attitude) | _DENY_DEEDS
    families = {token.family for token in (*no.tokens, *yes.tokens)}
    return any(_related(one, other, is_food=bool(families & _FOODS)) for one in no.stances for other in yes.stances)


_DISLIKED = frozenset({"LIKE", "WANT", "WISH", "ACCEPT"})
"""What is disliked or not wanted is not fine."""
_DENY_DEEDS = frozenset({"WILL", "ACCEPT", "AGREE", "WANT", "ACCUSTOMED"})
"""Attitudes whose denial denies what is plainly done."""


def _related(no: str, yes: str, *, is_food: bool) -> bool:
    """Stances of one kind; and of food, taste and permission: who likes what he cannot eat contradicts himself."""
    tables = oppositions()
    if is_food and {no, yes} & tables.of_food and {no, yes} & (tables.attitude - {"WISH"}):
        return True
    if yes == "FINE" and no in _DISLIKED:
        return True
    kinds = (
        tables.ability,
        tables.attitude,
        frozenset({"NEED", "WANT", "WISH"}),
        frozenset({"HAVE", "WANT"}),
        frozenset({"HAVE", "ALIVE"}),
    )
    return any({no, yes} <= kind for kind in kinds)
