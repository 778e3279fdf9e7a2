"""A text read into clauses: who, what, when, for or against, and how sure."""

from collections.abc import Collection, Sequence
from functools import lru_cache

from strata.dedup.clauses import groups
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
_PARTS = {
    **dict.fromkeys((Kind.THING, Kind.ACT, Kind.DIRECTION), 0),
    Kind.STANCE: 1,
    **dict.fromkeys((Kind.VALUE, Kind.TIME), 2),
    Kind.DEGREE: 3,
}
"""Kind → content, stances, values, limits."""
_STATING = frozenset({Kind.STANCE, Kind.ACT})
_ORDERING = frozenset({Kind.ACT, Kind.NOT})
_LISTABLE = frozenset({Kind.THING, Kind.VALUE})
_LASTING = frozenset({"IF"})
"""What follows a condition stays under it."""
_NOTHING: frozenset[str] = frozenset()
_SILENT = frozenset({Kind.DROP, Kind.NOT, Kind.MOOD, Kind.CHANGE, Kind.LINK})


def shared(concepts: Collection[str]) -> frozenset[str]:
    """The set of ``concepts``, the same object wherever it is the same: of a clause's sets most are empty or of one
    common word, and what is kept for thousands of texts should not be a dozen objects each.
    """
    return _kept(frozenset(concepts)) if concepts else _NOTHING


@lru_cache(maxsize=4_096)
def _kept(concepts: frozenset[str]) -> frozenset[str]:
    return concepts


@lru_cache(maxsize=16_384)  # every stored text meets every candidate of a batch; 3 to 4 KB each, some 60 MB at most
def read(text: str) -> Reading:
    """What ``text`` says. Reading costs some 100 µs; comparing two readings far less."""
    cut = groups(_segments(without_report(canonical(text))))
    clauses: list[Clause] = []
    for group in cut:
        people, before = (clauses[-1].people, clauses[-1].moods) if clauses else (_NOTHING, _NOTHING)
        clauses.append(_clause(tuple(group), people, before & _LASTING))
    said = tuple(clause for clause in clauses if clause.tokens)
    return Reading(
        text=normalise(text),
        clauses=said,
        fixed=_together([clause.fixed for clause in said]),
        denied=_together([clause.content for clause in said if clause.negative]),
        stated=_together([clause.content for clause in said if not clause.negative]),
        excluded=_together([clause.excluded for clause in said]),
        exclusive=shared([each for clause in said for each in clause.items if each in oppositions().exclusive]),
        slots=_together([clause.slots for clause in said]),
        is_bare=not all(clause.content for clause in said),
        has_values=any(clause.values for clause in said),
        equates=any(clause.equates for clause in said),
        turns=any(clause.change or "ALONE" in clause.items for clause in said),
    )


def _together(parts: Sequence[frozenset[str]]) -> frozenset[str]:
    return parts[0] if len(parts) == 1 else shared(_NOTHING.union(*parts))


def _segments(text: str) -> list[list[Token]]:
    """Tokens per stretch between separators; a question mark makes its stretch a question."""
    found = []
    for part in text.replace("?", "?,").split(","):
        if part:
            asked = part.endswith("?")
            found.append([*tokens(part.removesuffix("?")), *([_QUESTION] if asked else [])])
    return found


@lru_cache(maxsize=4_096)  # what is remembered repeats itself, word for word between two commas
def _clause(group: tuple[Token, ...], people: frozenset[str], lasting: frozenset[str]) -> Clause:
    """``people`` and ``lasting`` moods are what a clause takes over from the one in front."""
    spoken = refined(with_user(group))
    said = tuple([token for token in spoken if token.kind not in _SILENT])
    counted = [token for token in said if token.kind is not Kind.PERSON]
    items = shared([token.concept for token in counted])
    content, stances, values, limits = _parts(counted)
    unexplained, sign, found = shared(fixed(items)), polarity(spoken), moods(group, None) | lasting
    return Clause(
        tokens=group if said == group else said,
        items=items,
        fixed=unexplained,
        matter=shared(unexplained & (content | stances)),
        context=_context(counted, items, _marks(group, counted), found, negative=sign.negative),
        content=content,
        values=values,
        stances=stances,
        limits=limits,
        head=_head(spoken),
        listed=_listed(spoken),
        equates=_equates(spoken),
        people=shared(about(group, people)),
        negative=sign.negative,
        doubled=sign.doubled,
        moods=shared(found),
        change=_change(spoken),
        excluded=shared(oppositions().excluded(items)),
        slots=shared([concept for concept in items if concept in oppositions().slots]),
    )


def _parts(said: Sequence[Token]) -> list[frozenset[str]]:
    """Content, stances, values and limits."""
    parts: list[list[str]] = [[], [], [], []]
    for token in said:
        part = _PARTS.get(token.kind)
        if part is not None:
            parts[part].append(token.concept)
    return [shared(part) for part in parts]


def _change(group: Sequence[Token]) -> str:
    changes = {token.concept for token in group if token.kind is Kind.CHANGE}
    return "SWITCH" if "SWITCH" in changes else "NOW" if changes else ""


def _context(
    said: Sequence[Token], items: frozenset[str], marks: Sequence[str], moods: frozenset[str], *, negative: bool
) -> frozenset[str]:
    found = {*items, *marks, "-" if negative else "+", "*"}
    for token in said:
        found.add(_KIND_MARKS[token.kind])
        if token.family != "?":
            found.add(f"#{token.family}")
    found.update([f"!{mood}" for mood in moods])
    return shared(found)


_KIND_MARKS = {kind: f"@{kind}" for kind in Kind}


def _marks(group: Sequence[Token], said: Sequence[Token]) -> list[str]:
    """How a clause is put: ``~bare`` without predicate, ``~order`` as an order, ``~habit`` as a habit, ``~wont`` as a
    refusal of what is to come.
    """
    marks = [_MARKING[token.surface] for token in group if token.surface in _MARKING]
    if not any(token.kind in _STATING for token in said):
        marks.append("~bare")
    elif next(token for token in group if token.kind is not Kind.DROP).kind in _ORDERING:
        marks.append("~order")
    return marks


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
    found = []
    for token in group:
        if token.kind in _PREDICATES or token.concept == "SWITCH" or token.surface in _ENDS_HEAD:
            break
        if token.kind is Kind.THING:
            found.append(token.concept)
    return shared(found)


def _listed(group: Sequence[Token]) -> frozenset[str]:
    found = []
    for index, mark in enumerate(group[1:-1]):
        if mark.surface in _LIST_MARKS:
            before, behind = group[index], group[index + 2]
            if before.kind is behind.kind and before.kind in _LISTABLE:
                found += [before.concept, behind.concept]
    return shared(found)
