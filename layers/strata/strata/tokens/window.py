"""The window of a session: the newest messages that fit a budget, in whole tool groups, with the summary in front.

Stored token counts are added up; nothing is tokenised here except the one text that must be cut.
"""

from collections.abc import Sequence
from dataclasses import replace

from strata.model.messages import JsonObject, Message, Role
from strata.model.sessions import Summary, Window
from strata.tokens.counter import TokenCounter, part_text

MARK = "…[cut]"
"""Stands where a text was cut."""
SUMMARY_SHARE = 4
"""A summary never reserves more than this part of the window: one quarter."""


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
        counter: used only to cut, and where a call that was never answered is taken out.
    """
    reserve = min(summary_budget, max_tokens // SUMMARY_SHARE)
    answered = _answered(_without_open_calls(messages, counter))
    starts = _group_starts(answered)
    chosen = answered[_first_that_fits(answered, starts, max_tokens - reserve) :]
    truncated_seq = None
    if answered and not chosen:
        chosen = _shrunk(answered[starts[-1] :], max_tokens - reserve, counter)
        truncated_seq = messages[-1].seq
    shown = _summary_for(summary, chosen, reserve, counter)
    return Window(
        messages=tuple(chosen),
        summary=shown,
        tokens=sum([message.tokens for message in chosen]) + (shown.tokens if shown else 0),
        omitted=len(messages) - len(chosen),
        truncated_seq=truncated_seq,
    )


def _first_that_fits(messages: Sequence[Message], starts: Sequence[int], budget: int) -> int:
    """Return where the newest whole groups begin that fit together."""
    first = place = len(messages)
    while place:
        place -= 1
        budget -= messages[place].tokens
        if budget < 0:
            break
        if starts[place] == place:
            first = place
    return first


def _group_starts(messages: Sequence[Message]) -> list[int]:
    """Return, for each message, where its group begins: a call, its results and whatever was said between them."""
    calls: dict[str, int] = {}
    starts = list(range(len(messages)))
    for place, message in enumerate(messages):
        call = calls.get(message.tool_call_id or "") if message.role is Role.TOOL else None
        if call is not None:
            starts[call : place + 1] = [starts[call]] * (place + 1 - call)
        if message.tool_calls:
            calls |= dict.fromkeys(_made_by(message), place)
    return starts


def _answered(messages: Sequence[Message]) -> Sequence[Message]:
    """Leave out results whose call is not there: a chat model refuses them. The newest stays, whatever it is."""
    calls: set[str] = set()
    stray = set()
    for message in messages:
        if message.role is Role.TOOL and message.tool_call_id not in calls:
            stray.add(message.seq)
        if message.tool_calls:
            calls |= _made_by(message)
    if not stray:
        return messages
    return [message for message in messages if message.seq not in stray or message is messages[-1]]


def _without_open_calls(messages: Sequence[Message], counter: TokenCounter) -> Sequence[Message]:
    """Leave out calls that nobody answered before the talk went on: a chat model refuses them. Their text stays."""
    answered: set[str] = set()
    kept: list[Message] = []
    has_gone_on = False
    for message in reversed(messages):
        calls = tuple(call for call in message.tool_calls if str(call.get("id")) in answered)
        answered -= _made_by(message)
        if message.role is Role.TOOL:
            answered.add(message.tool_call_id or "")
        elif has_gone_on and len(calls) < len(message.tool_calls):
            kept += [_with_calls(message, calls, counter)] if calls or message.content else []
            continue
        has_gone_on = has_gone_on or message.role is not Role.TOOL
        kept.append(message)
    return kept[::-1]


def _with_calls(message: Message, calls: tuple[JsonObject, ...], counter: TokenCounter) -> Message:
    changed = replace(message, tool_calls=calls)
    return replace(changed, tokens=counter.count_message(changed))


def _made_by(message: Message) -> set[str]:
    return {str(call["id"]) for call in message.tool_calls if call.get("id")}


def _shrunk(group: Sequence[Message], budget: int, counter: TokenCounter) -> list[Message]:
    """Cut a group to the budget from its newest message backwards; calls are never cut, only texts."""
    members = list(group)
    excess = sum(message.tokens for message in members) - budget
    for place in reversed(range(len(members))):
        if excess > 0:
            cut = _cut(members[place], members[place].tokens - excess, counter)
            excess -= members[place].tokens - cut.tokens
            members[place] = cut
    return members


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
