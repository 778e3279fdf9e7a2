"""Embeddings by a service: batches, limits, repeats and a breaker around one call to an endpoint.

The scale of an unknown model's cosines is measured once, on everyday questions and facts that have nothing to do with
each other, in Chinese and in English (``anchors``).
"""

import array
import math
import random
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from strata.clock import Clock
from strata.config import Inference
from strata.errors import InferenceUnavailableError, StrataError
from strata.inference.anchors import Scale, measured
from strata.inference.breaker import Breaker
from strata.inference.local_embedding import NoEmbedder, local_embedder
from strata.ports import Embedder

BEDROCK = "bedrock://"
MAX_CHARS = 8_000
"""Characters of one text: below every model's limit of tokens in English, and in Chinese."""
MAX_CALL_CHARS = 100_000
"""Characters of one call."""
ATTEMPTS = 3
"""Tries of one call; an embedding may be asked for twice without harm."""
QUERY_ATTEMPTS = 2
"""Somebody is waiting for a question."""
PAUSE_SECONDS = 0.2
"""Longest pause before the second try; it doubles from try to try, and chance shortens it."""

Call = Callable[[Sequence[str], bool], list[list[float]]]
"""(texts, question?) → a vector per text. Raises InferenceUnavailableError if a repeat may help, else TerminalError."""

ReadSecret = Callable[[str], str]
"""From a secret's name or ARN to its text."""


class EndpointEmbedder:
    """Implements ``strata.ports.Embedder`` over a call. Safe to share between threads."""

    def __init__(self, name: str, call: Call, clock: Clock, *, batch: int) -> None:
        self.name = name
        self._call = call
        self._clock = clock
        self._batch = batch
        self._breaker = Breaker(clock)
        self._lock = threading.Lock()
        self._scale: Scale | None = None

    @property
    def dimensions(self) -> int:
        """Values per vector; 0 until the endpoint has answered for the first time."""
        return self._scale.dimensions if self._scale else 0

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        """Return one little-endian float32 vector of unit length per text, in order.

        Raises:
            InferenceUnavailableError: the endpoint does not answer, or is kept from being asked after failures.
            InferenceRejectedError: the endpoint refuses the request; a repeat cannot help.
        """
        if not texts:
            return []
        self._know_scale()
        return [_packed(vector) for vector in self._vectors(texts, query=query)]

    def background(self, dense_scripts: int, *, question: bool) -> tuple[float, float]:
        """Return mean and deviation of the cosine of unrelated texts."""
        return self._scale.background(dense_scripts, question=question) if self._scale else (0.0, 1.0)

    def _know_scale(self) -> None:
        with self._lock:
            if self._scale is None:
                self._scale = measured(self._vectors)

    def _vectors(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        distinct = list(dict.fromkeys(_shortened(text) for text in texts))
        found: dict[str, list[float]] = {}
        for part in _parts(distinct, self._batch):
            vectors = self._asked(part, query=query)
            if len(vectors) != len(part):
                raise InferenceUnavailableError(fields={"reason": "protocol"})
            found |= {text: _unit(vector) for text, vector in zip(part, vectors, strict=True)}
        return [found[_shortened(text)] for text in texts]

    def _asked(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        attempts = QUERY_ATTEMPTS if query else ATTEMPTS
        for attempt in range(1, attempts + 1):
            self._breaker.enter()
            try:
                vectors = self._call(texts, query)
            except StrataError as error:
                if not error.retryable:
                    self._breaker.succeeded()
                    raise
                self._breaker.failed()
                if attempt == attempts:
                    raise
            else:
                self._breaker.succeeded()
                return vectors
            self._clock.sleep(random.uniform(0.0, PAUSE_SECONDS * 2 ** (attempt - 1)))  # noqa: S311 jitter, no secret
        raise InferenceUnavailableError


def open_embedder(settings: Inference, secrets: ReadSecret, clock: Clock) -> Embedder:
    """Return the embedder of the settings; nothing is connected, fetched or loaded before the first call."""
    if not (settings.embed_url and settings.embed_model):
        return local_embedder() if settings.local_embedding else NoEmbedder()
    return EndpointEmbedder(settings.embed_model, _call(settings, secrets), clock, batch=settings.embed_batch)


def _call(settings: Inference, secrets: ReadSecret) -> Call:
    if settings.embed_url.startswith(BEDROCK):
        from strata.inference.bedrock_embed import BedrockEmbeddings

        return BedrockEmbeddings(settings.embed_model, timeout_seconds=settings.embed_timeout_seconds)
    from strata.inference.openai_embed import OpenAIEmbeddings

    return OpenAIEmbeddings(
        settings.embed_url,
        settings.embed_model,
        _key(settings, secrets),
        timeout_seconds=settings.embed_timeout_seconds,
    )


def _key(settings: Inference, secrets: ReadSecret) -> Callable[[], str]:
    if settings.embed_key or not settings.embed_key_secret:
        return lambda: settings.embed_key

    @lru_cache(maxsize=1)
    def fetched() -> str:
        return secrets(settings.embed_key_secret)

    return fetched


def _shortened(text: str) -> str:
    """Services refuse an empty text."""
    return text[:MAX_CHARS] if text.strip() else "-"


def _parts(texts: Sequence[str], batch: int) -> Iterator[list[str]]:
    part: list[str] = []
    for text in texts:
        if part and (len(part) == batch or sum(map(len, part)) + len(text) > MAX_CALL_CHARS):
            yield part
            part = []
        part.append(text)
    if part:
        yield part


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(math.fsum(value * value for value in vector))
    if not math.isfinite(length) or length == 0.0:
        raise InferenceUnavailableError(fields={"reason": "protocol"})
    return [value / length for value in vector]


def _packed(vector: Sequence[float]) -> bytes:
    packed = array.array("f", vector)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
