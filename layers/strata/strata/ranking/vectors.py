"""Unit vectors by slot in one growing float32 matrix; similarity is one matrix-vector product.

numpy is imported when the first matrix is made: keyword search works on a machine without it.
"""

from functools import lru_cache
from importlib.util import find_spec

from strata.ranking.columns import Array

FIRST_ROWS = 64
BYTES_PER_VALUE = 4


class VectorMatrix:
    """Vectors of one model in numbered slots. Not locked; the owner serialises."""

    def __init__(self, dimensions: int) -> None:
        import numpy as np

        self._numpy = np
        self.dimensions = dimensions
        self._rows: Array = np.zeros((0, dimensions), dtype=np.float32)

    def put(self, slot: int, vector: bytes) -> bool:
        """Keep a vector; tell whether it fits the model (one of another length is left out)."""
        if len(vector) != BYTES_PER_VALUE * self.dimensions:
            return False
        self._reserve(slot + 1)
        self._rows[slot] = self._numpy.frombuffer(vector, dtype="<f4")
        return True

    def clear(self, slot: int) -> None:
        """Forget the vector of a slot."""
        if slot < len(self._rows):
            self._rows[slot] = 0.0

    def cosines(self, query: bytes, count: int) -> Array:
        """Return the cosine of the query with the first ``count`` slots; 0 for slots without a vector."""
        self._reserve(count)
        found: Array = self._rows[:count] @ self._numpy.frombuffer(query, dtype="<f4")
        return found

    def _reserve(self, rows: int) -> None:
        if rows <= len(self._rows):
            return
        grown = self._numpy.zeros((max(FIRST_ROWS, rows, 2 * len(self._rows)), self.dimensions), dtype="float32")
        grown[: len(self._rows)] = self._rows
        self._rows = grown


@lru_cache(maxsize=1)
def numpy_is_there() -> bool:
    """Tell whether semantic search is possible at all."""
    return find_spec("numpy") is not None
