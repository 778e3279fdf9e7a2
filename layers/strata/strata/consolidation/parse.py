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

CUT_OFF = frozenset(
    {
        *("length", "max_tokens", "model_length", "incomplete", "model_context_window_exceeded"),
        *("content_filter", "content_filtered", "guardrail_intervened", "safety", "recitation", "blocklist"),
        *("prohibited_content", "spii", "refusal", "error", "timeout", "cancelled", "malformed_function_call"),
    }
)
"""Finish reasons after which an answer is not whole."""
LONGEST_CHARS = 400_000
_DEEPEST = 6

_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning|reflection)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_LAST_THOUGHT = re.compile(r".*</(?:think|thinking|thought|reasoning|reflection)>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<(?:think|thinking|thought|reasoning|reflection)>", re.IGNORECASE)
_BETWEEN_LINES = re.compile(r"[\s,，\[\]]*")
"""What stands between the lines of one answer. Anything else between two documents makes the earlier one a draft."""
_FRAME_KEYS = (
    *("memories", "facts", "items", "results", "operations", "candidates", "entries", "records", "list", "data"),
    *("memory", "fact", "result", "output", "response", "answer", "arguments", "parameters", "input"),
    *("tool_calls", "function", "function_call"),
    *("记忆", "事实", "结果", "条目", "列表"),
)
CONTENT_KEYS = (
    *("content", "text", "fact", "memory", "statement", "sentence", "value", "description"),
    *("内容", "事实", "记忆", "文本", "描述"),
)
"""Names under which an item keeps its sentence, in the order in which they are believed."""
_NO_GROUPS = re.compile(
    r"(?:rejected|ignored|discard(?:ed)?|excluded|skipped|dropped|irrelevant|deleted?|removed?|outdated|reason(?:s|ing)?"
    r"|thoughts?|thinking|analysis|notes?|warnings?|errors?|忽略|排除|丢弃|无关|删除|理由|分析|备注)(?:_\w+)?"
)
"""Groups of what a judge did not want to keep."""
_GROUPS = re.compile(
    r"safety|identity|health|allerg|prefer|taboo|decision|adopt|collab|experience|temporary"
    r"|安全|身份|健康|过敏|偏好|喜好|忌|决定|协作|经验|临时"
)
"""Groups whose only member may stand there without a list around it."""


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
    if len(text) > LONGEST_CHARS:
        raise unusable("too_long")
    return _items(_answers(text))


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


def _answers(text: str) -> list[list[object]]:
    """Return every JSON value in a text; those that follow each other like lines are one answer."""
    if text[0] == text[-1] == '"':
        text = _unquoted(text)
    found: list[list[object]] = []
    end, at = 0, begins(text)
    while at is not None:
        follows = bool(found) and _BETWEEN_LINES.fullmatch(text, end, at) is not None
        value, end = _read(text, at)
        found = [*found[:-1], [*found[-1], value]] if follows else [*found, [value]]
        at = _next(text, end)
    return found


def _read(text: str, at: int) -> tuple[object, int]:
    try:
        return read(text, at)
    except Unfinished:
        raise unusable("truncated") from None
    except Malformed:
        raise unusable("malformed") from None


def _next(text: str, end: int) -> int | None:
    """Return where the next value begins, unless that is in an afterthought."""
    at = begins(text, end)
    opening = _OPEN_THOUGHT.search(text, end)
    if at is None or opening is None or opening.start() > at:
        return at
    closing = _LAST_THOUGHT.match(text, opening.end())
    return begins(text, closing.end()) if closing else None


def _unquoted(text: str) -> str:
    """Return the JSON inside a JSON string, or the text itself."""
    try:
        inner = json.loads(text)
    except ValueError:
        return text
    return inner if isinstance(inner, str) else text


def _items(answers: list[list[object]]) -> list[object]:
    """Return the items of the last answer that holds items: what stands before it is a draft or an example."""
    whole = [items for answer in answers if (items := _items_of(answer)) is not None]
    if not whole:
        raise unusable("no_items" if answers else "no_json")
    if not whole[-1] and any(whole):
        raise unusable("ambiguous")  # "…; if there were nothing I would say []", or a draft that was given up
    return whole[-1]


def _items_of(documents: list[object]) -> list[object] | None:
    frames = [frame for document in documents if (frame := _frame(document)) is not None]
    if frames:
        return [item for frame in frames for item in frame]
    return [document for document in documents if is_item(document)] or None


def _frame(document: object, depth: int = 0) -> list[object] | None:
    if isinstance(document, list):
        return _listed(document, depth)
    if not isinstance(document, Mapping) or depth > _DEEPEST:
        return None
    named = {str(key).strip().lower(): value for key, value in document.items()}
    if named.get("error") or named.get("错误"):
        return None
    for key in _FRAME_KEYS:
        if key in named and (inner := _inside(named[key], depth)) is not None:
            return inner
    return _grouped(document)


def _listed(items: list[object], depth: int) -> list[object] | None:
    """Return the items of a list, or of the frames that it is a list of, such as calls of a tool."""
    if not items:
        return items
    frames = [_frame(item, depth + 1) for item in items if isinstance(item, Mapping) and not is_item(item)]
    if frames and len(frames) == len(items) and None not in frames:
        return [item for frame in frames for item in frame or ()]
    return items if any(isinstance(item, str | Mapping) for item in items) else None


def _inside(value: object, depth: int) -> list[object] | None:
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        try:
            return _frame(read(value.strip(), 0)[0], depth + 1)
        except (Unfinished, Malformed):
            return None
    return [value] if is_item(value) else _frame(value, depth + 1)


def _grouped(document: Mapping[str, object]) -> list[object] | None:
    """Return the items of an object that groups or numbers them: ``{"preference": [...], "safety": [...]}``."""
    wanted = {str(key): value for key, value in document.items() if not _NO_GROUPS.fullmatch(str(key).strip().lower())}
    values = list(wanted.values())
    lists = {key: value for key, value in wanted.items() if isinstance(value, list)}
    if values and all(is_item(value) for value in values):
        return values
    if not lists or is_item(document):
        return None
    lone = {key: [value] for key, value in wanted.items() if isinstance(value, str) and _GROUPS.search(key.lower())}
    if len(lists) == 1 < len(values) and not lone:
        return _frame(next(iter(lists.values())))
    groups = lists | lone
    if len(groups) < len(values):
        return None
    return [_labelled(item, key) for key, items in groups.items() for item in items]


def _labelled(item: object, group: str) -> object:
    if isinstance(item, str):
        return {"content": item, "category": group}
    return {"category": group, **item} if isinstance(item, Mapping) else item


def is_item(document: object) -> bool:
    """Tell whether an object is itself an item: a sentence under one of the known names."""
    return (
        isinstance(document, Mapping)
        and not document.get("error")
        and any(isinstance(value, str) and str(key).strip().lower() in CONTENT_KEYS for key, value in document.items())
    )
