"""What the summary's model is asked: the summary so far and the messages after it, as data, in bounded portions."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib import resources

from strata.model.messages import JsonObject, Message
from strata.model.sessions import Summary
from strata.tokens.counter import TokenCounter, part_text

PORTION_TOKENS = 6_000
"""Of messages in one request; with a summary and the instructions it fits any model in use."""
MESSAGE_TOKENS = 1_500
"""Of one message; longer ones are cut: a summary does not need the whole of a pasted document."""
MARK = "…"
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_CHINESE_SHARE = 0.15
_BRACKETS = re.compile(r"[<>]|(?<=\[)\[|\[(?=/?INST\])")


def portions(messages: Sequence[Message]) -> Iterator[tuple[Message, ...]]:
    """Part messages, in order, into portions of bounded size; each has one at least."""
    portion: list[Message] = []
    tokens = 0
    for message in messages:
        cost = min(message.tokens, MESSAGE_TOKENS)
        if portion and tokens + cost > PORTION_TOKENS:
            yield tuple(portion)
            portion, tokens = [], 0
        portion.append(message)
        tokens += cost
    if portion:
        yield tuple(portion)


def request(before: Summary | None, portion: Sequence[Message], counter: TokenCounter) -> list[JsonObject]:
    """Return the two turns of a request: the instructions, and what they are about."""
    lines = [_line(message, counter) for message in portion]
    so_far = _quoted(before.text) if before else "-"
    sections = ("<summary>", so_far, "</summary>", "", "<messages>", *lines, "</messages>")
    return [
        {"role": "system", "content": _instructions(_language(portion))},
        {"role": "user", "content": "\n".join(sections)},
    ]


def _line(message: Message, counter: TokenCounter) -> str:
    text = message.content if isinstance(message.content, str) else _words(message)
    said_at = f"{message.said_at:%Y-%m-%d %H:%M}"
    return f"#{message.seq} {message.role.value} {said_at}: {_quoted(counter.truncate(text, MESSAGE_TOKENS, MARK))}"


def _words(message: Message) -> str:
    parts = message.content if isinstance(message.content, tuple) else ()
    said = [part_text(part) or f"[{part.get('type', 'part')}]" for part in parts]
    called = [json.dumps(call.get("function", call), ensure_ascii=False) for call in message.tool_calls]
    return "\n".join([*said, *called])


def _quoted(text: str) -> str:
    """Return a JSON string without the brackets that could close a section or open a turn of a chat template."""
    return _BRACKETS.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _language(portion: Sequence[Message]) -> str:
    said = "".join(message.content for message in portion if isinstance(message.content, str))
    return "zh" if len(_CHINESE.findall(said)) > _CHINESE_SHARE * len(said) else "en"


@lru_cache  # the files do not change while the process lives
def _instructions(language: str) -> str:
    return (resources.files("strata.sessions") / "data" / f"summary.{language}.txt").read_text(encoding="utf-8")
