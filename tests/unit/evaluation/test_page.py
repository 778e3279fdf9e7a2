"""The page and the document of a result."""

import math
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from strata.errors import InputError
from strata.evaluation import drawing, page, result
from strata.evaluation.report import Curves, Distribution, Report, Table
from strata.evaluation.runner import Outcome
from strata.evaluation.task import Options

HOSTILE = '<script>alert("1")</script> & 甲'
CURVES = Curves(
    title="recall", x="tokens", y="share", lines={HOSTILE: [(150, 0.1), (2400, 0.9)]}, x_is_logarithmic=True
)
TIMES = Distribution(title="time", x="ms", values={"load": [1.0, 2.0, 40.0], "none": []})


def outcome(report: Report) -> Outcome:
    return Outcome(task="t", options=Options(), report=report, embedder="", is_continued=False)


def test_the_page_is_whole_and_inert() -> None:
    table = Table(title=HOSTILE, columns=("a", HOSTILE), rows=[[HOSTILE, 0.123], ["b", None]], note=HOSTILE)
    report = Report(
        metrics={"m": 0.5}, intervals={"m": (0.4, 0.6)}, tables=[table], plots=[CURVES, TIMES], notes=[HOSTILE]
    )
    made = outcome(report)
    html = page.rendered(result.document(made), report)
    assert "<script" not in html
    assert "12.3" in html
    assert "0.4000 – 0.6000" in html
    assert "$" not in html


@pytest.mark.parametrize(
    "plot",
    [
        CURVES,
        TIMES,
        Curves(title="one", x="x", y="y", lines={"a": [(0, 0)]}),
        Curves(title="flat", x="x", y="y", lines={"a": [(0, 0), (1, 0)]}, y_is_fraction=False),
        Curves(title="zero", x="x", y="y", lines={"a": [(0, 0.5), (0, 0.6)]}, x_is_logarithmic=True),
        Curves(title="many", x="x", y="y", lines={f"line {n}": [(n, n / 20), (20, 1)] for n in range(20)}),
        Distribution(title="same", x="ms", values={"a": [5.0] * 9}),
        Distribution(title="zeros", x="ms", values={"a": [0.0, 0.0]}),
    ],
    ids=lambda plot: plot.title,
)
def test_a_chart_is_well_formed_and_stays_inside(plot: Curves | Distribution) -> None:
    drawn = drawing.drawn(plot)
    svg = ET.fromstring(drawn[drawn.index("<svg") :])  # noqa: S314 our own
    for line in svg.iter("polyline"):
        for point in line.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= drawing.WIDTH
            assert 0 <= y <= drawing.HEIGHT


@pytest.mark.parametrize("plot", [Curves(title="", x="", y="", lines={}), Distribution(title="", x="", values={})])
def test_a_chart_of_nothing_says_so(plot: Curves | Distribution) -> None:
    assert "–" in drawing.drawn(plot)


def test_a_number_that_is_none_is_not_written() -> None:
    for value in (math.nan, math.inf):
        with pytest.raises(ValueError, match=str(value)):
            result.document(outcome(Report(metrics={"m": value})))


def test_a_result_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "result.json").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        result.write(outcome(Report(metrics={})), tmp_path)


def test_facts_name_what_else_there_is() -> None:
    found = result.document(outcome(Report(metrics={}, facts={"judge": "rules", "own": "thing"})))
    assert (found["judge"], found["own"], found["model"], found["embedder"]) == ("rules", "thing", "none", "none")
