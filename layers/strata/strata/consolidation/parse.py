"""From a judge's answer to its items, whatever is wrapped around them.

Forgiven: fences, prose before and after, thoughts with a draft inside, JSON that is none to the letter, other frames
(bare strings, other keys, the fact as the key, one object to a line). Not forgiven: an answer that was cut off, or
that breaks in the middle. What stands before the break would be a smaller truth ("delete this" without "add that"),
so the whole answer counts as none and the rules judge.
"""

import json
import re
from collections.abc import Mapping

from strata.consolidation.almost_json import Malformed, Unfinished, begins, read
from strata.errors import JudgeOutputError
from strata.ports import ChatReply

CUT_OFF = frozenset({"length", "max_tokens", "model_length", "content_filter", "incomplete"})
"""Finish reasons after which an answer is not whole."""
LONGEST_CHARS = 400_000
_DEEPEST = 3

_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning|reflection)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_LAST_THOUGHT = re.compile(r".*</(?:think|thinking|thought|reasoning|reflection)>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<(?:think|thinking|thought|reasoning|reflection)>", re.IGNORECASE)
_FRAME_KEYS = (
    *("memories", "facts", "items", "results", "operations", "candidates", "entries", "records", "list", "data"),
    *("memory", "fact", "result", "output", "response", "answer", "arguments", "parameters", "input"),
    *("记忆", "事实", "结果", "条目", "列表"),
)
CONTENT_KEYS = (
    *("content", "text", "fact", "memory", "statement", "sentence", "value", "description"),
    *("内容", "事实", "记忆", "文本", "描述"),
)
"""Names under which an item keeps its sentence, in the order in which they are believed."""


def items_of(reply: ChatReply) -> list[object]:
    """Return the items of an answer; an empty list if it says that there are none.

    Raises:
        JudgeOutputError: cut off, broken, or no answer; ``fields["reason"]`` says which.
    """
    if reply.finish_reason.lower() in CUT_OFF:
        raise unusable("truncated")
    text = without_thoughts(reply.text).strip()
    if not text:
        raise unusable("empty")
    return _items(_documents(text[:LONGEST_CHARS]))


def unusable(reason: str) -> JudgeOutputError:
    """Return the error for an answer that nothing can be taken from."""
    return JudgeOutputError(fields={"reason": reason})


def without_thoughts(text: str) -> str:
    """Return what a model says after thinking aloud.

    Tags behind the first brace are left alone: they belong to a text that is quoted.
    """
    closing = _LAST_THOUGHT.match(text)
    opening = _OPEN_THOUGHT.search(text)
    first_brace = begins(text)
    if opening is not None and (first_brace is None or opening.start() < first_brace):
        rest = _THOUGHTS.sub("", text)
        return "" if _OPEN_THOUGHT.search(rest[: begins(rest)]) else rest
    if opening is None and closing is not None:
        return text[closing.end() :]  # the template of the model has eaten the opening tag
    return text


def _documents(text: str) -> list[object]:
    """Return every JSON value in a text."""
    if text[0] == text[-1] == '"':
        text = _unquoted(text)
    found: list[object] = []
    at = begins(text)
    while at is not None:
        try:
            value, at = read(text, at)
        except Unfinished:
            raise unusable("truncated") from None
        except Malformed:
            raise unusable("malformed") from None
        found.append(value)
        at = begins(text, at)
    return found


def _unquoted(text: str) -> str:
    """Return the JSON inside a JSON string, or the text itself."""
    try:
        inner = json.loads(text)
    except ValueError:
        return text
    return inner if isinstance(inner, str) else text


def _items(documents: list[object]) -> list[object]:
    """Return the items of the last document that holds items: what stands before it is a draft or an example."""
    frames = [frame for document in documents if (frame := _frame(document)) is not None]
    if frames:
        return frames[-1]
    single = [document for document in documents if is_item(document)]
    if not single:
        raise unusable("no_items" if documents else "no_json")
    return single


def _frame(document: object, depth: int = 0) -> list[object] | None:
    if isinstance(document, list):
        return document if not document or any(isinstance(item, str | Mapping) for item in document) else None
    if not isinstance(document, Mapping) or depth > _DEEPEST:
        return None
    named = {str(key).strip().lower(): value for key, value in document.items()}
    for key in _FRAME_KEYS:
        if key in named and (inner := _inside(named[key], depth)) is not None:
            return inner
    return _grouped(document)


def _inside(value: object, depth: int) -> list[object] | None:
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        try:
            return _frame(json.loads(value), depth + 1)
        except ValueError:
            return None
    return [value] if is_item(value) else _frame(value, depth + 1)


def _grouped(document: Mapping[str, object]) -> list[object] | None:
    """Return the items of an object that groups or numbers them: ``{"preference": [...], "safety": [...]}``."""
    values = list(document.values())
    lists = {str(key): value for key, value in document.items() if isinstance(value, list)}
    if values and all(is_item(value) for value in values):
        return values
    if not lists or is_item(document):
        return None
    if len(lists) == 1 < len(values):
        return _frame(next(iter(lists.values())))
    if len(lists) < len(values):
        return None
    return [_labelled(item, key) for key, items in lists.items() for item in items]


def _labelled(item: object, group: str) -> object:
    if isinstance(item, str):
        return {"content": item, "category": group}
    return {"category": group, **item} if isinstance(item, Mapping) else item


def is_item(document: object) -> bool:
    """Tell whether an object is itself an item: a sentence under one of the known names."""
    return isinstance(document, Mapping) and any(
        isinstance(value, str) and str(key).strip().lower() in CONTENT_KEYS for key, value in document.items()
    )
