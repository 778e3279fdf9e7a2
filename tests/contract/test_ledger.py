"""The read ledger, on every database: who was given which version, at the price of one statement."""

from datetime import timedelta

from strata.model.events import Read
from tests.fakes.library import Shelf
from tests.fakes.statements import listening


def read(shelf: Shelf, number: int, *, version: int = 1, memory_id: str = "m") -> Read:
    return Read(
        memory_id=memory_id,
        version=version,
        agent_id="厨师",
        session_id=f"s{number}",
        request_id=f"q{number}",
        collection="user:u",
        read_at=shelf.clock.now() + timedelta(seconds=number),
    )


def test_readers_come_newest_first(shelf: Shelf) -> None:
    reads = [read(shelf, 0), read(shelf, 1, version=2), read(shelf, 2), read(shelf, 3, memory_id="other")]
    shelf.ledger.record(shelf.tenant, reads)
    assert shelf.ledger.readers(shelf.tenant, "m") == [reads[2], reads[1], reads[0]]
    assert shelf.ledger.readers(shelf.tenant, "m", version=2) == [reads[1]]
    assert shelf.ledger.readers(shelf.tenant, "m", limit=1) == [reads[2]]
    assert shelf.ledger.readers("another tenant", "m") == []


def test_many_deliveries_are_one_statement(shelf: Shelf) -> None:
    with listening(shelf.database) as statements:
        shelf.ledger.record(shelf.tenant, [read(shelf, number) for number in range(40)])
        shelf.ledger.record(shelf.tenant, [])
    assert len(statements) == 1
    assert len(shelf.ledger.readers(shelf.tenant, "m")) == 40
