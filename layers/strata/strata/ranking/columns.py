"""Growing numpy columns: one value per slot and name, as cheap to append to as to scan."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]
else:
    Array: TypeAlias = Any

FIRST_SLOTS = 64

KINDS: Mapping[str, str] = {
    "live": "?",
    "embedded": "?",
    "dense_script": "?",
    "question": "?",
    "expires": "f8",
    "length": "f8",
    "year": "i2",
    "month": "i2",
    "day": "i2",
    "speaker": "i4",
    "session": "i4",
    "previous": "i4",
    "following": "i4",
}
"""Column → numpy type.

``expires`` is in seconds since 1970, ``length`` the natural logarithm of the number of terms; ``previous`` and
``following`` are slots, −1 = none.
"""


class Columns:
    """The features of numbered slots. Not locked; the owner serialises."""

    def __init__(self) -> None:
        import numpy as np

        self._numpy = np
        self._arrays: dict[str, Array] = {name: np.zeros(0, dtype=kind) for name, kind in KINDS.items()}
        self._room = 0

    def put(self, slot: int, values: Mapping[str, float]) -> None:
        """Set some columns of a slot."""
        self._reserve(slot + 1)
        for name, value in values.items():
            self._arrays[name][slot] = value

    def view(self, name: str, count: int) -> Array:
        """Return the first ``count`` values; valid until the next ``put``."""
        self._reserve(count)
        return self._arrays[name][:count]

    def _reserve(self, slots: int) -> None:
        if slots <= self._room:
            return
        self._room = max(FIRST_SLOTS, slots, 2 * self._room)
        for name, old in self._arrays.items():
            grown = self._numpy.zeros(self._room, dtype=old.dtype)
            grown[: len(old)] = old
            self._arrays[name] = grown
