"""From records to a report, without a product."""

import json
from pathlib import Path
from typing import Any

import pytest

from strata.evaluation.locomo import Locomo
from strata.evaluation.madial import Madial
from strata.evaluation.source import DataFile
from strata.evaluation.task import Options

QUESTIONS = ((["D1:1"], 4), (["D1:2", "D2:1"], 1), (["D2:1"], 5))
SESSION = {"session_id": "s", "append_ms": 1.0, "state": "succeeded", "indexed": True, "error": "", "judge": "rules"}


def file(text: str) -> DataFile:
    return DataFile(path=Path("data.json"), text=text, sha256="0" * 64)


def talk() -> Options:
    conversation: dict[str, Any] = {"speaker_a": "Ann"}
    for number in (1, 2):
        conversation[f"session_{number}_date_time"] = f"1:56 pm on {number} May, 2023"
        conversation[f"session_{number}"] = [
            {"speaker": "Ann", "dia_id": f"D{number}:{turn}", "text": f"word {turn}"} for turn in (1, 2)
        ]
    asked = [{"question": "?", "evidence": evidence, "category": category} for evidence, category in QUESTIONS]
    return Options(
        data=file(json.dumps([{"sample_id": "a", "conversation": conversation, "qa": asked}])),
        cutoffs=(1, 2),
        budgets=(10, 25),
    )


def records(ranked: dict[int, list[list[Any]]]) -> dict[str, Any]:
    """The journal of an evaluation that found ``ranked``."""
    found: dict[str, Any] = {
        f"session:a:{number}": {**SESSION, "settle_ms": 10.0 * number, "turns": {"1": "x", "2": "y"}, "facts": {}}
        for number in (1, 2)
    }
    for place, units in ranked.items():
        times = {"ms": 5.0 * place, "load_ms": 2.0}
        told = {"loaded": units, "loaded_tokens": 30, "standing_tokens": 4, "baselines": {"bm25": units[::-1]}}
        found[f"question:a:{place}"] = {"ranked": units, **told, **times}
    return found


RANKED: dict[int, list[list[Any]]] = {
    1: [[10, "D1:1"], [10, "D2:2"]],
    2: [[10, "D2:2"], [15, "D2:1"]],
    3: [[10, "D1:1"], [10, "D1:2"], [10, "D2:1"]],
}


def test_the_numbers_are_those_that_can_be_counted_by_hand() -> None:
    metrics = Locomo().report(talk(), records(RANKED)).metrics
    assert (metrics["turn_recall@1"], metrics["turn_recall@2"]) == (0.5, 0.75)
    assert (metrics["turn_any@1"], metrics["turn_all@2"]) == (0.5, 0.5)
    assert (metrics["tokens@1"], metrics["tokens@2"]) == (10.0, 22.5)
    assert (metrics["recall_in_10_tokens"], metrics["recall_in_25_tokens"]) == (0.5, 0.75)
    assert metrics["mrr"] == 0.75
    assert metrics["bm25/turn_recall@1"] == 0.25
    assert metrics["turn_recall@2/multi-hop"] == 0.5
    assert metrics["turn_recall@2/adversarial"] == 0.0
    assert metrics["session_any@1"] == pytest.approx(2 / 3)
    assert metrics["session_any@2"] == 1.0
    assert metrics["session_all@1"] == pytest.approx(1 / 3)
    assert (metrics["loaded_recall"], metrics["loaded_tokens"], metrics["standing_tokens"]) == (0.75, 30.0, 4.0)
    assert (metrics["question_ms_p50"], metrics["insert_ms_per_turn_p50"]) == (10.0, 7.5)


def test_a_report_says_who_judged_and_what_failed() -> None:
    found = records(RANKED)
    found["session:a:2"] |= {"state": "parked", "error": "judge_output"}
    report = Locomo().report(talk(), found)
    assert report.facts["judge"] == "rules"
    assert report.counts["failed_runs"] == 1
    assert "1 sessions could not be settled: judge_output." in report.notes
    assert [note for note in report.notes if note.startswith("Dense alone is left out")]


def test_where_there_is_one_session_none_is_ranked() -> None:
    memories = {"1": {"event": "小明得了第一名。", "user-id": 1}, "2": {"event": "小明养猫。", "user-id": 1}}
    dialogue = {"dialogue": ["<小明>:早", "x"], "test-turn": [1], "relevant-id": [2], "user-id": 1}
    data, extra = (file(json.dumps(document)) for document in (memories, dialogue))
    options = Options(data=data, extra=extra, cutoffs=(1,), budgets=(10,))
    [step] = [step.id for step in Madial().plan(options) if step.kind == "questions"]
    found = {"session:user-1:memories": records({})["session:a:1"], step: records({1: [[9, "2"]]})["question:a:1"]}
    report = Madial().report(options, found)
    assert report.metrics["turn_recall@1"] == 1.0
    assert [name for name in report.metrics if name.startswith("session_")] == []
    assert [table.title for table in report.tables if table.title == "Sessions"] == []
