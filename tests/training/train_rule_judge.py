"""Learn the rule judge's weights from the labelled sentences and write them as data.

    python tests/training/train_rule_judge.py

Three models come out: ``weights_words.json`` (words, classes, moods, matched rules), ``weights_meaning.json`` (the
same and the sentence's embedding by the bundled model; learned from the splits ``talk`` and ``more`` as well), and
``weights_talk.json`` (words, learned from ``talk`` as well, most of which is small talk). All are multinomial
logistic regressions. The sentences of ``heldout``, ``unseen`` and ``blind`` are not learned from. On the ``dev``
split, with which the rules were written, the rules look better than they are, so what they found there is kept from
the models.
"""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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
LEAST_COUNT = 2
"""A feature that stands in fewer sentences is left out."""
MEANING_WEIGHT = 17.0
PLAIN_SHARE = 0.2
PENALTY = 0.25
STEPS = 200
STEP_SIZE = 2**15 - 1

Array = np.ndarray[Any, np.dtype[np.float64]]


def main() -> None:
    _learn_words("words", "dev", "train")
    _learn_words("talk", "dev", "train", "talk")
    _learn_meaning()


def _learn_words(kind: str, *splits: str) -> None:
    rows = _rows(*splits)
    _found, classes, wanted, names, words = _prepared(rows)
    _write(kind, classes, names, _learned(words, wanted, len(classes)), digest=_digest(rows))


def _learn_meaning() -> None:
    """A fifth of the weight is that of a model which saw no small talk: it is the surer one about preferences."""
    rows = _rows("dev", "train", "talk", "more")
    found, classes, wanted, names, words = _prepared(rows)
    meaning = _embedded(found)
    both = np.hstack([words, (meaning - meaning.mean(0)) * MEANING_WEIGHT])
    told = np.array([row["split"] in {"dev", "train"} for row in rows])
    plain = _learned(both[told], wanted[told], len(classes))
    learned = PLAIN_SHARE * plain + (1 - PLAIN_SHARE) * _learned(both, wanted, len(classes))
    _write("meaning", classes, names, learned, digest=_digest(rows), center=meaning.mean(0))


def _prepared(rows: Sequence[dict[str, Any]]) -> tuple[list[Unit], list[str], Array, list[str], Array]:
    found = [merged(units(corrected(row["text"]))) for row in rows]
    classes, wanted = _labels(rows)
    names, words = _matrix([_features(unit, row) for unit, row in zip(found, rows, strict=True)])
    return found, classes, wanted, names, words


def _rows(*splits: str) -> list[dict[str, Any]]:
    every = map(json.loads, SENTENCES.read_text(encoding="utf-8").splitlines())
    return [row for row in every if row["split"] in splits and "text" in row]


def _digest(rows: Sequence[dict[str, Any]]) -> str:
    text = "\n".join(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows)
    return hashlib.sha256(text.encode()).hexdigest()


def _labels(rows: Sequence[dict[str, Any]]) -> tuple[list[str], Array]:
    beliefs = [row["expect"][0]["belief"] if row["expect"] else NOTHING for row in rows]
    classes = [NOTHING, *sorted(set(beliefs) - {NOTHING})]
    return classes, np.array([classes.index(belief) for belief in beliefs])


def _features(unit: Unit, row: dict[str, Any]) -> dict[str, float]:
    found = unit.features()
    if row["split"] == "dev":
        return {name: value for name, value in found.items() if not name.startswith("g:")}
    return found


def _matrix(rows: Sequence[dict[str, float]]) -> tuple[list[str], Array]:
    counts = Counter(name for row in rows for name in row)
    names = sorted(name for name, count in counts.items() if count >= LEAST_COUNT)
    places = {name: index for index, name in enumerate(names)}
    matrix: Array = np.zeros((len(rows), len(names)))
    for number, row in enumerate(rows):
        for name, value in row.items():
            if name in places:
                matrix[number, places[name]] = value
    return names, matrix


def _embedded(found: Iterable[Unit]) -> Array:
    vectors = LocalEmbedder().embed([unit.text for unit in found], query=True)
    return np.array([np.frombuffer(vector, "<f4") for vector in vectors], dtype=float)


def _learned(matrix: Array, wanted: Array, classes: int) -> Array:
    """Weights, the intercepts in the last row. Classes count alike, however many sentences they have."""
    data = np.hstack([matrix, np.ones((len(matrix), 1))])
    target = np.eye(classes)[wanted]
    counts = np.bincount(wanted, minlength=classes)
    weight = (counts.mean() / counts)[wanted][:, None] ** 0.75
    free = np.ones((data.shape[1], 1))
    free[-1] = 0.0

    def loss(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(data.shape[1], classes)
        scores = data @ weights
        scores -= scores.max(1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(1, keepdims=True))
        value = -(weight * target * logs).sum() + PENALTY / 2 * (free * weights**2).sum()
        slope = data.T @ (weight * (np.exp(logs) - target)) + PENALTY * free * weights
        return float(value), slope.ravel()

    return _minimum(loss, np.zeros(data.shape[1] * classes)).reshape(data.shape[1], classes)


def _minimum(loss: Callable[[Array], tuple[float, Array]], point: Array) -> Array:
    """Minimise a smooth convex function: limited-memory BFGS with a backtracking line search."""
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
        moves = [*moves, (there - point, new_slope - slope)][-10:]
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


def _write(
    kind: str,
    classes: Sequence[str],
    names: Sequence[str],
    learned: Array,
    *,
    digest: str,
    center: Array | None = None,
) -> None:
    words, rest, intercepts = learned[: len(names)], learned[len(names) : -1] * MEANING_WEIGHT, learned[-1]
    if center is not None:
        intercepts = intercepts - center @ rest
    kept = np.abs(words).max(1) > 1e-3
    packed, scales = _packed(words[kept])
    meaning, meaning_scales = _packed(rest) if center is not None else ([], [])
    data = {
        "sentences_sha256": digest,
        "model": MODEL if center is not None else "",
        "classes": list(classes),
        "intercepts": [round(float(value), 6) for value in intercepts],
        "features": "\n".join(name for name, keep in zip(names, kept, strict=True) if keep),
        "weights": packed,
        "scales": scales,
        "meaning": meaning,
        "meaning_scales": meaning_scales,
    }
    path = TARGET / f"weights_{kind}.json"
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(kind, "features", int(kept.sum()), "bytes", path.stat().st_size)


def _packed(rows: Array) -> tuple[list[str], list[float]]:
    """Per class: 16-bit steps in base64, and the size of a step."""
    scales = np.maximum(np.abs(rows).max(0), 1e-9) / STEP_SIZE
    steps = np.round(rows / scales).astype("<i2")
    texts = [base64.b64encode(steps[:, index].tobytes()).decode() for index in range(rows.shape[1])]
    return texts, [float(scale) for scale in scales]


if __name__ == "__main__":
    main()
