"""Providers side by side: one table of all numbers, and a word about those that could not be measured."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

import pytest

from strata.errors import ConfigurationError, InputError, ProviderUnavailableError, StrataError
from strata.evaluation import comparison, page, task
from strata.evaluation.comparison import Comparison
from strata.evaluation.report import Curves, Distribution, Report, Table
from strata.evaluation.runner import Outcome, Place
from strata.evaluation.task import Options, Record, Step


def outcome(provider: str, recall: float) -> Outcome:
    plots = (
        Curves(title="Recall", x="tokens", y="recall", lines={"recall": [(1.0, recall), (2.0, 1.0)]}),
        Distribution(title="Latency", x="ms", values={"load": [1.0, 2.0]}),
    )
    own = {f"only_{provider}": 1.0} if provider == "none" else {}
    report = Report(
        metrics={"memory_recall": recall, **own},
        counts={"turns": 5},
        tables=[Table(title="T", columns=("a",), rows=[])],
        plots=plots,
        notes=["Read with care.", provider],
    )
    return Outcome(
        task="household", options=Options(provider=provider), report=report, embedder="nano", is_continued=False
    )


@pytest.fixture
def found() -> Comparison:
    return Comparison(
        task="household",
        outcomes={"native": outcome("native", 0.98), "none": outcome("none", 0.05)},
        left_out={"memos": "MemOS has no address."},
    )


def test_every_number_has_a_row_and_every_provider_a_column(found: Comparison) -> None:
    [numbers, left_out] = comparison.report(found).tables
    assert numbers.columns == ("", "native", "none")
    assert list(numbers.rows) == [["memory_recall", "0.98", "0.05"], ["only_none", None, "1"]]
    assert list(left_out.rows) == [("memos", "MemOS has no address.")]


def test_numbers_are_named_by_their_provider(found: Comparison) -> None:
    whole = comparison.report(found)
    document = comparison.document(found, whole)
    assert document["metrics"] == {"native.memory_recall": 0.98, "none.memory_recall": 0.05, "none.only_none": 1.0}
    assert document["left_out"] == {"memos": "MemOS has no address."}
    assert document["provider"] == "native, none"
    assert document["providers"]["none"]["metrics"]["memory_recall"] == 0.05


def test_plots_of_one_title_lie_over_one_another(found: Comparison) -> None:
    curves, spread = comparison.report(found).plots
    assert isinstance(curves, Curves)
    assert list(curves.lines) == ["native: recall", "none: recall"]
    assert isinstance(spread, Distribution)
    assert list(spread.values) == ["native: load", "none: load"]


def test_the_page_names_what_was_left_out(found: Comparison) -> None:
    whole = comparison.report(found)
    html = page.rendered(comparison.document(found, whole), whole)
    assert "MemOS has no address." in html
    assert "native: recall" in html


def test_a_note_is_printed_once(found: Comparison) -> None:
    assert comparison.report(found).notes == [
        "Read with care.", "native", "none", "memos was left out: MemOS has no address.",
    ]  # fmt: skip


def test_with_nobody_there_the_result_says_so() -> None:
    nobody = Comparison(task="lag", outcomes={}, left_out={"mem0": "gone"})
    document = comparison.document(nobody, comparison.report(nobody))
    assert document["provider"] == "none could be reached"
    assert document["metrics"] == {}
    page.rendered(document, comparison.report(nobody))


def test_a_task_without_provider_is_not_compared() -> None:
    with pytest.raises(InputError, match="does not depend"):
        comparison.compared("pairs", Options(), ["native"], Place(), lambda *_: None)


class Quick:
    """Needs a provider by its own account, and fails where it is told to."""

    needs_data = False
    needs_subject = True

    def plan(self, options: Options) -> Sequence[Step]:
        return [Step(id="one", kind="steps", work=lambda *_: {"provider": options.provider})]

    def report(self, _options: Options, records: Mapping[str, Record]) -> Report:
        return Report(metrics={"done": float(len(records))})


def test_each_provider_has_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(name: str, options: Options, place: Place, _watch: object) -> Outcome:
        assert place.out == tmp_path / options.provider
        if options.provider == "native":
            place.out.mkdir()
            return outcome("native", 1.0)
        raise ProviderUnavailableError

    monkeypatch.setitem(task.TASKS, "quick", "tests.unit.evaluation.test_comparison:Quick")
    monkeypatch.setattr(comparison, "evaluate", refused)
    monkeypatch.setattr(comparison, "_why_not", lambda provider, _place: "gone" if provider == "memos" else "")
    found = comparison.compared("quick", Options(), ["native", "memos"], Place(out=tmp_path), lambda *_: None)
    assert found.left_out == {"memos": "gone"}
    assert (tmp_path / "native" / "result.json").exists()
    with pytest.raises(ProviderUnavailableError):
        comparison.compared("quick", Options(), ["none"], Place(out=tmp_path), lambda *_: None)


class Probed:
    """A product whose provider fails as often as it is told to."""

    def __init__(self, codes: list[str]) -> None:
        self._codes = codes

    def agent(self, _name: str) -> "Probed":
        return self

    def scoped(self, name: str) -> str:
        return name

    def load_context(self, *_arguments: object, **_options: object) -> object:
        code = self._codes.pop(0)
        return type("Loaded", (), {"degraded": [{"part": "long_term", "code": code}] if code else []})()


@pytest.mark.parametrize(
    ("codes", "why"),
    [
        (["", "", ""], ""),
        (["provider_timeout", "", "provider_timeout"], ""),
        (["provider_unavailable", "circuit_open", "circuit_open"], "It does not answer (provider_unavailable)."),
        (["mode_not_supported"] * 3, ""),
    ],
)
def test_a_provider_is_absent_if_it_never_answers(monkeypatch: pytest.MonkeyPatch, codes: list[str], why: str) -> None:
    monkeypatch.setattr(comparison, "_opened", lambda *_: nullcontext(Probed(codes)))
    assert comparison._why_not("memos", Place()) == why


@pytest.mark.parametrize("error", [ConfigurationError("No address.", hint="Set one."), ProviderUnavailableError()])
def test_a_provider_is_absent_if_the_product_cannot_be_opened_for_it(
    monkeypatch: pytest.MonkeyPatch, error: StrataError
) -> None:
    def shut(*_: object) -> None:
        raise error

    monkeypatch.setattr(comparison, "_opened", shut)
    assert error.message in comparison._why_not("mem0", Place())
    assert comparison._why_not("native", Place()) == ""
