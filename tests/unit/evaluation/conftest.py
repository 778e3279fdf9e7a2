"""A task that needs no product: it squares numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from strata.evaluation import task
from strata.evaluation.report import Curves, Report, Table
from strata.evaluation.subject import Subject
from strata.evaluation.task import Options, Record, Step

CALLS: list[str] = []


@dataclass
class Squares:
    """The smallest task there can be."""

    needs_data: bool = False
    needs_subject: bool = False
    extra: list[str] = field(default_factory=list)

    def plan(self, options: Options) -> Sequence[Step]:
        return [Step(id=f"number:{n}", kind="numbers", work=_squared(n)) for n in range(1, (options.limit or 4) + 1)]

    def report(self, options: Options, records: Mapping[str, Record]) -> Report:
        squares = [record["square"] for record in records.values()]
        return Report(
            metrics={"largest": float(max(squares))},
            tables=[Table(title="Squares", columns=("number", "square"), rows=list(enumerate(squares, start=1)))],
            plots=[Curves(title="Squares", x="n", y="n²", lines={"square": list(enumerate(squares, start=1))})],
            notes=["1 < 2"],
        )


def _squared(number: int) -> task.Work:
    def work(_subject: Subject, _done: Mapping[str, Record]) -> Record:
        CALLS.append(str(number))
        return {"square": number * number}

    return work


@pytest.fixture
def squares(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The task under the name ``squares``; gives the numbers that were worked on."""
    monkeypatch.setitem(task.TASKS, "squares", "tests.unit.evaluation.conftest:Squares")
    CALLS.clear()
    yield CALLS
    CALLS.clear()
