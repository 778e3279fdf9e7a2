"""Strata: the memory of a multi-agent platform."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strata.client import MemoryClient

__version__ = "0.1.0"
__all__ = ["MemoryClient", "__version__"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 what the module attribute is
    """Load the client on first use: functions import ``strata`` and have no need of it."""
    if name == "MemoryClient":
        from strata.client import MemoryClient

        return MemoryClient
    message = f"module 'strata' has no attribute {name!r}"
    raise AttributeError(message)
