"""The growing matrix of vectors."""

import numpy as np
import pytest

from strata.ranking.vectors import VectorMatrix
from tests.unit.ranking.shelves import vector


def test_cosines_by_slot_also_after_growth() -> None:
    matrix = VectorMatrix(2)
    for slot in range(200):
        assert matrix.put(slot, vector(1.0, slot))
    found = matrix.cosines(vector(1.0, 0.0), 200)
    assert found.shape == (200,)
    assert found[0] == pytest.approx(1.0)
    assert np.all(np.diff(found) < 0)


def test_an_empty_slot_has_no_cosine() -> None:
    matrix = VectorMatrix(2)
    matrix.put(0, vector(1.0, 0.0))
    matrix.clear(0)
    matrix.clear(99)
    assert list(matrix.cosines(vector(1.0, 0.0), 3)) == [0.0, 0.0, 0.0]


def test_a_vector_of_another_model_is_left_out() -> None:
    matrix = VectorMatrix(3)
    assert not matrix.put(0, vector(1.0, 0.0))
    assert list(matrix.cosines(vector(1.0, 0.0, 0.0), 1)) == [0.0]


def test_nearness_to_the_mean_follows_every_change() -> None:
    """Whatever was put, changed and taken out: as if all rows were compared with the mean, up to its renewal."""
    matrix, chance = VectorMatrix(8), np.random.default_rng(3)
    rows: dict[int, bytes] = {}
    for step in range(400):
        slot = int(chance.integers(0, 120))
        if step % 5 == 4:
            matrix.clear(slot)
            rows.pop(slot, None)
        else:
            rows[slot] = vector(*(chance.standard_normal(8) + 1.0))
            matrix.put(slot, rows[slot])
        if step % 7 == 0:
            found = matrix.nearness(120)
            stored = np.zeros((120, 8), dtype="f4")
            for number, one in rows.items():
                stored[number] = np.frombuffer(one, dtype="<f4")
            assert found == pytest.approx(stored @ (stored.sum(axis=0) / len(rows)), abs=0.12)
            assert set(np.flatnonzero(found)) == set(rows)


def test_a_new_row_costs_the_others_nothing() -> None:
    matrix = VectorMatrix(2)
    for slot in range(100):
        matrix.put(slot, vector(1.0, slot))
    before = matrix.nearness(100).copy()
    matrix.put(100, vector(-1.0, 0.0))
    found = matrix.nearness(101)
    assert np.array_equal(found[:100], before)
    assert found[100] < 0.0
