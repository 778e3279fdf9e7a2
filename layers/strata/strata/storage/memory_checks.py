"""Which memories of a list an agent may see at this moment, and at which version: rights without contents.

An index in memory knows what it would deliver; what it may deliver, and whether that is still the present version, only
the database knows. The statement is built once per number of ids (rounded up) and has no list to unfold at each call.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import BindParameter, Select, bindparam, literal, select, union_all
from sqlalchemy.types import TypeEngine

from strata.model.memories import MemoryType
from strata.storage.columns import Id
from strata.storage.rights import TENANT, live, may, memory_allows
from strata.storage.statements import Statement
from strata.storage.tables import collections, memory_table

LEAST_PLACES = 16
MOST_PLACES = 1_024
"""Each id stands in a statement once per memory type, and SQLite takes some ten thousand parameters."""


@lru_cache(maxsize=128)
def present_versions(types: tuple[MemoryType, ...], places: int, *, bypass: bool) -> Statement:
    """Return the query for id and version of those memories that are live and that the agent may read."""
    found = union_all(*(_branch(memory_type, places, bypass=bypass) for memory_type in types)).subquery("found")
    same = (collections.c.tenant == found.c.tenant) & (collections.c.name == found.c.collection)
    query = select(found.c.memory_id, found.c.version).join(collections, same)
    return Statement(query.where(may("read", bypass=bypass, memory_type=found.c.memory_type)))


def listed_parameters(ids: Sequence[str], places: int) -> Mapping[str, str]:
    """Return the parameters for a list of ids; the last one fills the places left over."""
    padded = [*ids, *[ids[-1]] * (places - len(ids))]
    return dict(zip(_places(places), padded, strict=True))


def parted(ids: Sequence[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Give a list of ids in parts that one statement takes: its number of places, and the parameters for them."""
    for start in range(0, len(ids), MOST_PLACES):
        part = ids[start : start + MOST_PLACES]
        places = places_for(len(part))
        yield places, listed_parameters(part, places)


def places_for(count: int, *, least: int = LEAST_PLACES) -> int:
    """Return the number of ids that the statement for ``count`` of them takes: a power of two."""
    return max(least, 1 << (count - 1).bit_length())


def listed(places: int, kind: TypeEngine[str] | None = None) -> list[BindParameter[str]]:
    """Return the parameters of a list with so many places (ids, if no kind is given) for ``listed_parameters``."""
    return [bindparam(name, type_=kind or Id()) for name in _places(places)]


def _branch(memory_type: MemoryType, places: int, *, bypass: bool) -> Select[Any]:
    memory = memory_table(memory_type.table).alias("m")
    query = select(
        literal(memory_type.name, Id()).label("memory_type"),
        memory.c.tenant,
        memory.c.collection,
        memory.c.memory_id,
        memory.c.version,
    )
    return query.where(
        memory.c.tenant == TENANT,
        memory.c.memory_id.in_(listed(places)),
        live(memory),
        memory_allows("read", memory, bypass=bypass),
    )


@lru_cache(maxsize=16)
def _places(count: int) -> tuple[str, ...]:
    return tuple(f"listed_{number}" for number in range(count))
