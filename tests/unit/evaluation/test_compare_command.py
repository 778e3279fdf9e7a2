"""``strata compare``: what it takes, prints and writes."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from strata.cli import root
from strata.errors import InputError
from strata.evaluation import comparison
from strata.evaluation.comparison import Comparison
from strata.evaluation.report import Report
from strata.evaluation.runner import Outcome
from strata.evaluation.task import Options


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the comparison was asked for; it answers for the first provider alone."""
    calls: list[Any] = []

    def compared(name: str, options: Options, providers: list[str], *_: object) -> Comparison:
        calls.append((name, options, providers))
        report = Report(metrics={"memory_recall": 0.5}, notes=["A note."])
        options = Options(provider=providers[0])
        found = Outcome(task=name, options=options, report=report, embedder="", is_continued=False)
        return Comparison(task=name, outcomes={providers[0]: found}, left_out=dict.fromkeys(providers[1:], "Gone."))

    monkeypatch.setattr(comparison, "compared", compared)
    return calls


def strata(*arguments: str) -> Result:
    return CliRunner().invoke(root, ["compare", *arguments])


def test_all_providers_are_meant_unless_some_are_named(asked: list[Any]) -> None:
    assert strata("household", "--limit", "3", "--seed", "9").exit_code == 0
    assert strata("lag", "--providers", " mem0 , native,").exit_code == 0
    (first, options, every), (_, _, some) = asked
    assert (first, options.limit, options.seed) == ("household", 3, 9)
    assert every == ["native", "memos", "mem0", "none"]
    assert some == ["mem0", "native"]


def test_files_and_budgets_are_handed_on(asked: list[Any], tmp_path: Path) -> None:
    for name in ("data", "gold"):
        (tmp_path / name).write_text(f'["{name}"]', encoding="utf-8")
    files = ("--data", str(tmp_path / "data"), "--extra", str(tmp_path / "gold"))
    assert strata("memorybank", *files, "--budget", "600,100", "--k", "3").exit_code == 0
    [(_, options, _)] = asked
    assert (options.data.json(), options.extra.json()) == (["data"], ["gold"])
    assert (options.budgets, options.cutoffs) == ((100, 600), (3,))


def test_what_was_left_out_is_printed(asked: list[Any]) -> None:
    printed = strata("household", "--providers", "native,memos").stdout
    assert "memory_recall" in printed
    assert "memos was left out: Gone." in printed


def test_programs_get_the_document(asked: list[Any]) -> None:
    document = json.loads(strata("household", "--providers", "native,memos", "--json").stdout)
    assert document["metrics"] == {"native.memory_recall": 0.5}
    assert document["left_out"] == {"memos": "Gone."}


def test_result_and_page_are_written(asked: list[Any], tmp_path: Path) -> None:
    assert strata("household", "--providers", "native", "--out", str(tmp_path / "new")).exit_code == 0
    document = json.loads((tmp_path / "new" / "result.json").read_text(encoding="utf-8"))
    assert document["task"] == "household"
    assert "memory_recall" in (tmp_path / "new" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("providers", ["", ",", "native,nobody"])
def test_unknown_providers_are_refused(asked: list[Any], providers: str) -> None:
    assert isinstance(strata("lag", "--providers", providers).exception, InputError)
    assert asked == []


def test_a_task_without_provider_is_refused() -> None:
    assert isinstance(strata("pairs").exception, InputError)
