"""The window of a session: the newest messages that fit a budget, in whole tool groups, with the summary in front.

Stored token counts are added up; nothing is tokenised here except the one text that must be cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from strata.model.messages import JsonObject, Message, Role
from strata.model.sessions import Summary, Window
from strata.tokens.counter import TokenCounter, part_text

MARK = "…[cut]"
"""Stands where a text was cut."""
SUMMARY_SHARE = 4
"""A summary never reserves more than this part of the window: one quarter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Messages that stay or leave together: a tool call with its results, or one message."""

    messages: tuple[Message, ...]
    tokens: int


def select(
    messages: Sequence[Message],
    *,
    max_tokens: int,
    summary: Summary | None,
    summary_budget: int,
    counter: TokenCounter,
) -> Window:
    """Return what fits ``max_tokens``, messages and summary together.

    History gets ``max_tokens`` less the summary's reserve (``summary_budget``, at most a quarter of the window). If all
    of it fits, it is returned as it is; otherwise the newest that fits. The summary is in front when something older
    than the window exists. The newest message is always there, cut if it alone is too large; only where the budget
    cannot hold even a cut one, it is exceeded.

    Args:
        messages: the newest of the session, oldest first.
        max_tokens: at least 1.
        summary: what is known of the session so far.
        summary_budget: tokens the summary may have.
        counter: used only to cut.
    """
    reserve = min(summary_budget, max_tokens // SUMMARY_SHARE)
    groups = _grouped(_answered(messages))
    kept = _newest_that_fit(groups, max_tokens - reserve)
    truncated_seq = None
    if groups and not kept:
        kept, truncated_seq = [_shrunk(groups[-1], max_tokens - reserve, counter)], messages[-1].seq
    chosen = tuple(message for group in kept for message in group.messages)
    shown = _summary_for(summary, chosen, reserve, counter)
    return Window(
        messages=chosen,
        summary=shown,
        tokens=sum(group.tokens for group in kept) + (shown.tokens if shown else 0),
        omitted=len(messages) - len(chosen),
        truncated_seq=truncated_seq,
    )


def _group(messages: Sequence[Message]) -> _Group:
    return _Group(messages=tuple(messages), tokens=sum(message.tokens for message in messages))


def _newest_that_fit(groups: Sequence[_Group], budget: int) -> list[_Group]:
    kept: list[_Group] = []
    for group in reversed(groups):
        budget -= group.tokens
        if budget < 0:
            break
        kept.insert(0, group)
    return kept


def _grouped(messages: Sequence[Message]) -> list[_Group]:
    """Keep a call, its results and whatever was said between them together."""
    calls: dict[str, int] = {}
    start_of = list(range(len(messages)))
    for place, message in enumerate(messages):
        call = calls.get(message.tool_call_id or "") if message.role is Role.TOOL else None
        if call is not None:
            start_of[call : place + 1] = [start_of[call]] * (place + 1 - call)
        calls |= dict.fromkeys(_made_by(message), place)
    members: dict[int, list[Message]] = {}
    for start, message in zip(start_of, messages, strict=True):
        members.setdefault(start, []).append(message)
    return [_group(group) for group in members.values()]


def _answered(messages: Sequence[Message]) -> list[Message]:
    """Leave out results whose call is not there: a chat model refuses them. The newest stays, whatever it is."""
    calls: set[str] = set()
    answered = []
    for message in messages:
        if message.role is not Role.TOOL or message.tool_call_id in calls or message is messages[-1]:
            answered.append(message)
        calls |= _made_by(message)
    return answered


def _made_by(message: Message) -> set[str]:
    return {str(call["id"]) for call in message.tool_calls if call.get("id")}


def _shrunk(group: _Group, budget: int, counter: TokenCounter) -> _Group:
    """Cut a group to the budget from its newest message backwards; calls are never cut, only texts."""
    excess = group.tokens - budget
    members = list(group.messages)
    for place in reversed(range(len(members))):
        if excess > 0:
            cut = _cut(members[place], members[place].tokens - excess, counter)
            excess -= members[place].tokens - cut.tokens
            members[place] = cut
    return _group(members)


def _cut(message: Message, tokens: int, counter: TokenCounter) -> Message:
    if message.content is None:
        return message
    fixed = counter.count_message(replace(message, content=None))
    room = max(0, tokens - fixed)
    if isinstance(message.content, str):
        content: str | tuple[JsonObject, ...] = counter.truncate(message.content, room, MARK)
    else:
        content = _cut_parts(message.content, room, counter)
    cut = replace(message, content=content)
    cut = replace(cut, tokens=counter.count_message(cut))
    return min(message, cut, key=lambda either: either.tokens)


def _cut_parts(parts: tuple[JsonObject, ...], room: int, counter: TokenCounter) -> tuple[JsonObject, ...]:
    """Keep parts in order while they fit; the first that does not is cut (a text) or replaced by the mark."""
    kept: list[JsonObject] = []
    for part in parts:
        tokens = counter.count_part(part)
        if tokens > room:
            kept.append({"type": "text", "text": counter.truncate(part_text(part) or MARK, room, MARK)})
            break
        kept.append(part)
        room -= tokens
    return tuple(kept)


def _summary_for(
    summary: Summary | None, chosen: Sequence[Message], reserve: int, counter: TokenCounter
) -> Summary | None:
    if summary is None or (chosen and chosen[0].seq == 1):
        return None
    if summary.tokens <= reserve:
        return summary
    text = counter.truncate(summary.text, reserve, MARK)
    return replace(summary, text=text, tokens=counter.count(text))
