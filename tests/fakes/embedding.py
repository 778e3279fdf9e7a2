"""An embedder that knows which words a text has: texts with words in common are close, others are not."""

import math
import struct
import zlib
from collections.abc import Sequence

from strata.errors import InferenceUnavailableError
from strata.ranking.tokens import terms


class WordEmbedder:
    """Hashes words into a vector of unit length; can be away."""

    def __init__(self, *, name: str = "words", dimensions: int = 256) -> None:
        self.name = name
        self.dimensions = dimensions
        self.away = False
        self.asked: list[tuple[str, bool]] = []

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        if self.away:
            raise InferenceUnavailableError
        self.asked += [(text, query) for text in texts]
        return [self._vector(text) for text in texts]

    def background(self, dense_scripts: int, *, question: bool) -> tuple[float, float]:
        return 0.05, 0.12

    def _vector(self, text: str) -> bytes:
        values = [0.0] * self.dimensions
        for word in terms(text) or ["nothing"]:
            values[zlib.crc32(word.encode()) % self.dimensions] += 1.0
        length = math.sqrt(sum(value * value for value in values))
        return struct.pack(f"<{self.dimensions}f", *(value / length for value in values))
