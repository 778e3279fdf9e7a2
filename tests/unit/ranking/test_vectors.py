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
