"""Running a task: each step once, whatever happens in between."""

from pathlib import Path

import pytest

from strata.errors import InputError
from strata.evaluation.runner import Outcome, Place, evaluate
from strata.evaluation.task import Options


def run(out: Path | None, *, seed: int = 1) -> Outcome:
    return evaluate("squares", Options(seed=seed), Place(out=out), lambda *_told: None)


def test_a_task_is_run_to_its_report(squares: list[str]) -> None:
    outcome = run(None)
    assert outcome.report.metrics == {"largest": 16.0}
    assert squares == ["1", "2", "3", "4"]


def test_what_is_finished_is_not_done_again(squares: list[str], tmp_path: Path) -> None:
    first = run(tmp_path)
    squares.clear()
    again = run(tmp_path)
    assert squares == []
    assert again.is_continued
    assert not first.is_continued
    assert again.report == first.report


def test_a_torn_last_line_costs_one_step(squares: list[str], tmp_path: Path) -> None:
    run(tmp_path)
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-5])
    squares.clear()
    assert run(tmp_path).report.metrics == {"largest": 16.0}
    assert squares == ["4"]


def test_other_settings_start_anew(squares: list[str], tmp_path: Path) -> None:
    run(tmp_path)
    squares.clear()
    assert not run(tmp_path, seed=2).is_continued
    assert squares == ["1", "2", "3", "4"]


def test_progress_is_told_by_kind(squares: list[str]) -> None:
    told: list[tuple[str, int, int]] = []
    evaluate("squares", Options(limit=2), Place(), lambda *step: told.append(step))
    assert told == [("numbers", 0, 2), ("numbers", 1, 2), ("numbers", 2, 2)]


@pytest.mark.parametrize(("name", "options"), [("cubes", Options()), ("squares", Options(provider="paper"))])
def test_what_is_not_known_is_refused(squares: list[str], name: str, options: Options) -> None:
    with pytest.raises(InputError):
        evaluate(name, options, Place(), lambda *_told: None)
    assert squares == []
