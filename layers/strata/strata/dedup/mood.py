"""Whether something is stated, or only asked, planned, heard, supposed or over."""

from collections.abc import Sequence

from strata.dedup.tokens import Clause, Kind, Token

_SAYING = frozenset({"说", "讲", "说过", "说了", "say", "mention", "tell", "think", "告诉", "觉得", "认为", "claim"})
_LASTING = frozenset(
    "LIVE LIKE KEEP_PET USE STUDY GO SMOKE DRINK EAT JOB HAVE SCHOOLING DRIVE RIDE WATCH TAKE WORK PLAY_MUSIC".split()
)
_ONCE = frozenset({"BUY", "SELL", "TRAVEL", "BUSINESS_TRIP", "SURGERY", "INTERVIEW", "MARRIED", "SWITCH", "-NOW"})
_TO_COME = frozenset({"TOMORROW", "DAY_AFTER", "NEXT", "NEXT_WEEK", "NEXT_MONTH", "NEXT_YEAR"})
_PREDICATES = frozenset({Kind.STANCE, Kind.ACT})
DID = "DID"
"""Done once, and over: no mood that keeps two facts apart, but no order says the same."""
UNDONE = "UNDONE"
"""Not done so far: 没吃, *did not eat*, which is no habit."""
DEEDS = frozenset({DID, UNDONE})
"""What tells of a deed and denies, or affirms, it all the same."""
_NOT_SO_FAR = frozenset({"没", "没有", "还没", "还没有", "未", "尚未", "did not", "has not", "have not", "had not"})
_SPEAKERS = frozenset({Kind.PERSON, Kind.THING})


def moods(group: Sequence[Token], before: Clause | None) -> frozenset[str]:
    """The moods of a clause; empty = a plain fact. What follows a condition stays under it."""
    found = {
        token.concept for place, token in enumerate(group) if token.kind is Kind.MOOD and not _rounds(group, place)
    }
    if before and "IF" in before.moods:
        found.add("IF")
    words = {word for token in group for word in (token.concept, token.surface)}
    if not words.isdisjoint(_SAYING) and _is_hearsay(group):
        found.add("HEARSAY")
    if "GUO" in words and _is_over(group):
        found.add("PAST")
    elif "PAST" in found and ("GUO" in words or _is_deed(group)):
        found.discard("PAST")
    if not _TRADED.isdisjoint(words) and _is_done(group):
        found.add(DID)
    if _is_undone(group):
        found.add(UNDONE)
    if "要" in words and _is_intended(group):
        found.add("PLAN")
    return frozenset(found)


def _is_hearsay(group: Sequence[Token]) -> bool:
    """妈妈说…, *Tom says …*: somebody's words about something, not 说法语."""
    for index, token in enumerate(group[:-1]):
        if token.surface in _SAYING and index and group[index - 1].kind in _SPEAKERS:
            rest = group[index + 1 :]
            if token.surface == "tell" and any(later.surface == "to" for later in rest):
                return False  # told Dad to drink less
            return rest[0].family != "language_name" and any(later.kind in _PREDICATES for later in rest)
    return False


def _is_over(group: Sequence[Token]) -> bool:
    """住过: 过 after a lasting state."""
    return any(
        token.concept == "GUO" and index and group[index - 1].concept in _LASTING for index, token in enumerate(group)
    )


def _is_done(group: Sequence[Token]) -> bool:
    """买了牛奶, *bought milk*: what is done once, in the past."""
    return any(
        token.concept in _TRADED
        and (token.surface in _PASTS or token.surface.endswith("了") or _surface(group, place + 1) == "了")
        for place, token in enumerate(group)
    )


def _is_undone(group: Sequence[Token]) -> bool:
    """没吃早饭, *has not eaten*: a deed that has not been done; 没养猫 is a state."""
    for place, token in enumerate(group):
        if token.kind is Kind.NOT and token.surface in _NOT_SO_FAR:
            deed = next((each for each in group[place + 1 :] if each.concept != "HAVE"), None)
            return deed is not None and deed.kind is Kind.ACT and deed.concept not in _STATES
    return False


_STATES = frozenset("LIVE LIKE KEEP_PET USE JOB HAVE SCHOOLING STUDY WORK".split())
_TRADED = frozenset({"BUY", "SELL"})
_PASTS = frozenset({"bought", "sold"})


def _surface(group: Sequence[Token], place: int) -> str:
    return group[place].surface if place < len(group) else ""


def _is_deed(group: Sequence[Token]) -> bool:
    """*had surgery*: what one had was done once, and stays so."""
    is_had = any(token.concept == "HAVE" for token in group) and any(token.family == "event" for token in group)
    return is_had and all(token.surface == "past tense" for token in group if token.concept == "PAST")


def _rounds(group: Sequence[Token], place: int) -> bool:
    """大概30分钟: an amount that is not exact is no hearsay."""
    behind = group[place + 1 : place + 2]
    return group[place].surface in {"大概", "估计"} and bool(behind) and behind[0].kind is Kind.VALUE


def _has_doer(group: Sequence[Token]) -> bool:
    return any(token.kind is Kind.PERSON for token in group)


def _is_intended(group: Sequence[Token]) -> bool:
    """要买, 要出差: 要 before what is done once."""
    for index, token in enumerate(group[:-1]):
        if token.surface == "要" and (index == 0 or group[index - 1].kind is not Kind.NOT):
            told_how = any(later.kind is Kind.THING for later in group[index + 2 :])
            if told_how and any(each.kind is Kind.THING for each in group[:index]) and not _has_doer(group[:index]):
                return False  # 牛奶要买脱脂的: how it is to be bought
            ahead = {later.concept for later in group[index + 1 : index + 3] if later.surface != "提前"}
            return bool(ahead & _ONCE or ("GO" in ahead and any(each.concept in _TO_COME for each in group)))
    return False
