"""A text read into clauses: who, what, when, for or against, and how sure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from strata.dedup.clauses import Group, groups
from strata.dedup.entities import about, with_user
from strata.dedup.explanations import fixed
from strata.dedup.fingerprint import canonical, normalise, without_report
from strata.dedup.mood import moods
from strata.dedup.oppositions import oppositions
from strata.dedup.polarity import polarity
from strata.dedup.refinement import refined
from strata.dedup.segment import tokens
from strata.dedup.tokens import Clause, Kind, Reading, Token

_QUESTION = Token("QUESTION", Kind.MOOD, "mood", "?")
_PREDICATES = frozenset({Kind.NOT, Kind.STANCE, Kind.ACT})
_LOCATIVE = frozenset({"在", "于"})
_COPULAS = frozenset({"be", "是", "为"})
_ENDS_HEAD = _LOCATIVE | _COPULAS
_LIST_MARKS = frozenset({"、", "和", "与", "及", "以及", "或", "或者", "还有", "跟", "and", "or", "nor", "plus"})
_SILENT = frozenset({Kind.DROP, Kind.NOT, Kind.MOOD, Kind.CHANGE, Kind.LINK})


@lru_cache(maxsize=16_384)  # every stored text meets every candidate of a batch; 4 to 7 KB each, some 100 MB at most
def read(text: str) -> Reading:
    """What ``text`` says. Reading costs some 100 µs; comparing two readings far less."""
    cut = groups(_segments(without_report(canonical(text))))
    clauses: list[Clause] = []
    for group in cut:
        clauses.append(_clause(group, clauses[-1] if clauses else None))
    said = tuple(clause for clause in clauses if clause.tokens)
    return Reading(text=normalise(text), clauses=said, fixed=frozenset().union(*(clause.fixed for clause in said)))


def _segments(text: str) -> list[list[Token]]:
    """Tokens per stretch between separators; a question mark makes its stretch a question."""
    found = []
    for part in text.replace("?", "?,").split(","):
        if part:
            asked = part.endswith("?")
            found.append([*tokens(part.removesuffix("?")), *([_QUESTION] if asked else [])])
    return found


def _clause(group: Group, before: Clause | None) -> Clause:
    spoken = refined(with_user(group))
    said = tuple(token for token in spoken if token.kind not in _SILENT)
    counted = [token for token in said if token.kind is not Kind.PERSON]
    concepts = _by_kind(counted)
    items = frozenset().union(*concepts.values())
    content = frozenset(concepts[Kind.THING] | concepts[Kind.ACT] | concepts[Kind.DIRECTION])
    stances, unexplained = frozenset(concepts[Kind.STANCE]), fixed(items)
    sign = polarity(spoken)
    found = moods(group, before)
    return Clause(
        tokens=said,
        items=items,
        fixed=unexplained,
        matter=unexplained & (content | stances),
        context=_context(counted, items, negative=sign.negative) | _marks(group, concepts) | _put(found),
        content=content,
        values=frozenset(concepts[Kind.VALUE] | concepts[Kind.TIME]),
        stances=stances,
        limits=frozenset(concepts[Kind.DEGREE]),
        head=_head(spoken),
        listed=_listed(spoken),
        equates=_equates(spoken),
        people=about(group, before.people if before else frozenset()),
        negative=sign.negative,
        doubled=sign.doubled,
        moods=found,
        change=_change(spoken),
        excluded=oppositions().excluded(items),
        slots=frozenset(concept for concept in items if concept in oppositions().slots),
    )


def _by_kind(said: Sequence[Token]) -> defaultdict[Kind, set[str]]:
    found: defaultdict[Kind, set[str]] = defaultdict(set)
    for token in said:
        found[token.kind].add(token.concept)
    return found


def _change(group: Sequence[Token]) -> str:
    changes = {token.concept for token in group if token.kind is Kind.CHANGE}
    return "SWITCH" if "SWITCH" in changes else "NOW" if changes else ""


def _context(said: Sequence[Token], items: frozenset[str], *, negative: bool) -> frozenset[str]:
    families = {f"#{token.family}" for token in said if token.family != "?"}
    kinds = {f"@{token.kind}" for token in said}
    return items | families | kinds | {"-" if negative else "+", "*"}


def _put(moods: frozenset[str]) -> frozenset[str]:
    return frozenset(f"!{mood}" for mood in moods)


def _marks(group: Sequence[Token], concepts: Mapping[Kind, set[str]]) -> frozenset[str]:
    """How a clause is put: ``~bare`` without predicate, ``~order`` as an order, ``~habit`` as a habit, ``~wont`` as a
    refusal of what is to come.
    """
    marks = set()
    if not concepts[Kind.STANCE] and not concepts[Kind.ACT]:
        marks.add("~bare")
    elif next(token for token in group if token.kind is not Kind.DROP).kind in {Kind.ACT, Kind.NOT}:
        marks.add("~order")
    for token in group:
        mark = _MARKING.get(token.surface)
        if mark:
            marks.add(mark)
    return frozenset(marks)


_MARKING = {
    **dict.fromkeys(
        ("习惯", "习惯于", "通常", "一般", "平时", "平常", "往往", "一直", "总是", "惯于", "经常", "常常"), "~habit"
    ),
    **dict.fromkeys(
        ("usually", "normally", "generally", "typically", "always", "tend to", "regularly", "often"), "~habit"
    ),
    "will not": "~wont",
    "may": "~may",
}


def _equates(group: Sequence[Token]) -> bool:
    is_said = any(token.surface in _COPULAS for token in group)
    return is_said and not any(token.kind in {Kind.ACT, Kind.DIRECTION} for token in group)


def _head(group: Sequence[Token]) -> frozenset[str]:
    """What stands before the first predicate, places apart: 在腾讯上班 speaks of nobody else."""
    found = set()
    for token in group:
        if token.kind in _PREDICATES or token.concept == "SWITCH" or token.surface in _ENDS_HEAD:
            break
        if token.kind is Kind.THING:
            found.add(token.concept)
    return frozenset(found)


def _listed(group: Sequence[Token]) -> frozenset[str]:
    found = set()
    for before, mark, behind in zip(group, group[1:], group[2:], strict=False):
        if mark.surface in _LIST_MARKS and before.kind is behind.kind and before.kind in {Kind.THING, Kind.VALUE}:
            found |= {before.concept, behind.concept}
    return frozenset(found)
