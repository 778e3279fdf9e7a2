"""The state of every dependency, asked in bounded time."""

from collections.abc import Callable

from strata.bootstrap.stores import Stores
from strata.errors import StrataError
from strata.model.sessions import SessionKey
from strata.storage.schema import schema_version

PROBE = SessionKey(tenant="health", session_id="health")
"""A session that nobody has; asking for it costs one round trip."""


def states(stores: Stores) -> dict[str, dict[str, str]]:
    """Return ``state`` and ``detail`` per dependency: ``ok``, ``degraded``, ``down`` or ``off``."""
    return {
        "database": _asked(lambda: schema_version(stores.database), "down"),
        "cache": _asked(lambda: stores.cache.get_working(PROBE), "degraded"),
        "embedding": {"state": "ok", "detail": stores.embedder.name}
        if stores.embedder.dimensions
        else {"state": "off", "detail": "No embedding model: search goes by keywords."},
    }


def _asked(question: Callable[[], object], otherwise: str) -> dict[str, str]:
    try:
        question()
    except StrataError as error:
        return {"state": otherwise, "detail": f"{error.code}: {error.message}"}
    return {"state": "ok", "detail": ""}


def schema(stores: Stores) -> str:
    """Return the database's revision; empty if it cannot be asked."""
    try:
        return schema_version(stores.database)
    except StrataError:
        return ""
