"""Unit vectors by slot in one growing float32 matrix; similarity is one matrix-vector product.

numpy is imported when the first matrix is made: keyword search works on a machine without it.
"""

from functools import lru_cache
from importlib.util import find_spec

from strata.ranking.columns import Array

FIRST_ROWS = 64
BYTES_PER_VALUE = 4
RENEWED_SHARE = 10


class VectorMatrix:
    """Vectors of one model in numbered slots. Not locked; the owner serialises."""

    def __init__(self, dimensions: int) -> None:
        import numpy as np

        self._numpy = np
        self.dimensions = dimensions
        self._rows: Array = np.zeros((0, dimensions), dtype=np.float32)
        self._used: set[int] = set()
        self._mean: Array | None = None
        self._nearness: Array = np.zeros(0, dtype=np.float32)
        self._changes = 0
        """Since the mean was taken."""
        self._unread: set[int] = set()
        """Slots whose nearness is not known."""

    def put(self, slot: int, vector: bytes) -> bool:
        """Keep a vector; tell whether it fits the model (one of another length is left out)."""
        if len(vector) != BYTES_PER_VALUE * self.dimensions:
            return False
        self._reserve(slot + 1)
        self._rows[slot] = self._numpy.frombuffer(vector, dtype="<f4")
        self._used.add(slot)
        self._note(slot)
        return True

    def clear(self, slot: int) -> None:
        """Forget the vector of a slot."""
        if slot in self._used:
            self._rows[slot] = 0.0
            self._used.discard(slot)
            self._note(slot)

    def cosines(self, query: bytes, count: int) -> Array:
        """Return the cosine of the query with the first ``count`` slots; 0 for slots without a vector."""
        self._reserve(count)
        found: Array = self._rows[:count] @ self._numpy.frombuffer(query, dtype="<f4")
        return found

    def nearness(self, count: int) -> Array:
        """Return how near each of the first ``count`` slots is to the mean of all; 0 for slots without a vector.

        The mean is taken again when a tenth of the slots have changed: a write costs its own row, not all of them.
        """
        self._reserve(count)
        if self._mean is None or self._changes * RENEWED_SHARE > len(self._used):
            self._mean = self._rows.sum(axis=0) / max(1, len(self._used))
            self._nearness = self._rows @ self._mean
            self._changes = 0
        elif self._unread:
            slots = list(self._unread)
            self._nearness[slots] = self._rows[slots] @ self._mean
        self._unread.clear()
        return self._nearness[:count]

    def _note(self, slot: int) -> None:
        self._changes += 1
        self._unread.add(slot)

    def _reserve(self, rows: int) -> None:
        if rows <= len(self._rows):
            return
        grown = self._numpy.zeros((max(FIRST_ROWS, rows, 2 * len(self._rows)), self.dimensions), dtype="float32")
        grown[: len(self._rows)] = self._rows
        self._rows = grown
        self._nearness = self._numpy.append(self._nearness, self._numpy.zeros(len(grown) - len(self._nearness), "f4"))


@lru_cache(maxsize=1)
def numpy_is_there() -> bool:
    """Tell whether semantic search is possible at all."""
    return find_spec("numpy") is not None
