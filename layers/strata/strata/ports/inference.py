"""Models: texts to vectors, and chat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from strata.model.messages import JsonObject


class Embedder(Protocol):
    """Texts to unit vectors."""

    @property
    def name(self) -> str:
        """Model name and revision, stored beside each vector; empty if there is no model."""
        ...

    @property
    def dimensions(self) -> int:
        """Values per vector; 0 if there is no model."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        """Return one little-endian float32 vector per text, in order. Raises InferenceUnavailableError."""
        ...

    def background(self, dense_scripts: int, *, question: bool) -> tuple[float, float]:
        """Return mean and deviation of this model's cosines between texts that have nothing to do with each other.

        It is what makes scores of different models comparable. ``dense_scripts`` says how many of the two texts are
        written without spaces (0–2: Chinese, Japanese, Korean), ``question`` whether one was embedded as a query.
        """
        ...


class VectorStore(Protocol):
    """Vectors by model and text, so that nothing is embedded twice, not even by another process."""

    def get_many(self, model: str, text_hashes: Sequence[str]) -> dict[str, bytes]:
        """Return those vectors that are known, by hash, in one statement."""
        ...

    def put_many(self, model: str, vectors: Mapping[str, bytes], *, now: datetime) -> None:
        """Keep vectors, in one statement; known ones stay as they are."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """A completion."""

    text: str
    finish_reason: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model: str = ""


class Chat(Protocol):
    """A chat model."""

    @property
    def model(self) -> str:
        """The model's name; empty if none is configured."""
        ...

    def complete(
        self,
        messages: Sequence[JsonObject],
        *,
        schema: JsonObject | None = None,
        max_tokens: int,
        timeout_seconds: float,
    ) -> ChatReply:
        """Return one completion at temperature 0. Raises InferenceUnavailableError."""
        ...
