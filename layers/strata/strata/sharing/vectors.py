"""The vectors of memories: what is kept is not made again, and without a model there is none."""

from dataclasses import replace

from strata.errors import InferenceUnavailableError
from strata.ports import Embedder, MemoryDraft, Opening


class Vectors:
    """Vectors of stored texts."""

    def __init__(self, embedder: Embedder, model: Embedder | None = None) -> None:
        """``model``: makes vectors that are known not to be kept; ``embedder``, unless it looks for them itself."""
        self._embedder = embedder
        self._model = model or embedder

    @property
    def name(self) -> str:
        """Return the model's name; empty if there is none."""
        return self._embedder.name

    def of(self, content: str) -> tuple[bytes | None, str]:
        """Return the vector of a text and the model that made it; nothing if there is no model at the moment."""
        return self._made(self._embedder, content)

    def given_to(self, draft: MemoryDraft, opening: Opening) -> MemoryDraft:
        """Return a draft with its vector: the one that is kept, or else a new one."""
        vector, model = opening.vector, self.name
        if vector is None:
            vector, model = self._made(self._model if opening.is_complete else self._embedder, draft.content)
        return replace(draft, embedding=vector, embedding_model=model)

    def _made(self, embedder: Embedder, content: str) -> tuple[bytes | None, str]:
        if not self.name:
            return None, ""
        try:
            return embedder.embed([content])[0], self.name
        except InferenceUnavailableError:
            return None, ""
