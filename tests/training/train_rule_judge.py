"""Learn the rule judge's weights from the labelled sentences and write them as data; some ten minutes.

    python tests/training/train_rule_judge.py

Three models come out: ``weights_words.json`` (words, classes, moods, matched rules), ``weights_meaning.json`` (the
same, and the sentence's embedding by the bundled model: each dimension for itself, and all of them in a hidden layer),
and ``weights_talk.json`` (words, learned from ``talk`` as well, most of which is small talk). All are multinomial
logistic regressions; two of them are means of a broad one, learned from much, and of a sharp one, learned from less:
the broad one knows more, the sharp one is surer of what it knows. Of a longer message every sentence is learned from as
well, since the judge reads each for itself. The sentences of ``heldout``, ``unseen``, ``blind``, ``fresh``, ``sealed``
and ``final`` are not learned from. On the ``dev`` split, with which the rules were written, the rules look better than
they are, so what they found there is kept from the models.
"""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strata.consolidation.rules.corrections import corrected
from strata.consolidation.rules.units import Unit, merged, units
from strata.consolidation.rules.weighing import NOTHING
from strata.inference.local_embedding import MODEL, LocalEmbedder

ROOT = Path(__file__).resolve().parents[2]
SENTENCES = ROOT / "tests" / "data" / "judged_sentences.jsonl"
TARGET = ROOT / "layers" / "strata" / "strata" / "consolidation" / "data"
LEAST_WEIGHT = 1e-3
LEAST_COUNT = 3
"""A feature that stands in fewer messages is left out."""
WRITTEN = ("dev", "train", "more", "told", "wide")
NARROW = ("dev", "train", "more", "told")
SHARPER = ("dev", "train", "talk", "more")
EVERY = (*WRITTEN, "talk")
CLEAR = 0.5
"""The share of belief from which on a sentence of a message counts as clear."""
WORDS_SHARE, SHARP_SHARE = 0.5, 0.3
BROAD, SHARP = (8.0, 0.5), (17.0, 0.25)
"""How much the vector counts beside the words, and the penalty."""
WORDS_PENALTY = 0.25
NETS, UNITS, SPREAD, HIDDEN_PENALTY = 3, 64, 10.0, 30.0
STEPS = 200
STEP_SIZE = 2**15 - 1

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Sample:
    """A message, or one of its sentences, with the belief it stands for."""

    unit: Unit
    belief: str
    split: str
    whole: bool

    @property
    def features(self) -> dict[str, float]:
        found = self.unit.features()
        if self.split == "dev":
            return {name: value for name, value in found.items() if not name.startswith("g:")}
        return found


@dataclass(frozen=True)
class Model:
    """Weights per feature, per dimension of the vector (none without one), and the intercepts; per class each."""

    features: dict[str, Array]
    meaning: Array
    intercepts: Array

    def shares(self, found: dict[str, float]) -> Array:
        """Return what this model believes of a sentence, by its words alone."""
        rows = [value * self.features[name] for name, value in found.items() if name in self.features]
        shares: Array = np.exp(_logs(np.sum([self.intercepts, *rows], axis=0)[None, :]))[0]
        return shares


@dataclass(frozen=True)
class Layer:
    """A hidden layer between the vector and the classes."""

    inward: Array
    biases: Array
    outward: Array
    intercepts: Array


def main() -> None:
    rows = _rows(*EVERY)
    apart = [units(corrected(row["text"])) for row in rows]
    classes = [NOTHING, *sorted({_belief(row) for row in rows} - {NOTHING})]
    samples = [
        Sample(merged(found), _belief(row), row["split"], whole=True) for found, row in zip(apart, rows, strict=True)
    ]

    def learned(*splits: str, meaning: Array | None = None, penalty: float = WORDS_PENALTY) -> Model:
        chosen = [index for index, sample in enumerate(samples) if sample.split in splits]
        given = np.zeros((len(chosen), 0)) if meaning is None else meaning[chosen]
        taken = [samples[index] for index in chosen]
        return _learned(taken, given, classes, penalty)

    samples += _sentences(rows, apart, learned(*WRITTEN), classes)
    wanted = _wanted(samples, classes)
    words = _mean(learned(*WRITTEN), learned(*NARROW), WORDS_SHARE)
    _write("words", classes, words, digest=_digest(_rows(*WRITTEN)))
    _write("talk", classes, learned(*EVERY), digest=_digest(rows))
    vectors = _embedded([sample.unit for sample in samples])
    center = vectors.mean(0)
    centred = vectors - center
    broad = _scaled(learned(*EVERY, meaning=centred * BROAD[0], penalty=BROAD[1]), BROAD[0], center)
    sharp = _scaled(learned(*SHARPER, meaning=centred * SHARP[0], penalty=SHARP[1]), SHARP[0], center)
    layers = [_net(centred * SPREAD, wanted, len(classes), seed) for seed in range(NETS)]
    _write("meaning", classes, _mean(broad, sharp, SHARP_SHARE), digest=_digest(rows), layer=_joined(layers, center))


def _mean(broad: Model, sharp: Model, share: float) -> Model:
    """Mix two models; ``share`` is the second one's."""

    def mixed(one: Array, other: Array) -> Array:
        return (1 - share) * one + share * other

    nothing = np.zeros_like(broad.intercepts)
    names = sorted(broad.features.keys() | sharp.features.keys())
    features = {name: mixed(broad.features.get(name, nothing), sharp.features.get(name, nothing)) for name in names}
    return Model(features, mixed(broad.meaning, sharp.meaning), mixed(broad.intercepts, sharp.intercepts))


def _scaled(model: Model, weight: float, center: Array) -> Model:
    """For vectors as they are: neither multiplied nor centred."""
    meaning = model.meaning * weight
    return Model(model.features, meaning, model.intercepts - center @ meaning)


def _joined(layers: Sequence[Layer], center: Array) -> Layer:
    """The mean of several layers as one, for vectors as they are."""
    return Layer(
        inward=np.hstack([layer.inward * SPREAD for layer in layers]),
        biases=np.hstack([layer.biases - center @ layer.inward * SPREAD for layer in layers]),
        outward=np.vstack([layer.outward for layer in layers]) / len(layers),
        intercepts=np.mean([layer.intercepts for layer in layers], axis=0),
    )


def _rows(*splits: str) -> list[dict[str, Any]]:
    every = map(json.loads, SENTENCES.read_text(encoding="utf-8").splitlines())
    return [row for row in every if row["split"] in splits and "text" in row]


def _digest(rows: Sequence[dict[str, Any]]) -> str:
    text = "\n".join(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows)
    return hashlib.sha256(text.encode()).hexdigest()


def _belief(row: dict[str, Any]) -> str:
    return row["expect"][0]["belief"] if row["expect"] else NOTHING


def _wanted(samples: Sequence[Sample], classes: Sequence[str]) -> Array:
    return np.array([classes.index(sample.belief) for sample in samples])


def _sentences(
    rows: Sequence[dict[str, Any]], apart: Sequence[Sequence[Unit]], teacher: Model, classes: Sequence[str]
) -> list[Sample]:
    """Return the sentences of longer messages: the judge reads each for itself.

    Where a message says nothing, so does each sentence. Where it holds a fact, a teacher, who has learned from whole
    messages, says which one tells it and which ones do not; what it is in doubt about is left out.
    """
    samples: list[Sample] = []
    for row, found in zip(rows, apart, strict=True):
        if len(found) == 1:
            continue
        belief = _belief(row)
        shares = [dict(zip(classes, teacher.shares(unit.features()), strict=True)) for unit in found]
        teller = max(range(len(found)), key=lambda place: shares[place][belief])
        for place, unit in enumerate(found):
            told = belief if place == teller else NOTHING
            if belief == NOTHING or shares[place][told] >= CLEAR:
                samples.append(Sample(unit, told, row["split"], whole=False))
    return samples


class Sparse:
    """A matrix of few values: features by row, and a column of ones at the end."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        rows = [sample.features for sample in samples]
        counts = Counter(name for sample, row in zip(samples, rows, strict=True) if sample.whole for name in row)
        self.names = sorted(name for name, count in counts.items() if count >= LEAST_COUNT)
        places = {name: index for index, name in enumerate(self.names)}
        cells = [
            (number, place, value)
            for number, row in enumerate(rows)
            for place, value in [*_placed(row, places), (len(places), 1.0)]
        ]
        lines, columns, values = (np.array(part) for part in zip(*cells, strict=True))
        self.width = len(places) + 1
        self._by_row = self._sorted(lines, columns, values)
        self._by_column = self._sorted(columns, lines, values)

    def times(self, weights: Array) -> Array:
        return self._summed(self._by_row, weights)

    def turned_times(self, values: Array) -> Array:
        return self._summed(self._by_column, values)

    @staticmethod
    def _sorted(groups: Array, others: Array, values: Array) -> tuple[list[int], Array, Array]:
        order = np.argsort(groups, kind="stable")
        starts = np.flatnonzero(np.diff(groups[order], prepend=-1)).tolist()
        return starts, others[order], values[order][:, None]

    @staticmethod
    def _summed(cells: tuple[list[int], Array, Array], others: Array) -> Array:
        starts, places, values = cells
        found: Array = np.add.reduceat(values * others[places], starts)
        return found


def _placed(row: dict[str, float], places: dict[str, int]) -> list[tuple[int, float]]:
    return [(places[name], value) for name, value in row.items() if name in places]


def _embedded(found: Iterable[Unit]) -> Array:
    vectors = LocalEmbedder().embed([unit.text for unit in found], query=True)
    return np.array([np.frombuffer(vector, "<f4") for vector in vectors], dtype=float)


def _learned(samples: Sequence[Sample], vectors: Array, names: Sequence[str], penalty: float) -> Model:
    """Classes count alike, or nearly so, however many sentences they have."""
    data, wanted, classes = Sparse(samples), _wanted(samples, names), len(names)
    target = np.eye(classes)[wanted]
    counts = np.bincount(wanted, minlength=classes)
    weight = (counts.mean() / counts)[wanted][:, None] ** 0.75
    height = data.width + vectors.shape[1]
    free = np.ones((height, 1))
    free[data.width - 1] = 0.0

    def loss(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(height, classes)
        logs = _logs(data.times(weights[: data.width]) + vectors @ weights[data.width :])
        value = -(weight * target * logs).sum() + penalty / 2 * (free * weights**2).sum()
        errors = weight * (np.exp(logs) - target)
        slope = np.vstack([data.turned_times(errors), vectors.T @ errors]) + penalty * free * weights
        return float(value), slope.ravel()

    found = _minimum(loss, np.zeros(height * classes)).reshape(height, classes)
    named = dict(zip(data.names, found[: data.width - 1], strict=True))
    return Model(named, found[data.width :], found[data.width - 1])


def _net(vectors: Array, wanted: Array, classes: int, seed: int) -> Layer:
    """A layer of rectified units, learned from the vectors alone; every sentence counts alike."""
    dimensions, target = vectors.shape[1], np.eye(classes)[wanted]
    sizes = [dimensions * UNITS, UNITS, UNITS * classes, classes]
    chance = np.random.default_rng(seed)
    start = [
        chance.uniform(-1.0, 1.0, size) * np.sqrt(6.0 / sum(ends))
        for size, ends in zip(sizes, [(dimensions, UNITS)] * 2 + [(UNITS, classes)] * 2, strict=True)
    ]

    def parts(flat: Array) -> tuple[Array, Array, Array, Array]:
        inward, biases, outward, intercepts = np.split(flat, np.cumsum(sizes)[:-1])
        return inward.reshape(dimensions, UNITS), biases, outward.reshape(UNITS, classes), intercepts

    def loss(flat: Array) -> tuple[float, Array]:
        inward, biases, outward, intercepts = parts(flat)
        active = np.maximum(vectors @ inward + biases, 0.0)
        logs = _logs(active @ outward + intercepts)
        value = -(target * logs).sum() + HIDDEN_PENALTY / 2 * ((inward**2).sum() + (outward**2).sum())
        errors = np.exp(logs) - target
        back = (errors @ outward.T) * (active > 0.0)
        slopes = [
            vectors.T @ back + HIDDEN_PENALTY * inward,
            back.sum(0),
            active.T @ errors + HIDDEN_PENALTY * outward,
            errors.sum(0),
        ]
        return float(value) / len(vectors), np.concatenate([slope.ravel() for slope in slopes]) / len(vectors)

    return Layer(*parts(_minimum(loss, np.concatenate(start))))


def _logs(scores: Array) -> Array:
    scores = scores - scores.max(1, keepdims=True)
    found: Array = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    return found


def _minimum(loss: Callable[[Array], tuple[float, Array]], point: Array) -> Array:
    """Minimise a smooth function: limited-memory BFGS with a backtracking line search."""
    moves: list[tuple[Array, Array]] = []
    value, slope = loss(point)
    for _ in range(STEPS):
        direction = _direction(slope, moves)
        step, there = 1.0, point + direction
        new_value, new_slope = loss(there)
        while new_value > value + 1e-4 * step * (slope @ direction) and step > 1e-8:
            step /= 2
            there = point + step * direction
            new_value, new_slope = loss(there)
        moved, changed = there - point, new_slope - slope
        if moved @ changed > 0.0:
            moves = [*moves, (moved, changed)][-10:]
        if abs(value - new_value) < 1e-6 * abs(value):
            return there
        point, value, slope = there, new_value, new_slope
    return point


def _direction(slope: Array, moves: Sequence[tuple[Array, Array]]) -> Array:
    """The two-loop recursion."""
    result = slope.copy()
    pasts = []
    for moved, changed in reversed(moves):
        share = (moved @ result) / (moved @ changed)
        result -= share * changed
        pasts.append(share)
    if moves:
        moved, changed = moves[-1]
        result *= (moved @ changed) / (changed @ changed)
    else:
        result /= max(float(np.linalg.norm(slope)), 1.0)
    for (moved, changed), share in zip(moves, reversed(pasts), strict=True):
        result += moved * (share - (changed @ result) / (moved @ changed))
    return -result


def _write(kind: str, classes: Sequence[str], model: Model, *, digest: str, layer: Layer | None = None) -> None:
    kept = {name: weights for name, weights in model.features.items() if np.abs(weights).max() > LEAST_WEIGHT}
    packed, scales = _packed(np.array(list(kept.values())))
    meaning, meaning_scales = _packed(model.meaning) if layer is not None else ([], [])
    intercepts = model.intercepts + (layer.intercepts if layer is not None else 0.0)
    data = {
        "sentences_sha256": digest,
        "model": MODEL if layer is not None else "",
        "classes": list(classes),
        "intercepts": [round(float(value), 6) for value in intercepts],
        "features": "\n".join(kept),
        "weights": packed,
        "scales": scales,
        "meaning": meaning,
        "meaning_scales": meaning_scales,
        "hidden": _hidden(layer) if layer is not None else None,
    }
    path = TARGET / f"weights_{kind}.json"
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(kind, "features", len(kept), "bytes", path.stat().st_size)


def _hidden(layer: Layer) -> dict[str, Any]:
    inward, inward_scales = _packed(layer.inward)
    outward, outward_scales = _packed(layer.outward)
    biases = [round(float(value), 6) for value in layer.biases]
    return {
        "inward": inward,
        "inward_scales": inward_scales,
        "biases": biases,
        "outward": outward,
        "outward_scales": outward_scales,
    }


def _packed(rows: Array) -> tuple[list[str], list[float]]:
    """Per class: 16-bit steps in base64, and the size of a step."""
    scales = np.maximum(np.abs(rows).max(0), 1e-9) / STEP_SIZE
    steps = np.round(rows / scales).astype("<i2")
    texts = [base64.b64encode(steps[:, index].tobytes()).decode() for index in range(rows.shape[1])]
    return texts, [float(scale) for scale in scales]


if __name__ == "__main__":
    main()
