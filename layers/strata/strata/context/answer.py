"""The messages of an answer, in the shape chat models take: block, summary, window."""

from collections.abc import Sequence
from typing import Any

from strata.model.messages import JsonObject, Message
from strata.model.sessions import Summary, Window

SUMMARY_HEADER = "Summary of the earlier conversation:\n"


def messages(prompt: str, window: Window) -> tuple[JsonObject, ...]:
    """Return everything in the order in which it is sent."""
    lead = [{"role": "system", "content": prompt}] if prompt else []
    summary = [_summary(window.summary)] if window.summary else []
    return (*lead, *summary, *(chat_message(message) for message in window.messages))


def chat_message(message: Message) -> dict[str, Any]:
    """Return one message; what it does not have is left out."""
    sent: dict[str, Any] = {"role": message.role.value, "content": _content(message.content)}
    if message.name:
        sent["name"] = message.name
    if message.tool_calls:
        sent["tool_calls"] = [dict(call) for call in message.tool_calls]
    if message.tool_call_id:
        sent["tool_call_id"] = message.tool_call_id
    return sent


def _summary(summary: Summary) -> dict[str, Any]:
    return {"role": "system", "content": SUMMARY_HEADER + summary.text}


def _content(content: str | Sequence[JsonObject] | None) -> str | list[dict[str, Any]] | None:
    return content if content is None or isinstance(content, str) else [dict(part) for part in content]
