"""The learned opinion: what words, meaning and the hidden layer add up to."""

from array import array
from math import exp

import pytest

from strata.consolidation.rules.weighing import Hidden, Weights, weights


def made(*, hidden: Hidden | None = None) -> Weights:
    return Weights(
        classes=("nothing", "like"),
        intercepts=(0.5, -0.5),
        features={"n:tea": (0.0, 2.0), "m:question": (1.0, -1.0)},
        meaning=(array("f", [0.0, 1.0]), array("f", [2.0, 0.0])),
        hidden=hidden,
        model="a model",
    )


def like(nothing: float, wanted: float) -> float:
    return exp(wanted) / (exp(nothing) + exp(wanted))


def test_known_words_count_as_much_as_they_come_with() -> None:
    opinion = made().opinion({"n:tea": 0.5, "m:question": 1.0, "n:unheard": 9.0})
    assert opinion.shares["like"] == pytest.approx(like(0.5 + 1.0, -0.5 + 1.0 - 1.0))
    assert not opinion.by_meaning


def test_each_dimension_of_the_vector_counts_for_itself() -> None:
    opinion = made().opinion({}, array("f", [3.0, 4.0]).tobytes())
    assert opinion.shares["like"] == pytest.approx(like(0.5 + 4.0, -0.5 + 6.0))
    assert opinion.by_meaning


def test_the_hidden_layer_tells_what_no_single_direction_does() -> None:
    """Alike in both dimensions, or in neither: the exclusive or."""
    layer = Hidden(
        inward=(array("f", [1.0, -1.0]), array("f", [-1.0, 1.0])),
        biases=(0.0, -0.5),
        outward=(array("f", [0.0, 0.0]), array("f", [3.0, 5.0])),
    )
    assert layer.totals(array("f", [1.0, 1.0])) == [0.0, 0.0]
    assert layer.totals(array("f", [2.0, 1.0])) == [0.0, 3.0]
    assert layer.totals(array("f", [1.0, 2.0])) == [0.0, 2.5]
    opinion = made(hidden=layer).opinion({}, array("f", [1.0, 2.0]).tobytes())
    assert opinion.shares["like"] == pytest.approx(like(0.5 + 2.0, -0.5 + 2.0 + 2.5))


@pytest.mark.parametrize("kind", ["words", "talk", "meaning"])
def test_the_shipped_models_fit_together(kind: str) -> None:
    shipped = weights(kind)
    classes = len(shipped.classes)
    assert len(shipped.intercepts) == classes
    assert all(len(row) == classes for row in shipped.features.values())
    assert bool(shipped.model) == (kind == "meaning") == (shipped.hidden is not None)
    if shipped.hidden is not None:
        units = len(shipped.hidden.inward)
        assert {len(row) for row in (*shipped.meaning, *shipped.hidden.inward)} == {384}
        assert len(shipped.hidden.biases) == units
        assert [len(row) for row in shipped.hidden.outward] == [units] * classes
