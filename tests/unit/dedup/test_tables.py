"""The tables under ``data/`` are what the code takes them for."""

from collections import defaultdict

import pytest

from strata.dedup.explanations import difference
from strata.dedup.fingerprint import canonical
from strata.dedup.lexicon import _rows
from strata.dedup.reading import read
from strata.dedup.resources import load_json, load_toml

GENERATED = {"name"}
ROWS = [(spec, surface, home) for spec, surface, home in _rows() if home[0] not in GENERATED]
DEFINED = {concept for spec, _, _ in ROWS for concept in spec.removeprefix("-").split()}
FAMILIES = (
    {home[0] for _, _, home in ROWS} | set(load_toml("units.toml")) | {"clock", "date", "id", "stage", "name", "n"}
)


def test_every_surface_is_written_as_texts_are_compared() -> None:
    """Otherwise it would never be found."""
    assert [surface for _, surface, _ in ROWS if canonical(surface) != surface] == []


def test_no_surface_stands_for_two_things() -> None:
    claims = defaultdict(set)
    for spec, surface, _ in ROWS:
        claims[surface].add(spec)
    assert {surface: specs for surface, specs in claims.items() if len(specs) > 1} == {}


@pytest.mark.parametrize("table", ["implied", "twins", "compounds"])
def test_explanations_name_concepts_that_exist(table: str) -> None:
    unknown = {name for name in _names(load_toml("explanations.toml")[table]) if not _is_known(name)}
    assert unknown == set()


def test_oppositions_name_concepts_that_exist() -> None:
    data = load_toml("oppositions.toml")
    words = set(data["exclusive"]["_"].split())
    for section in ("slots", "stances", "acts"):
        for key, names in data[section].items():
            words |= {name.strip() for name in names.split(",")} if key != "rivals" else set()
    assert {word for word in words if not _is_known(word)} == set()


def _names(table: dict[str, str]) -> set[str]:
    found = set()
    for key, value in table.items():
        found |= set(key.split())
        for alternative in value.split(","):
            found |= {part.strip() for name in alternative.split("&") for part in name.split()}
    return found - {""}


def _is_known(name: str) -> bool:
    if name[0] in "@~!" or name in {"*", "+", "-"} or ":" in name:
        return True
    return name[1:] in FAMILIES if name[0] == "#" else name in DEFINED or not name.isupper()


def test_simplified_forms_are_final() -> None:
    table = load_json("simplified.json")
    assert len(table["traditional"]) == len(table["simplified"])
    assert not set(table["traditional"]) & set(table["simplified"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("用户穿42码的鞋", "用户的鞋码是42", id="one word for several"),
        pytest.param("Son is 6", "Son is 6 years old", id="a bare number"),
        pytest.param("用户订票时要靠窗的位子", "用户喜欢靠窗的座位", id="twins"),
    ],
)
def test_a_difference_the_tables_explain_is_none(one: str, other: str) -> None:
    (left,), (right,) = read(one).clauses, read(other).clauses
    assert difference(left, right).is_empty
    assert difference(right, left).is_empty
