"""Vectors kept in the database: what one process embedded, no other has to embed or pay for again.

Texts embedded together are kept at once: their writes come one by one, and may be cut short. A single text's vector is
kept by the write that it is made for, in the same transaction. Questions are not kept: they seldom come back, and
reading them would cost every search a statement.
"""

from collections.abc import Sequence

from strata.clock import Clock
from strata.errors import StorageUnavailableError
from strata.observability import logger
from strata.policy.digests import text_digest
from strata.ports import Embedder, VectorStore


class RememberedEmbedder:
    """An embedder in front of which a store stands. The store failing costs time, never an answer."""

    def __init__(self, embedder: Embedder, store: VectorStore, clock: Clock) -> None:
        self._embedder = embedder
        self._store = store
        self._clock = clock

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        """Return the model's dimensions."""
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        """Return one vector per text, in order. Raises InferenceUnavailableError."""
        if query or not texts:
            return self._embedder.embed(texts, query=query)
        hashes = {text: text_digest(text) for text in texts}
        known = self._known(list(hashes.values()))
        missing = [text for text, name in hashes.items() if name not in known]
        made = dict(zip((hashes[text] for text in missing), self._embedder.embed(missing), strict=True))
        if len(texts) > 1:
            self._keep(made)
        known |= made
        return [known[hashes[text]] for text in texts]

    def background(self, dense_scripts: int, *, question: bool) -> tuple[float, float]:
        """Return the model's background."""
        return self._embedder.background(dense_scripts, question=question)

    def _known(self, hashes: Sequence[str]) -> dict[str, bytes]:
        try:
            return dict(self._store.get_many(self.name, hashes))
        except StorageUnavailableError as error:
            logger.warning("embeddings.not_read", extra={"code": error.code})
            return {}

    def _keep(self, made: dict[str, bytes]) -> None:
        if not made:
            return
        try:
            self._store.put_many(self.name, made, now=self._clock.now())
        except StorageUnavailableError as error:
            logger.warning("embeddings.not_kept", extra={"code": error.code})
