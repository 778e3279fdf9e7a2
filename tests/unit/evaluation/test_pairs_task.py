"""The pairs task: what a file may look like, and what is counted."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.errors import InputError
from strata.evaluation import source
from strata.evaluation.pairs import PairsTask, pairs_of
from strata.evaluation.pairs_report import report
from strata.evaluation.report import Report
from strata.evaluation.task import Options

LABELLED = Path(__file__).resolve().parents[2] / "data" / "dedup_pairs.json"


def file(path: Path, document: object) -> source.DataFile:
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return source.read(path)


def pair(**more: object) -> dict[str, object]:
    return {"old": "用户不吃香菜", "new": "用户不吃芹菜", "want": "keep", **more}


def decided(options: Options) -> Report:
    records: dict[str, Any] = {}
    for step in PairsTask().plan(options):
        records[step.id] = step.work(None, records)  # type: ignore[arg-type]
    return PairsTask().report(options, records)


def test_the_labelled_pairs_reach_their_goals() -> None:
    numbers = decided(Options(data=source.read(LABELLED))).metrics
    assert numbers["wrong_merges"] == numbers["procedure_wrong_merges"] == 0
    assert numbers["merge_recall"] >= 0.85
    assert numbers["conflict_precision"] >= 0.97
    assert numbers["conflict_recall"] >= 0.95
    assert numbers["procedure_merge_recall"] >= 0.85
    assert numbers["procedure_conflict_recall"] >= 0.85, "what similarity does not propose cannot be noticed"


def test_the_limit_takes_the_first(tmp_path: Path) -> None:
    many = file(tmp_path / "pairs.json", [pair(id=str(number), new=f"用户不吃{number}") for number in range(120)])
    assert len(PairsTask().plan(Options(data=many))) == 3
    assert decided(Options(data=many, limit=7)).counts["pairs"] == 7


@pytest.mark.parametrize(
    ("item", "want"),
    [
        ({"want": "merge"}, "merge"),
        ({"want": "Duplicate"}, "merge"),
        ({"want": "contradiction"}, "conflict"),
        ({"want": "something new"}, "keep"),
        ({"want": None, "kind": "a"}, "merge"),
        ({"want": "", "kind": "b"}, "conflict"),
        ({"want": None, "kind": "d"}, "conflict"),
        ({"want": None, "kind": "c"}, "keep"),
        ({"want": None, "kind": "r"}, "refine"),
        ({"want": None, "kind": "update"}, "conflict"),
        ({"want": "keep", "kind": "a"}, "keep"),
    ],
)
def test_what_a_label_means(tmp_path: Path, item: dict[str, object], want: str) -> None:
    assert [one.want for one in pairs_of(file(tmp_path / "pairs.json", [pair(**item)]))] == [want]


def test_pairs_without_a_label_are_left_out(tmp_path: Path) -> None:
    assert len(pairs_of(file(tmp_path / "pairs.json", [pair(), pair(want=None)]))) == 1


def test_json_lines_and_a_named_list_are_read_too(tmp_path: Path) -> None:
    lines = tmp_path / "pairs.jsonl"
    lines.write_text("\n".join(json.dumps(pair(id=name)) for name in "ab"), encoding="utf-8")
    assert len(pairs_of(source.read(lines))) == 2
    assert len(pairs_of(file(tmp_path / "pairs.json", {"pairs": [pair()]}))) == 1


@pytest.mark.parametrize(
    "document",
    [
        {"a": 1},
        [],
        [1],
        [pair(old="")],
        [pair(new=None)],
        [{"old": "a"}],
        [pair(want=None)],
        [pair(id="x")] * 2,
        "text",
    ],
)
def test_other_shapes_are_refused(tmp_path: Path, document: object) -> None:
    with pytest.raises(InputError):
        pairs_of(file(tmp_path / "pairs.json", document))


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8), st.lists, max_leaves=4)


@given(st.dictionaries(st.text(max_size=8), JSON, max_size=5))
def test_unknown_fields_change_nothing(tmp_path_factory: pytest.TempPathFactory, more: dict[str, object]) -> None:
    own = {name: value for name, value in more.items() if name not in {"id", "old", "new", "want", "kind"}}
    folder = tmp_path_factory.mktemp("pairs")
    [found] = pairs_of(file(folder / "pairs.json", [own | pair()]))
    assert (found.old, found.new, found.want) == ("用户不吃香菜", "用户不吃芹菜", "keep")


def row(want: str, decided_as: str, procedure: str = "keep") -> dict[str, str]:
    texts = {"old": "a", "new": "b", "language": "en", "kind": "a", "reason": ""}
    return {"id": f"{want}-{decided_as}", "want": want, "decided": decided_as, "procedure": procedure, **texts}


def test_what_is_counted() -> None:
    rows = [
        row("merge", "merge", "merge"), row("merge", "keep"), row("keep", "merge"), row("refine", "merge"),
        row("conflict", "conflict"), row("conflict", "keep"), row("keep", "conflict"), row("keep", "keep"),
    ]  # fmt: skip
    found = report(rows)
    assert found.metrics["wrong_merges"] == 2
    assert found.metrics["merge_precision"] == pytest.approx(1 / 3)
    assert found.metrics["merge_recall"] == 0.5
    assert found.metrics["conflict_precision"] == 0.5
    assert found.metrics["conflict_recall"] == 0.5
    assert found.metrics["procedure_merge_recall"] == 0.5
    assert "procedure_conflict_precision" not in found.metrics, "a share of nothing"
    assert [line[0] for line in found.tables[2].rows][:2] == ["keep-merge", "refine-merge"]
