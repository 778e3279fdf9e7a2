"""Cutting tokens into clauses, so that a negation negates what it belongs to.

Separators have already cut the text into segments; here a conjunction, a second negated predicate or a new subject
begins a new group, and a group that only says when or how joins its neighbour.
"""

from collections.abc import Iterator, Sequence

from strata.dedup.moments import aged
from strata.dedup.tokens import Kind, Token

Group = list[Token]

_PREDICATES = frozenset({Kind.STANCE, Kind.ACT, Kind.NOT})
_OBJECTS = frozenset({Kind.THING, Kind.VALUE, Kind.PERSON})
_SAYS_NOTHING_ALONE = frozenset({Kind.DROP, Kind.TIME, Kind.VALUE, Kind.CHANGE, Kind.DEGREE})
_ADDITIONS = frozenset({"and", "也", "还", "又", "而", "并", "并且", "且", "也都", "then", "nor", "or"})
_WHENEVER = frozenset({"when", "whenever"})
"""Begin a clause of their own where something is denied in it: *listens to music when they can't sleep*."""
_OPENING = _ADDITIONS | _WHENEVER
_COPULAS = frozenset({"be", "是"})
_SAYING = frozenset({"说", "讲", "say", "tell", "mention"})
"""Words after which somebody's words follow: no predicate of the same clause."""
_SERVED = frozenset({"food", "drink"})
_PREDICATIVE = frozenset({"condition", "profession", "belief"})
"""What somebody is, *be* swallowed by the phrase: *is diabetic and …*."""
_ABOUT_THE_REST = frozenset({"tolerance", "quality"})
"""Verdicts on what stands before them: 吃海鲜不会过敏 is one clause."""


def groups(segments: Sequence[Sequence[Token]]) -> list[Group]:
    """The clauses of a text as lists of tokens, in order."""
    cut = [aged(group) for segment in segments for group in _cut(segment)]
    return _with_subject(_attached([group for group in cut if group and not _is_telling(group)]))


def _is_telling(group: Group) -> bool:
    """*the user told the assistant*, and nothing of what: who wrote it down is not what it says."""
    if "AGENT" not in [token.concept for token in group]:
        return False
    said = {token.concept for token in group if token.kind is not Kind.DROP}
    return said <= {"USER", "AGENT", "NOTIFY", "SAY_TO", "SPEAK"} and len(said) > 1


def _with_subject(cut: list[Group]) -> list[Group]:
    """The cause in front is of who is named behind it: *because of his gout, Grandpa …*."""
    if len(cut) < 2 or cut[0][0].concept != "CAUSE" or any(token.kind is Kind.PERSON for token in cut[0]):  # noqa: PLR2004
        return cut
    first = next((token for token in cut[1] if token.kind is not Kind.DROP), None)
    if first is None or first.kind is not Kind.PERSON or first.concept in {"USER", "PRO"}:
        return cut
    return [[cut[0][0], first, *cut[0][1:]], *cut[1:]]


def _cut(segment: Sequence[Token]) -> Iterator[Group]:
    group: Group = []
    for index, token in enumerate(segment):
        if token.kind is Kind.LINK:
            if group:
                yield group
                group = []
        elif token.surface in _OPENING or token.concept == "NOT" or token.kind is Kind.PERSON:
            begun = _begun(token, segment[index + 1 :], group)
            if begun is not None:
                yield group
                group = begun
        group.append(token)
    yield group


def _begun(token: Token, behind: Sequence[Token], group: Group) -> Group | None:
    """What a clause that begins with ``token`` takes over from ``group``, the one before; ``None`` if none begins."""
    if token.kind is Kind.PERSON and (not group or (token.surface.isascii() and group[0].concept != "CAUSE")):
        return None
    rest = [later for later in behind if later.kind is not Kind.DROP]
    if rest and token.surface in _ADDITIONS and _may_end(group, token) and _opens_clause(rest):
        return _carried(group, rest[0])
    if token.kind is Kind.PERSON:
        return [] if rest and group and _is_another_subject(token, rest, group) else None
    if token.surface in _WHENEVER:
        is_denied_behind = any(later.kind is Kind.NOT for later in rest)
        return [] if group and is_denied_behind and not _is_denied(group) else None
    if not rest or token.concept != "NOT" or not _denies_anew(token, rest, group):
        return None
    added_to = token.surface != "without" and _is_served_without(token, rest, group)
    return [before for before in group if before.family in _SERVED] if added_to else []


def _is_another_subject(token: Token, rest: Sequence[Token], group: Group) -> bool:
    """妈妈吃素爸爸吃荤: somebody else does something, behind a clause that is whole."""
    first = next((each for each in group if each.kind is not Kind.DROP), None)
    if group and group[0].concept == "CAUSE" and rest[0].kind in _PREDICATES:
        return any(each.kind in {Kind.THING, Kind.ACT} for each in group)  # because of her knees she …
    if first is None or first.kind is not Kind.PERSON or token.surface.isascii() or first.concept == token.concept:
        return False
    return rest[0].kind in _PREDICATES and _is_whole(group)


def _may_end(group: Group, token: Token) -> bool:
    """Tell whether ``group`` is a clause already: *and* ends any that has a verb, 也 only a whole one (睡眠也不好)."""
    if not token.surface.isascii():
        return _is_whole(group) or _is_denied_already(group)
    return any(each.kind in _PREDICATES or each.surface in _COPULAS or each.family in _PREDICATIVE for each in group)


def _opens_clause(rest: Sequence[Token]) -> bool:
    if rest[0].kind in _PREDICATES or rest[0].kind is Kind.MOOD:
        return True
    if rest[0].kind is Kind.CHANGE and rest[1:] and rest[1].kind in _PREDICATES:
        return True
    return rest[0].kind is Kind.PERSON and any(token.kind in _PREDICATES for token in rest[1:])


def _carried(group: Group, following: Token) -> Group:
    """What a second verb takes over: *doesn't drink or smoke* denies both."""
    if following.kind is not Kind.ACT:
        return []
    first = next((n for n, token in enumerate(group) if token.kind is Kind.ACT), 0)
    return [token for token in group[:first] if token.kind in {Kind.NOT, Kind.STANCE}]


def _denies_anew(token: Token, rest: Sequence[Token], group: Group) -> bool:
    """Tell whether a negation begins another clause: behind a whole one, or in 咖啡不加糖."""
    if _is_served_without(token, rest, group):
        return True
    return (_is_whole(group) or _is_denied_already(group)) and _is_negated_anew(token, rest, group)


def _is_denied_already(group: Group) -> bool:
    """不抽烟 before 不喝酒: a negated act stands there, and no modal verb that another negation could cancel."""
    kinds = [token.kind for token in group]
    return Kind.NOT in kinds and Kind.ACT in kinds[kinds.index(Kind.NOT) :]


def _is_served_without(token: Token, rest: Sequence[Token], group: Group) -> bool:
    """咖啡不加糖: the coffee is said, the sugar is denied."""
    wanted = [later for later in rest if later.concept != "WANT"]
    adds = bool(wanted) and (wanted[0].concept == "ADD" or token.surface == "without")
    return adds and any(before.family in _SERVED for before in group) and not _is_denied(group)


def _is_denied(group: Group) -> bool:
    return any(token.kind is Kind.NOT for token in group)


def _is_whole(group: Group) -> bool:
    """Tell whether ``group`` already has a predicate and something it is about, behind it or before."""
    kinds = [token.kind for token in group if token.surface not in _SAYING]
    first = next((n for n, kind in enumerate(kinds) if kind in _PREDICATES), None)
    return first is not None and any(kind in _OBJECTS for kind in kinds[first:])


def _is_negated_anew(token: Token, rest: Sequence[Token], group: Group) -> bool:
    """不 in front of another verb with an object (吃鱼不吃肉), not in front of a verdict (吃鱼不过敏)."""
    if not token.surface or (token.family == "modal" and not _is_denied(group)):
        return False
    if token.surface == "without" and _is_denied(group):
        return False
    following = rest[0]
    if following.concept == "NOT" or following.family in _ABOUT_THE_REST:
        return False
    if following.concept in {"SKILL", "MAY", "CAN", "WILL"} and len(rest) > 1:
        return rest[1].concept != "NOT" and rest[1].family not in _ABOUT_THE_REST
    return True


def _attached(cut: list[Group]) -> list[Group]:
    """Adverbials and bare lists join the clause they belong to: the one before, at the beginning the one behind."""
    joined: list[Group] = []
    waiting: Group = []
    for group in cut:
        if all(token.kind in _SAYS_NOTHING_ALONE for token in group) or (joined and _continues_list(group, joined[-1])):
            (joined[-1] if joined else waiting).extend(group)
        elif not joined and _only_places(group):
            waiting.extend(group)
        elif joined and _tells_why(group, joined[-1]):
            joined[-1].extend(token for token in group if token.kind is not Kind.NOT)
        elif joined and _tells_why(joined[-1], group):
            joined[-1] = [*(token for token in joined[-1] if token.kind is not Kind.NOT), *waiting, *group]
            waiting = []
        elif all(token.kind in {Kind.MOOD, Kind.DROP, Kind.LINK} for token in group):
            waiting.extend(group)
        else:
            joined.append(waiting + group)
            waiting = []
    return joined or ([waiting] if waiting else [])


def _only_places(group: Group) -> bool:
    """*On the train,* in front of the clause it belongs to."""
    return group[0].surface in _PLACING and all(token.kind in {Kind.DROP, Kind.THING} for token in group)


_PLACING = frozenset({"on", "in", "at", "during"})


def _tells_why(group: Group, taboo: Group) -> bool:
    """Tell whether ``group`` says of what ``taboo`` forbids to eat only that it is an allergy: 不能吃鸡蛋，会过敏."""
    if "ALLERGY" not in [token.concept for token in group]:
        return False
    said = {token.family for token in group if token.kind not in _BESIDE_A_REASON}
    forbidden = _is_denied(taboo) and any(token.family in _SERVED for token in taboo)
    return said <= {"symptom", "tolerance"} and forbidden and all(token.family != "symptom" for token in taboo)


_BESIDE_A_REASON = frozenset({Kind.DROP, Kind.LINK, Kind.NOT})


def _continues_list(group: Group, before: Group) -> bool:
    """*celery, or onions* after *no cilantro*: things without a predicate, behind a clause that ends in a thing."""
    kinds = {token.kind for token in group}
    if not kinds <= {Kind.THING, Kind.DROP} or not any(token.kind in _PREDICATES for token in before):
        return False
    if any(token.concept == "ALLERGY" for token in before) and group[-1].family in _SERVED:
        return any(token.family in _SERVED for token in before)  # a seafood allergy, particularly shrimp
    return before[-1].kind is Kind.THING and group[-1].family == before[-1].family != "?"
