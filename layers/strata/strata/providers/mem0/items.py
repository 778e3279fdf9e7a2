"""What both Mem0 products have in common: entities, entries, times of expiry."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from strata.model.memories import CollectionKind
from strata.providers.answers import Answer
from strata.providers.items import Item, instant, mapping, number, objects, text
from strata.providers.scopes import Cube, layer_of
from strata.providers.wire import Entry

THRESHOLD = 0.1
"""The service's own default, said out loud: it gates the semantic part only."""


def entity_of(cube: Cube) -> str:
    """Return the kind of entity that a collection is: an agent's layer is an agent, everything else a user."""
    return "agent_id" if layer_of(cube) == CollectionKind.AGENT.value else "user_id"


def items_of(answer: Answer, cubes: frozenset[Cube]) -> list[Item]:
    """Read the results of a search or a listing; those of other entities than the ones named are left out.

    Raises:
        ProviderProtocolError: there is no list of results.
    """
    results = answer.document().get("results")
    if not isinstance(results, list):
        answer.unusable("it has no list of results")
    return [item for entry in objects(results) for item in read_entry(entry, cubes)]


def read_entry(entry: Mapping[str, Any], cubes: frozenset[Cube]) -> Iterator[Item]:
    """Read one entry, if it belongs to one of the cubes."""
    external_id = text(entry.get("id"))
    cube = next((cube for cube in cubes if entry.get(entity_of(cube)) == cube), None)
    if external_id and cube is not None:
        created, updated = instant(entry.get("created_at")), instant(entry.get("updated_at"))
        yield Item(
            external_id=external_id,
            cube=cube,
            text=text(entry.get("memory")),
            marks=mapping(entry.get("metadata")),
            score=number(entry.get("score")),
            created_at=created,
            updated_at=updated,
            rewritten=_is_changed(created, updated),
        )


def add_body(entry: Entry) -> dict[str, Any]:
    """Return what an add says: the memory as it stands, because it has been judged already.

    With ``infer`` a model would extract again, in its own words and its own language, and answer an empty list where it
    found nothing or was not understood.
    """
    body: dict[str, Any] = {
        "messages": [{"role": "user", "content": entry.draft.content}],
        entity_of(entry.cube): entry.cube,
        "metadata": dict(entry.marks),
        "infer": False,
    }
    if entry.draft.expires_at:
        body["expiration_date"] = _last_day(entry.draft.expires_at)
    return body


def added_ids(results: object) -> tuple[str, ...]:
    """Return the ids in an add's results."""
    return tuple(text(entry.get("id")) for entry in objects(results) if text(entry.get("id")))


def _last_day(expires_at: datetime) -> str:
    """Return the first day on which nobody may see it, whatever the zone; to the second Strata looks itself."""
    last = min(expires_at.astimezone(UTC).date(), date.max - timedelta(days=1))
    return (last + timedelta(days=1)).isoformat()


def _is_changed(created: datetime | None, updated: datetime | None) -> bool:
    """Whether it was updated well after it was stored; the two times of one insert may differ a little."""
    return created is not None and updated is not None and updated - created > timedelta(minutes=1)
