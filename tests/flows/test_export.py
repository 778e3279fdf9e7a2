"""The export of a user that is too large for one answer: page by page, each thing once, whatever happens in between."""

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from strata import MemoryClient, config
from strata.clock import FakeClock
from strata.errors import ValidationError
from strata.maintenance.export import weight_of
from strata.maintenance.portions import place_of
from strata.model.messages import NewMessage, Role
from strata.model.sessions import SessionKey
from strata.ports import Counted
from strata.sharing.units import NewUnit, UnitChange
from strata.storage.engine import open_database
from strata.storage.schema import migrate
from strata.storage.users import SqlUserStore
from tests.fakes.library import Shelf
from tests.flows.test_maintenance import House

PARTS = ("sessions", "memories", "quarantined", "provider_copies")
LAYER = "user:ann"
SMALL = 3_000
WRITTEN_TO = 12
"""Pages; behind so many somebody writes."""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """Ann has five sessions, six memories with versions, texts in quarantine, and a copy at a provider."""
    clock = FakeClock()
    database = open_database(config.Database(url=f"sqlite:///{tmp_path / 'strata.db'}"), clock)
    migrate(database)
    made = House(Shelf(database, clock, "t"))
    for number in range(5):
        say(made, f"s{number}", *(f'第 {place} 句 🍵 "quoted"' for place in range(4 * number)))
        clock.advance(number % 2)
    for number in range(6):
        unit = NewUnit(memory_type="user_preference", content=f"{number} 喜欢", memory_id=f"m{number}")
        made.shelf.library.insert(made.shelf.access("adviser"), LAYER, unit)
        for version in range(number):
            change(made, f"m{number}", f"{number} 喜欢 {version}")
    yield made
    database.close()


def say(house: House, session_id: str, *texts: str) -> None:
    key = SessionKey(tenant="t", session_id=session_id)
    said = [NewMessage(role=Role.USER, content=text) for text in texts or ("你好",)]
    counted = [Counted(message=message, tokens=3, digest=f"{number:032}") for number, message in enumerate(said)]
    house.log.append(key, "ann", "adviser", counted, now=house.shelf.clock.now())


def change(house: House, memory_id: str, content: str) -> None:
    house.shelf.library.update(house.shelf.access("adviser"), LAYER, memory_id, UnitChange(content=content))


def pages(house: House, most_bytes: int, between: Callable[[int], None] = lambda _number: None) -> list[dict[str, Any]]:
    """Follow the cursor to the end."""
    found = [house.export.export(house.shelf.admin, "ann", most_bytes=most_bytes)]
    while found[-1]["next"] is not None:
        between(len(found))
        after = found[-1]["next"]
        found.append(house.export.export(house.shelf.admin, "ann", after=after, most_bytes=most_bytes))
    return found


def client_of(house: House, most_bytes: int) -> MemoryClient:
    """A client whose service is the house."""

    def answer(request: httpx.Request) -> httpx.Response:
        after = request.url.params.get("after", "")
        page = house.export.export(house.shelf.admin, "ann", after=after, most_bytes=most_bytes)
        return httpx.Response(200, json=page)

    return MemoryClient("http://x", "admin", "sk_1", transport=httpx.MockTransport(answer))


def things(page: dict[str, Any]) -> Counter[tuple[str, ...]]:
    """What a page holds, by name; entries that go on count with their steps only."""
    named: list[tuple[str, ...]] = []
    for entry in page["sessions"]:
        named += [("message", entry["key"]["session_id"], str(one["seq"])) for one in entry["messages"]]
    for entry in page["memories"]:
        named += [("version", entry["memory_id"], str(one["version"])) for one in entry["history"]]
    named += [("text", entry["quarantine_id"]) for entry in page["quarantined"]]
    named += [("copy", entry["external_id"]) for entry in page["provider_copies"]]
    return Counter(named)


def all_things(found: list[dict[str, Any]]) -> Counter[tuple[str, ...]]:
    return sum((things(page) for page in found), Counter())


def test_what_has_run_out_is_left_out_before_the_purge_comes(house: House) -> None:
    unit = NewUnit(
        memory_type="temporary_constraint", content="临时口令只在今天有效", memory_id="short", ttl_seconds=60
    )
    house.shelf.library.insert(house.shelf.access("adviser"), LAYER, unit)
    before = [memory["memory_id"] for memory in house.export.export(house.shelf.admin, "ann")["memories"]]
    house.shelf.clock.advance(60)
    after = [memory["memory_id"] for memory in house.export.export(house.shelf.admin, "ann")["memories"]]
    assert set(before) - set(after) == {"short"}


def test_what_fits_is_one_answer(house: House) -> None:
    whole = house.export.export(house.shelf.admin, "ann", most_bytes=10_000_000)
    assert (whole["next"], whole["manifest"]["complete"]) == (None, True)
    unbounded = house.export.export(house.shelf.admin, "ann")
    assert whole == unbounded
    assert [entry["key"]["session_id"] for entry in whole["sessions"]] == ["s-ann", "s0", "s1", "s2", "s3", "s4"]


@pytest.mark.parametrize("most_bytes", [1, 400, 1_000, SMALL, 10_000, 40_000])
def test_pages_put_together_are_the_whole(house: House, most_bytes: int) -> None:
    whole = house.export.export(house.shelf.admin, "ann")
    found = pages(house, most_bytes)
    assert len(found) > 1
    assert [page["manifest"]["complete"] for page in found] == [False] * (len(found) - 1) + [True]
    assert all_things(found) == things(whole)
    joined = client_of(house, most_bytes).export_user("ann")
    assert joined == {name: value for name, value in whole.items() if name != "next"}


@pytest.mark.parametrize("most_bytes", [1_000, SMALL, 10_000])
def test_a_page_is_within_its_bound_unless_one_thing_is_not(house: House, most_bytes: int) -> None:
    for page in pages(house, most_bytes):
        weight = weight_of({name: page[name] for name in PARTS})
        assert weight <= most_bytes * 1.1 + 200 or sum(things(page).values()) <= 1


def test_a_page_counts_and_hashes_itself(house: House) -> None:
    for page in pages(house, SMALL):
        assert {name: part["count"] for name, part in page["manifest"]["parts"].items()} == {
            name: len(page[name]) for name in PARTS
        }


def test_what_is_there_all_the_while_comes_once(house: House) -> None:
    """Between any two pages somebody writes into what is read, in front of it and behind it."""
    before = things(house.export.export(house.shelf.admin, "ann"))

    def write(number: int) -> None:
        if number > WRITTEN_TO:
            return
        house.shelf.clock.advance(1)
        for session in ("s0", "s2", "s4", f"a{number}", f"z{number}"):
            say(house, session, f"new {number}")
        for memory in ("m0", "m3", "m5"):
            change(house, memory, f"{memory} changed {number}")
        for memory_id in (f"a{number}", f"m2{number}", f"z{number}"):
            unit = NewUnit(memory_type="price_alert", content=f"{memory_id} new {number}", memory_id=memory_id)
            house.shelf.library.insert(house.shelf.access("adviser"), LAYER, unit)

    found = all_things(pages(house, SMALL, write))
    assert set(before) <= set(found)
    assert set(found.values()) == {1}


def test_what_goes_meanwhile_holds_nothing_up(house: House) -> None:
    """The session and the memory that an export stands in are removed, and it goes on behind them."""
    first = house.export.export(house.shelf.admin, "ann", most_bytes=SMALL)
    rest = things(house.export.export(house.shelf.admin, "bob"))
    store = SqlUserStore(house.shelf.database, house.shelf.types)
    store.erase_sessions("t", "ann", actor="admin", now=house.shelf.clock.now())
    store.erase_memories("t", "ann", actor="admin", now=house.shelf.clock.now())
    after = first["next"]
    assert after is not None
    following = house.export.export(house.shelf.admin, "ann", after=after, most_bytes=SMALL)
    assert (following["next"], following["sessions"], following["memories"]) == (None, [], [])
    assert things(house.export.export(house.shelf.admin, "bob")) == rest


def test_an_entry_goes_on_with_what_it_had_when_it_was_begun(house: House) -> None:

    def write(_number: int) -> None:
        say(house, "s4", "later")

    found = [entry for page in pages(house, SMALL, write) for entry in page["sessions"]]
    mine = [entry for entry in found if entry["key"]["session_id"] == "s4"]
    assert len(mine) > 1
    seqs = [message["seq"] for entry in mine for message in entry["messages"]]
    assert seqs == list(range(1, len(seqs) + 1))
    assert len(seqs) == mine[0]["last_seq"] >= 16


def test_a_provider_that_is_away_is_named_once(house: House) -> None:
    house.memos.reachable = False
    joined = client_of(house, 1).export_user("ann")
    assert joined["manifest"]["pending"] == ["MEMOS: 1 copies in user:ann"]
    assert joined["manifest"]["complete"]


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


@pytest.mark.parametrize(
    "after",
    [
        "x", "%%%", "你好", "=", encoded([]), encoded({}), encoded("sessions"), encoded(1), encoded(None),
        encoded(["sessions"]), encoded(["nothing", [], 0, 0]), encoded(["sessions", "s", 0, 0]),
        encoded(["sessions", [1], 0, 0]), encoded(["sessions", [], "0", 0]), encoded(["sessions", [], 2, 1]),
        encoded(["sessions", [], -1, 1]), encoded(["sessions", [], True, 1]), encoded(["sessions", [], 0.5, 1]),
        encoded([["sessions"], [], 0, 0]), base64.urlsafe_b64encode(b"[" * 3_000).decode(),
        base64.urlsafe_b64encode(b"\xff\xfe").decode(),
    ],
)  # fmt: skip
def test_what_is_no_cursor_is_refused(after: str) -> None:
    with pytest.raises(ValidationError):
        place_of(after)


FORGED: tuple[list[Any], ...] = (
        ["sessions", ["9999", "x"], 0, 0], ["memories", ["m2", "more"], 1, 2], ["provider_copies", ["zzz"], 0, 0],
        ["sessions", ["\ud800"], 0, 10**30], ["memories", ["m5"], 3, 10**30], ["quarantined", [], 0, 0],
)  # fmt: skip


def test_a_cursor_that_nobody_was_given_shows_nothing_of_others(house: House) -> None:
    for place in FORGED:
        exported = house.export.export(house.shelf.admin, "ann", after=encoded(place))
        assert "bob" not in json.dumps(exported, ensure_ascii=False)
