"""The guard: whether two texts may be merged, and if not, how they stand to each other.

Similarity proposes, the guard decides. It merges only what it can prove equal: the same people, the same sign, the
same numbers, no word left unexplained by the closed tables, nothing asked, planned or heard on one side only. What it
cannot prove it keeps.
"""

from dataclasses import dataclass
from enum import StrEnum

from strata.dedup.opposition import clash
from strata.dedup.oppositions import Clash
from strata.dedup.reading import read
from strata.dedup.sameness import adds_only_a_list, extends, same_clause, same_reading
from strata.dedup.tokens import Reading


class PairKind(StrEnum):
    """How a new text stands to a stored one."""

    MERGE = "merge"
    """One fact: keep one text."""
    REFINE = "refine"
    """One says more than the other: link."""
    CONFLICT = "conflict"
    """They contradict each other: the later one holds."""
    DISTINCT = "distinct"


class Keep(StrEnum):
    """Which text stays active."""

    OLD = "old"
    NEW = "new"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDecision:
    """What to do with a pair, and why."""

    kind: PairKind
    reason: str
    """Merged because ``equal`` or ``proven``; one says ``more`` or ``less``; ``polarity``, ``opposite``, ``value``,
    ``slot``, ``update`` contradict; else ``unproven``.
    """
    evidence: tuple[str, ...] = ()
    """Words that decided it."""
    keep: Keep = Keep.BOTH


UNPROVEN = PairDecision(kind=PairKind.DISTINCT, reason="unproven")
"""What nearly all pairs are."""


def decide(old: str, new: str) -> PairDecision:
    """How ``new`` stands to ``old``. Pure, symmetric in its kind, some 0.1 ms."""
    return decide_readings(read(old), read(new))


def decide_readings(old: Reading, new: Reading) -> PairDecision:
    """The same for texts already read."""
    if old.text == new.text:
        return PairDecision(kind=PairKind.MERGE, reason="equal", keep=Keep.OLD)
    may_repeat = old.fixed <= new.fixed or new.fixed <= old.fixed
    if may_repeat and same_reading(old, new):
        return PairDecision(kind=PairKind.MERGE, reason="proven", keep=_stricter(old, new))
    found = _contradiction(old, new) if may_contradict(old, new) else None
    if found:
        return PairDecision(kind=PairKind.CONFLICT, reason=found.reason, evidence=found.evidence)
    return (_refinement(old, new) if may_repeat else None) or UNPROVEN


def may_contradict(left: Reading, right: Reading) -> bool:
    """Tell whether a clause of one may contradict a clause of the other, by what their clauses hold together: as
    ``opposition.clash`` does of two, and no less.
    """
    if left.turns or right.turns or (left.has_values and right.has_values) or (left.equates and right.equates):
        return True
    if not left.denied.isdisjoint(right.stated) or not left.stated.isdisjoint(right.denied):
        return True
    if not left.slots.isdisjoint(right.slots) or not left.excluded.isdisjoint(right.exclusive):
        return True
    return left.is_bare and right.is_bare


def _contradiction(old: Reading, new: Reading) -> Clash | None:
    """The first clause of one that contradicts a clause of the other."""
    for one in old.clauses:
        for other in new.clauses:
            if found := clash(one, other):
                return found
    return None


def _refinement(old: Reading, new: Reading) -> PairDecision | None:
    """The richer text holds alone if it repeats the other whole; otherwise both stay, linked."""
    if extends(old, new):
        keep = Keep.NEW if _repeats_whole(old, new) else Keep.BOTH
        return PairDecision(kind=PairKind.REFINE, reason="more", keep=keep)
    if extends(new, old):
        keep = Keep.OLD if _repeats_whole(new, old) else Keep.BOTH
        return PairDecision(kind=PairKind.REFINE, reason="less", keep=keep)
    return None


def _repeats_whole(less: Reading, more: Reading) -> bool:
    """Tell whether ``more`` has every clause of ``less`` as it is, or only longer lists in it."""
    return all(
        any(same_clause(clause, other) or adds_only_a_list(clause, other) for other in more.clauses)
        for clause in less.clauses
    )


_STRICT = frozenset({"MAY", "CAN", "NEED"})


def _stricter(old: Reading, new: Reading) -> Keep:
    """Of two equal texts the one that forbids, or the one that holds the other's words and more."""
    if _strictness(new) > _strictness(old):
        return Keep.NEW
    return Keep.NEW if old.text in new.text else Keep.OLD


def _strictness(reading: Reading) -> int:
    return sum(bool(clause.negative and clause.stances & _STRICT) for clause in reading.clauses)
