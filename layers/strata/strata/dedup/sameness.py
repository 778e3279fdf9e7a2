"""Proof that two clauses say the same, or that one says more."""

from collections.abc import Sequence

from strata.dedup.explanations import difference
from strata.dedup.mood import DID
from strata.dedup.oppositions import oppositions
from strata.dedup.order import same_order
from strata.dedup.tokens import Clause, Reading


def same_frame(left: Clause, right: Clause) -> bool:
    """Tell whether two clauses are about the same people, with one sign and one mood."""
    return (
        left.people == right.people
        and left.negative == right.negative
        and left.doubled == right.doubled
        and (left.moods == right.moods or _differ_by_a_deed(left, right))
    )


def _differ_by_a_deed(left: Clause, right: Clause) -> bool:
    """Tell whether only one says that it was done, and the other does not order it."""
    if left.moods ^ right.moods != {DID}:
        return False
    return not (_is_ordered(left, right) or _is_ordered(right, left))


def _is_ordered(order: Clause, deed: Clause) -> bool:
    """Tell whether one asks for what the other says was done: *buy milk*, *bought milk*."""
    return DID in deed.moods and DID not in order.moods and "~order" in order.context


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
    if (less.negative, less.doubled) != (more.negative, more.doubled) or not less.moods ^ more.moods <= {DID}:
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
