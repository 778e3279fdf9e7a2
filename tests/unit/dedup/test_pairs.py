"""The guard on labelled pairs: paraphrases, contradictions, other entities, updates, refinements, strangers.

``dedup_pairs.json`` and the tuned part of ``dedup_pairs_own.json`` shaped the tables. The unseen part never did: what
the guard does with its sentences is only counted, so that the figures say what to expect of others. The pairs of
``dedup_pairs_free.json`` say a thing again as freely as people do, in words the tables were not written for; those of
``dedup_pairs_daily.json`` are of everyday life, its unseen part written and measured after the last table was. The
pairs of ``dedup_near_misses.json`` sound alike and are two facts.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from strata.dedup import PairKind, decide

DATA = Path(__file__).parents[2] / "data"
UNSAFE = {"b", "c", "d", "r"}
"""Kinds that lose something when merged: contradictions, other entities, updates, refinements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What a set of pairs came out as."""

    unsafe: list[str]
    false_merges: list[str]
    false_conflicts: list[str]
    merge_recall: float
    merge_precision: float
    conflict_precision: float
    conflict_recall: float


def score(pairs: Sequence[dict[str, str]]) -> Score:
    decided = [(pair, decide(pair["old"], pair["new"]).kind) for pair in pairs]
    merged = [pair for pair, kind in decided if kind is PairKind.MERGE]
    conflicting = [pair for pair, kind in decided if kind is PairKind.CONFLICT]
    right_merges = [pair for pair in merged if pair["want"] == "merge"]
    right_conflicts = [pair for pair in conflicting if pair["want"] == "conflict"]
    return Score(
        unsafe=[pair["id"] for pair in merged if pair["kind"] in UNSAFE],
        false_merges=[pair["id"] for pair in merged if pair["want"] != "merge"],
        false_conflicts=[pair["id"] for pair in conflicting if pair["want"] != "conflict"],
        merge_recall=len(right_merges) / sum(pair["want"] == "merge" for pair in pairs),
        merge_precision=len(right_merges) / len(merged),
        conflict_precision=len(right_conflicts) / len(conflicting),
        conflict_recall=len(right_conflicts) / sum(pair["want"] == "conflict" for pair in pairs),
    )


def load(name: str) -> list[dict[str, str]]:
    pairs: list[dict[str, str]] = json.loads((DATA / name).read_text(encoding="utf-8"))
    return pairs


@pytest.fixture(scope="module")
def own() -> list[dict[str, str]]:
    return load("dedup_pairs_own.json")


def test_labelled_pairs() -> None:
    found = score(load("dedup_pairs.json"))
    assert found.unsafe == []
    assert found.merge_precision == 1.0
    assert found.merge_recall >= 0.85
    assert found.conflict_precision >= 0.97
    assert found.conflict_recall >= 0.95


def test_own_pairs_used_for_tuning(own: list[dict[str, str]]) -> None:
    found = score([pair for pair in own if pair["split"] == "tuned"])
    assert found.false_merges == []
    assert found.false_conflicts == []
    assert found.merge_recall >= 0.85
    assert found.conflict_recall >= 0.95


def test_own_pairs_never_used_for_tuning(own: list[dict[str, str]]) -> None:
    found = score([pair for pair in own if pair["split"] == "unseen"])
    assert found.unsafe == []
    assert found.merge_precision == 1.0
    assert found.merge_recall >= 0.85
    assert found.conflict_precision >= 0.97
    assert found.conflict_recall >= 0.95


@pytest.mark.parametrize(("split", "merges", "conflicts"), [("tuned", 0.86, 0.90), ("unseen", 0.66, 0.84)])
def test_freely_worded_pairs_are_rather_kept_than_merged(split: str, merges: float, conflicts: float) -> None:
    found = score([pair for pair in load("dedup_pairs_free.json") if pair["split"] == split])
    assert found.unsafe == []
    assert found.merge_precision == 1.0
    assert found.merge_recall >= merges
    assert found.conflict_precision >= 0.97
    assert found.conflict_recall >= conflicts


@pytest.mark.parametrize(("split", "merges", "conflicts"), [("tuned", 0.82, 0.96), ("unseen", 0.85, 0.98)])
def test_pairs_of_everyday_life(split: str, merges: float, conflicts: float) -> None:
    found = score([pair for pair in load("dedup_pairs_daily.json") if pair["split"] == split])
    assert found.false_merges == []
    assert found.merge_recall >= merges
    assert found.conflict_precision >= 0.99
    assert found.conflict_recall >= conflicts


@pytest.mark.parametrize("turned", [False, True])
def test_near_misses_are_never_merged(turned: bool) -> None:
    pairs = [(pair["old"], pair["new"]) for pair in load("dedup_near_misses.json")]
    merged = [pair for pair in pairs if decide(*(reversed(pair) if turned else pair)).kind is PairKind.MERGE]
    assert merged == []


def test_no_pair_is_in_both_halves(own: list[dict[str, str]]) -> None:
    tuned, unseen = ({(p["old"], p["new"]) for p in own if p["split"] == split} for split in ("tuned", "unseen"))
    assert not tuned & unseen
    assert len(tuned) + len(unseen) == len(own)


def test_the_kind_of_a_labelled_pair_does_not_depend_on_its_order(own: list[dict[str, str]]) -> None:
    turned = [
        pair["id"]
        for pair in [*own, *load("dedup_pairs_daily.json")]
        if decide(pair["old"], pair["new"]).kind is not decide(pair["new"], pair["old"]).kind
    ]
    assert turned == []
