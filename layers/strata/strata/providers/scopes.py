"""The names that Strata's collections have at external providers. No other module makes or reads one.

A name is ``strata.<layer>.<tenant>.<owner>``: the layer is ``user``, ``agent`` or ``shared``, the owner a user's id, an
agent's id or a shared collection's name. Services create whatever space they are told of, so a name that is merely
wrong would be an empty space that takes every write: names come from ``cube_of`` alone, and the type says so.

* No two collections share a name: the parts hold no dot and no tilde of their own, and there are always four of them.
* A part is itself if it is short, lower-case ASCII; anything else is a tilde and 32 hex digits of its SHA-256. Some
  services compare ids without case or accents, and none promises otherwise.
* At most 82 characters, no white space: MemOS Cloud takes 100, Mem0 refuses spaces.
"""

import hashlib
import re
from typing import NewType

from strata.errors import NotFoundError, ValidationError
from strata.model.memories import CollectionKind, collection_kind
from strata.ports import ProviderScope

Cube = NewType("Cube", str)
"""A collection's name at a provider."""

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_PREFIX = "strata"
_SHARED = "shared"


def cube_of(tenant: str, collection: str) -> Cube:
    """Return the name of a tenant's collection. Raises ValidationError if either is empty."""
    layer, owner = _layer_and_owner(collection)
    if not tenant or not owner:
        raise ValidationError("A collection needs a tenant and an owner.", fields={"field": "collection"})
    return Cube(".".join((_PREFIX, layer, _part(tenant), _part(owner))))


def layer_of(cube: Cube) -> str:
    """Return the layer in a name: ``user``, ``agent`` or ``shared``."""
    return cube.split(".")[1]


def conversation_of(tenant: str, session_id: str) -> str:
    """Return the name of a session, empty for none; services only weigh by it."""
    return ".".join((_PREFIX, "session", _part(tenant), _part(session_id))) if session_id else ""


def checked_collection(scope: ProviderScope, collection: str, *, whole_tenant: bool = False) -> Cube:
    """Return the collection's name if the scope may reach it.

    A scope that names a user reaches no other user's collection, and one that names an agent no other agent's. A job
    of the product names neither; with ``whole_tenant`` it may act for an operator, whose key is no agent's.

    Raises:
        NotFoundError: the collection is another's.
    """
    layer, owner = _layer_and_owner(collection)
    agent = "" if whole_tenant else scope.agent_id
    own = {CollectionKind.USER: scope.user_id, CollectionKind.AGENT: agent}.get(collection_kind(collection))
    if own and own != owner:
        raise NotFoundError(fields={"layer": layer})
    return cube_of(scope.tenant, collection)


def _layer_and_owner(collection: str) -> tuple[str, str]:
    kind = collection_kind(collection)
    if kind is CollectionKind.SHARED:
        return _SHARED, collection
    return kind.value, collection.partition(":")[2]


def _part(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return "~" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
