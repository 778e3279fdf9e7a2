"""A refusal looks like an absence to the caller and is an event in the audit trail."""

from datetime import datetime

from strata.model.events import NewEvent
from strata.ports import Access
from strata.storage.engine import Database
from strata.storage.events import append_event


def refusal(access: Access, collection: str, memory_id: str, operation: str) -> NewEvent:
    """Return the event that tells who was refused what."""
    return NewEvent(
        kind="access.refused",
        actor=access.agent_id,
        collection=collection,
        memory_id=memory_id,
        detail={"operation": operation},
    )


def record_refusal(
    database: Database, access: Access, collection: str, memory_id: str, operation: str, now: datetime
) -> None:
    """Enter a refusal, in a transaction of its own."""
    event = refusal(access, collection, memory_id, operation)
    database.write(lambda connection: append_event(connection, access.tenant, event, now))
