"""The lag task: what counts as readable, and what is never."""

from typing import Any

import pytest

from strata.evaluation import lag
from strata.evaluation.lag import LagTask
from strata.evaluation.report import Report
from strata.evaluation.task import Options
from tests.unit.evaluation.platforms import Heard, Platform


class Deaf(Platform):
    """Shares nothing."""

    def agent(self, name: str = "evaluator", *, provider: str | None = None) -> Any:
        return super().agent(name, provider="none")


def measured(platform: Platform) -> Report:
    records: dict[str, Any] = {}
    options = Options(limit=4)
    for step in LagTask().plan(options):
        records[step.id] = step.work(platform, records)  # type: ignore[arg-type]
    return LagTask().report(options, records)


def test_what_is_readable_has_a_lag() -> None:
    found = measured(Platform())
    assert found.counts == {"sessions": 4, "never_readable": 0}
    assert 0 <= found.metrics["readable_p50_ms"] <= found.metrics["readable_p95_ms"]
    assert found.metrics["settled_p95_ms"] == 0.0
    assert found.facts["judge"] == "fake"


def test_what_is_never_readable_is_counted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lag, "MOST_SECONDS", 0.0)
    found = measured(Deaf())
    assert found.metrics["never_readable"] == 1.0
    assert found.metrics["readable_p50_ms"] == 0.0


def test_without_a_provider_one_look_is_enough() -> None:
    platform = Deaf()
    platform.provider = "none"
    assert measured(platform).counts["never_readable"] == 4


def test_every_session_says_another_word() -> None:
    platform = Platform()
    measured(platform)
    said: list[Heard] = platform.agent("teller")._log.heard
    assert len({one.content for one in said}) == 4
