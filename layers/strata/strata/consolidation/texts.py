"""What was said, as plain text: parts joined, injected memory taken out, the language told."""

import re

from strata.model.messages import Kind, Message, Role

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN = re.compile(f"[{CJK}]")
_KANA_OR_HANGUL = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
_LATIN_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?")
_UNIT = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_CHINESE_SHARE = 0.3
"""From this share of Chinese words (two characters each) on, a text is Chinese with foreign names in it."""


def spoken(message: Message) -> str:
    """Return a message's text; images and other parts are left out."""
    content = message.content
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in content if isinstance(part.get("text"), str))


def is_said(message: Message) -> bool:
    """Tell whether a message is part of the talk: neither an instruction of the platform nor an event."""
    return message.kind is not Kind.EVENT and message.role is not Role.SYSTEM


def is_of_user(message: Message) -> bool:
    """Tell whether the user said it."""
    return message.role is Role.USER and message.kind is Kind.CHAT


def has_han(text: str) -> bool:
    """Tell whether there is a Chinese character in it."""
    return bool(_HAN.search(text))


def is_chinese(text: str) -> bool:
    """Tell whether a text is Chinese, also with English names in it; Japanese and Korean are not."""
    if _KANA_OR_HANGUL.search(text):
        return False
    words = len(_HAN.findall(text)) / 2
    return words > 0 and words >= _CHINESE_SHARE * (words + len(_LATIN_WORD.findall(text)))


def units(text: str) -> set[str]:
    """Return what a text is made of: pairs of Han characters, and words of other scripts in lower case."""
    found: set[str] = set()
    for run in _UNIT.findall(text.lower()):
        if has_han(run):
            found.update(run[place : place + 2] for place in range(max(1, len(run) - 1)))
        elif len(run) > 2 or run.isdigit():  # noqa: PLR2004 (I, a, of: they are in every text)
            found.add(run)
    return found


def support(claim: str, text: str) -> float:
    """Return the share of a claim's units that a text holds, 0–1."""
    wanted = units(claim)
    return len(wanted & units(text)) / len(wanted) if wanted else 0.0
