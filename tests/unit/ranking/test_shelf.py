"""Shelves: entries come and go, tags and readers narrow, turns find their neighbours whatever the order of arrival."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.ranking.shelf import Entry, Shelf, date_terms, speaker_name
from tests.unit.ranking.shelves import MARCH, entry, names, search, shelf_of, texts, vector


def turn(seq: int, text: str = "tea", **fields: object) -> Entry:
    return entry(f"t{seq}", text, session_id="s", seq=seq, previous_seq=seq - 2, **fields)


def neighbours(shelf: Shelf) -> dict[str, tuple[str | None, str | None]]:
    def name(slot: int) -> str | None:
        return None if slot == -1 else shelf.entry(slot).memory_id

    slots = {shelf.entry(slot).memory_id: slot for slot in range(shelf.size) if shelf.column("live")[slot]}
    return {
        memory_id: (name(shelf.column("previous")[slot]), name(shelf.column("following")[slot]))
        for memory_id, slot in slots.items()
    }


@pytest.mark.parametrize("order", list(itertools.permutations([2, 4, 6])))
def test_turns_find_their_neighbours_in_any_order(order: tuple[int, ...]) -> None:
    shelf = shelf_of(turn(seq) for seq in order)
    assert neighbours(shelf) == {"t2": (None, "t4"), "t4": ("t2", "t6"), "t6": ("t4", None)}


def test_a_gap_closes_when_its_turn_comes_back() -> None:
    shelf = shelf_of(turn(seq) for seq in (2, 4, 6))
    shelf.drop("t4")
    assert neighbours(shelf) == {"t2": (None, None), "t6": (None, None)}
    shelf.put(turn(4, "rice"))
    assert neighbours(shelf) == {"t2": (None, "t4"), "t4": ("t2", "t6"), "t6": ("t4", None)}


def test_a_new_version_replaces_the_old_one() -> None:
    shelf = texts("green tea", "rice")
    shelf.put(entry("m0", "black coffee"))
    assert len(shelf) == 2
    assert names(search(shelf, "coffee"))[0] == "m0"
    assert search(shelf, "green tea")[0].score < 0.3


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=30))
def test_slots_are_used_again_and_never_twice(steps: list[tuple[int, bool]]) -> None:
    shelf, kept = Shelf("x"), set[str]()
    for number, removes in steps:
        name = f"m{number}"
        if removes:
            shelf.drop(name)
            kept.discard(name)
        else:
            shelf.put(entry(name, f"word{number}", tags=frozenset({("n", str(number))})))
            kept.add(name)
    assert len(shelf) == len(kept)
    assert shelf.size <= 7
    assert int(shelf.column("live").sum()) == len(kept)
    for number in range(7):
        assert len(shelf.slots_with([("n", str(number))]) or ()) == (f"m{number}" in kept)


def test_tags_are_exact_in_any_language() -> None:
    shelf = shelf_of(
        [
            entry("a", "tea", tags=frozenset({("场合", "生日"), ("room", "A")})),
            entry("b", "tea", tags=frozenset({("场合", "生日会")})),
            entry("c", "tea"),
        ]
    )
    assert names(search(shelf, "tea", tags=frozenset({("场合", "生日")}))) == ["a"]
    assert names(search(shelf, "tea", tags=frozenset({("场合", "生日"), ("room", "B")}))) == []
    assert names(search(shelf, "tea", tags=frozenset({("%", "%")}))) == []


def test_what_has_run_out_or_is_closed_to_the_reader_is_not_found() -> None:
    shelf = shelf_of(
        [entry("gone", "tea", expires=100.0), entry("open", "tea"), entry("mine", "tea", readers=frozenset({"cook"}))]
    )
    assert set(names(search(shelf, "tea", now=99.0, reader="cook"))) == {"gone", "open", "mine"}
    assert set(names(search(shelf, "tea", now=100.0, reader="cook"))) == {"open", "mine"}
    assert set(names(search(shelf, "tea", now=100.0, reader="other"))) == {"open"}
    assert set(names(search(shelf, "tea", now=100.0, reader=None))) == {"open", "mine"}


def cosine(shelf: Shelf, query: bytes) -> float:
    """Of the first memory."""
    found = shelf.cosines(query)
    assert found is not None
    return float(found[0])


def test_a_vector_goes_with_its_memory() -> None:
    shelf = shelf_of([entry("a", "tea", vector=vector(1, 0, 0, 0))], dimensions=4)
    query = vector(1, 0, 0, 0)
    assert cosine(shelf, query) == pytest.approx(1.0)
    shelf.put(entry("a", "tea"))
    assert cosine(shelf, query) == 0.0
    assert not shelf.column("embedded")[0]
    assert texts("tea").cosines(query) is None


def test_roles_are_no_names() -> None:
    assert speaker_name("assistant") == ""
    assert speaker_name("Ｃaroline ") == "caroline"


def test_a_date_is_searched_as_it_is_written() -> None:
    assert list(date_terms(MARCH)) == ["10", "march", "2026"]
