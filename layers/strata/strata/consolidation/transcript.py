"""Messages as the judge's prompt shows them: one line each, in quotes nobody can get out of.

A line is ``[[NEW]] #12 user 2026-05-01 Fri 09:30: "…"``. The text is a JSON string, so a line break in it is escaped
and stays inside its turn. Brackets that could close a section, open another, forge a mark or a turn of a chat template
are written as JSON escapes: a reader of JSON gets the text exactly as typed, a tokenizer gets no control token.
"""

import json
import re
from collections.abc import Collection, Iterable
from datetime import tzinfo

from strata.consolidation.texts import spoken
from strata.model.messages import Message, Role

NEW = "[[NEW]]"
CUT = "…"
"""Stands for what is left out at the end of a long text."""
TOOL_CHARS = 300
ASSISTANT_CHARS = 600
USER_CHARS = 6_000
_LIMITS = {Role.TOOL: TOOL_CHARS, Role.ASSISTANT: ASSISTANT_CHARS}
_UNSAFE = re.compile(r"[<>]|(?<=\[)\[|\[(?=/?INST\])")
_DAYS = {
    "zh": ("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
    "en": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
}


def quoted(text: str) -> str:
    """Return a text as a JSON string that holds no bracket a prompt or a chat template gives a meaning to."""
    return _UNSAFE.sub(_escaped, json.dumps(text, ensure_ascii=False))


def rendered(messages: Iterable[Message], new: Collection[int], *, zone: tzinfo, language: str) -> list[str]:
    """Return the messages as lines, those whose ``seq`` is in ``new`` marked."""
    return [_line(message, new, zone, language) for message in messages]


def _line(message: Message, new: Collection[int], zone: tzinfo, language: str) -> str:
    said = message.said_at.astimezone(zone)
    when = f"{said:%Y-%m-%d} {_DAYS[language][said.weekday()]} {said:%H:%M}"
    mark = f"{NEW} " if message.seq in new else ""
    text = quoted(_shortened(spoken(message), _LIMITS.get(message.role, USER_CHARS)))
    return f"{mark}#{message.seq} {message.role.value} {when}: {text}"


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + CUT


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
