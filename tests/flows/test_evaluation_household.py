"""The evaluation on the real product: a private stack, the bundled embedder, the rule judge, no model."""

from pathlib import Path

import pytest

from strata.evaluation import comparison
from strata.evaluation.runner import Outcome, Place, evaluate
from strata.evaluation.task import Options


def run(task: str, options: Options, out: Path | None = None) -> Outcome:
    return evaluate(task, options, Place(out=out), lambda *_: None)


@pytest.mark.slow
def test_shared_memory_is_worth_something_to_a_household() -> None:
    numbers = run("household", Options(seed=7, limit=4)).report.metrics
    assert numbers["memory_recall"] >= 0.95
    assert numbers["preference_hit"] >= 0.8
    assert numbers["taboo_contact"] == 0.0
    assert numbers["follow_ups_per_turn"] <= 0.3
    assert numbers["without_memory_recall"] < 0.2
    assert numbers["without_follow_ups_per_turn"] > 1.0


@pytest.mark.slow
def test_nothing_leaks() -> None:
    found = run("isolation", Options(seed=7, limit=120)).report
    assert found.metrics["leakage"] == 0
    assert found.metrics["refused"] == 1.0
    assert found.metrics["refused_wrongly"] == 0.0
    assert found.metrics["own_found"] >= 0.9


@pytest.mark.slow
def test_what_was_said_becomes_readable(tmp_path: Path) -> None:
    first = run("lag", Options(limit=2), tmp_path)
    assert first.report.metrics["never_readable"] == 0.0
    again = run("lag", Options(limit=2), tmp_path)
    assert again.is_continued
    assert again.report.metrics == first.report.metrics


@pytest.mark.slow
def test_a_provider_without_an_address_is_left_out(tmp_path: Path) -> None:
    place = Place(out=tmp_path)
    found = comparison.compared("lag", Options(limit=1), ["native", "memos", "mem0"], place, lambda *_: None)
    assert list(found.outcomes) == ["native"]
    assert "STRATA_PROVIDERS_MEMOS_URL" in found.left_out["memos"]
    assert "STRATA_PROVIDERS_MEM0_URL" in found.left_out["mem0"]
