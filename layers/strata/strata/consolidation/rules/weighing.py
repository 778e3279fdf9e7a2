"""A learned second opinion: a linear model over words, classes, moods and matched rules, and over meaning if it can.

Its weights are data, made by ``tests/training/train_rule_judge.py`` from the labelled sentences of the tests. It needs
no library. With an embedder whose model it was trained with it also weighs the meaning of the sentence: each dimension
of the vector for itself, and together in one hidden layer, which tells what no single direction does.
"""

import base64
import json
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import exp
from operator import mul
from typing import Any

NOTHING = "nothing"
"""The class of what is not kept."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """Shares of belief per class, summing to 1, and what weighed for the best of them."""

    shares: Mapping[str, float]
    best: str
    reasons: Mapping[str, float]
    by_meaning: bool = False
    """Whether an embedding was weighed as well."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """A layer of rectified units between a vector and the classes."""

    inward: "tuple[array[float], ...]"
    """Per unit, the weights of the vector's dimensions."""
    biases: tuple[float, ...]
    outward: "tuple[array[float], ...]"
    """Per class, the weights of the units."""

    def totals(self, vector: "array[float]") -> list[float]:
        """Return what the layer adds per class."""
        sums = [bias + sum(map(mul, vector, weights)) for bias, weights in zip(self.biases, self.inward, strict=True)]
        units = [max(0.0, total) for total in sums]
        return [sum(map(mul, units, weights)) for weights in self.outward]


@dataclass(frozen=True, slots=True)
class Weights:
    """One model: per class an intercept, weights of features, and weights of the vector's dimensions (if any)."""

    classes: tuple[str, ...]
    intercepts: tuple[float, ...]
    features: Mapping[str, tuple[float, ...]]
    meaning: "tuple[array[float], ...]"
    hidden: Hidden | None
    model: str

    def opinion(self, found: Mapping[str, float], vector: bytes = b"") -> Opinion:
        """Weigh a sentence; ``vector`` is its embedding, little-endian float32, if this model looks at one."""
        totals = list(self.intercepts)
        for value, rows in self._by_value(found).items():
            for index, total in enumerate(map(sum, zip(*rows, strict=True))):
                totals[index] += value * total
        if self.meaning and vector:
            values = array("f", vector)
            for index, weights in enumerate(self.meaning):
                totals[index] += sum(map(mul, values, weights))
            if self.hidden is not None:
                totals = list(map(sum, zip(totals, self.hidden.totals(values), strict=True)))
        best = max(range(len(totals)), key=totals.__getitem__)
        reasons = {name: value * self.features[name][best] for name, value in found.items() if name in self.features}
        shares = dict(zip(self.classes, _shares(totals), strict=True))
        return Opinion(shares, self.classes[best], reasons, by_meaning=bool(self.meaning and vector))

    def _by_value(self, found: Mapping[str, float]) -> Mapping[float, list[tuple[float, ...]]]:
        """Group the rows of known features by the value they come with: there are three values, not a hundred."""
        grouped: dict[float, list[tuple[float, ...]]] = {}
        for name, value in found.items():
            row = self.features.get(name)
            if row is not None:
                grouped.setdefault(value, []).append(row)
        return grouped


def _shares(totals: Sequence[float]) -> list[float]:
    highest = max(totals)
    powers = [exp(total - highest) for total in totals]
    return [power / sum(powers) for power in powers]


@cache
def weights(kind: str) -> Weights:
    """Return the shipped model ``words``, ``meaning`` (with an embedding) or ``talk`` (with small talk)."""
    source = resources.files("strata.consolidation").joinpath("data", f"weights_{kind}.json")
    data = json.loads(source.read_text(encoding="utf-8"))
    classes = tuple(data["classes"])
    rows = _unpacked(data["weights"], data["scales"])
    names = data["features"].split("\n")
    table = dict(zip(names, zip(*rows, strict=True), strict=True))
    meaning = tuple(_unpacked(data["meaning"], data["meaning_scales"])) if data["model"] else ()
    hidden = _hidden(data["hidden"]) if data["model"] else None
    return Weights(classes, tuple(data["intercepts"]), table, meaning, hidden, data["model"])


def _hidden(data: Mapping[str, Any]) -> Hidden:
    inward = _unpacked(data["inward"], data["inward_scales"])
    outward = _unpacked(data["outward"], data["outward_scales"])
    return Hidden(tuple(inward), tuple(data["biases"]), tuple(outward))


def _unpacked(texts: Sequence[str], scales: Sequence[float]) -> "list[array[float]]":
    """Rows of 16-bit steps, one text and one step size per class."""
    return [
        array("f", map(scale.__mul__, array("h", base64.b64decode(text))))
        for text, scale in zip(texts, scales, strict=True)
    ]
