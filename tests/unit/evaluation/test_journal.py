"""The journal: what is in it stays, what was torn is forgotten."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.errors import ConfigurationError
from strata.evaluation.journal import Journal

SETTINGS = {"task": "squares", "k": [5, 10]}


def filled(path: Path, steps: int) -> str:
    with Journal(path, SETTINGS) as journal:
        for step in range(steps):
            journal.enter(f"step:{step}", {"值": step})
        return journal.scope


def test_what_was_entered_is_found_under_the_same_scope(tmp_path: Path) -> None:
    scope = filled(tmp_path / "j", 3)
    with Journal(tmp_path / "j", SETTINGS) as journal:
        assert journal.scope == scope
        assert journal.records == {f"step:{step}": {"值": step} for step in range(3)}


def test_other_settings_have_another_scope(tmp_path: Path) -> None:
    scope = filled(tmp_path / "j", 3)
    with Journal(tmp_path / "j", {**SETTINGS, "k": [5]}) as journal:
        assert journal.records == {}
        assert journal.scope != scope


@given(kept=st.integers(0, 400))
def test_cut_anywhere_it_holds_whole_steps_only(kept: int, tmp_path_factory: object) -> None:
    path = tmp_path_factory.mktemp("cut") / "j"  # type: ignore[attr-defined] # pytest's factory
    filled(path, 5)
    whole = path.read_bytes()
    path.write_bytes(whole[: min(kept, len(whole))])
    lines = whole[: min(kept, len(whole))].decode(errors="ignore").count("\n")
    with Journal(path, SETTINGS) as journal:
        assert len(journal.records) == max(0, lines - 1)
        journal.enter("step:new", {"值": 9})
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_a_file_of_somebody_else_is_not_taken_for_a_journal(tmp_path: Path) -> None:
    for content in (b"\xff\xfe\x00", b"[1]\n2\n", b'{"settings": 3}\n{"step": "a"}\n', b""):
        (tmp_path / "j").write_bytes(content)
        with Journal(tmp_path / "j", SETTINGS) as journal:
            assert journal.records == {}


def test_two_evaluations_do_not_write_one_journal(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", SETTINGS) as journal:
        journal.enter("a", {})
        with pytest.raises(ConfigurationError, match="Another evaluation"):
            Journal(tmp_path / "j", SETTINGS)
    with Journal(tmp_path / "j", SETTINGS) as journal:
        assert journal.records == {"a": {}}


def test_without_a_path_nothing_is_written(tmp_path: Path) -> None:
    with Journal(None, SETTINGS) as journal:
        journal.enter("a", {})
        assert journal.records == {"a": {}}
    assert list(tmp_path.iterdir()) == []
