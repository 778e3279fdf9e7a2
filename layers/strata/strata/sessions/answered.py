"""What of a model's answer is a summary: without its thoughts and wrappers, and unable to be anything but text.

A summary stands in a system message, and part of it are words that users and tools chose. So what a chat template or a
reader would take for a turn or a section is broken up here, before it is counted and stored.
"""

import re
import unicodedata

from strata.ports import ChatReply

_ENDED = frozenset({"", "stop", "end_turn", "stop_sequence", "eos", "eos_token", "complete", "completed"})
"""How a completion ends that ended by itself; whatever else is told, part of it is missing."""
_THOUGHT = r"(?:think(?:ing)?|reason(?:ing)?|thought|analysis|scratchpad)"
_THOUGHTS = re.compile(rf"<{_THOUGHT}\b[^>]*>.*?</{_THOUGHT}>", re.DOTALL | re.IGNORECASE)
_REST_OF_THOUGHTS = re.compile(rf"\A.*</{_THOUGHT}>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(rf"<{_THOUGHT}\b[^>]*>", re.IGNORECASE)
_FENCED = re.compile(r"\A```\w*\n(.*)\n```\Z", re.DOTALL)
_REFUSAL = re.compile(
    r"\A(?:(?:i['’]?m|i am) (?:sorry|unable|not able)|sorry\b|i (?:can(?:no|['’])t|cannot)\b"
    r"|as an? (?:ai|language model)|抱歉|对不起|很遗憾"
    r"|作为(?:一个|一名)?(?:AI|人工智能|语言模型)|我(?:无法|不能|没法))",
    re.IGNORECASE,
)
_LONGEST_REFUSAL = 200
_TAG = re.compile(r"<(?=[|｜/!]|[A-Za-z_]{2,40}[^<>\n]{0,80}>)|<(?=<)")
_MARK = re.compile(r"\[(/?(?:INST|SYS|SYSTEM|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS))\]", re.IGNORECASE)


def summary_of(reply: ChatReply) -> str:
    """Return the summary in an answer; empty if there is none that can be used."""
    if reply.finish_reason.lower() not in _ENDED:
        return ""
    text = _unwrapped(_without_thoughts(reply.text))
    if len(text) <= _LONGEST_REFUSAL and _REFUSAL.search(text):
        return ""
    return _MARK.sub(r"[ \1 ]", _TAG.sub("‹", "".join(filter(_storable, text)))).strip()


def _without_thoughts(text: str) -> str:
    """Return what is said after thinking aloud; nothing, if the thinking has no end."""
    rest = _REST_OF_THOUGHTS.sub("", _THOUGHTS.sub("", text))
    opening = _OPEN_THOUGHT.search(rest)
    return rest[: opening.start()] if opening else rest


def _unwrapped(text: str) -> str:
    bare = text.strip()
    fenced = _FENCED.match(bare)
    return fenced[1].strip() if fenced else bare


def _storable(character: str) -> bool:
    return character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cs"}
