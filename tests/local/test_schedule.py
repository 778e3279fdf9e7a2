"""Schedules run when they are due, or when somebody asks."""

from datetime import UTC, datetime
from typing import Any

import pytest

from strata.clock import FakeClock
from strata.errors import ConfigurationError, NotFoundError
from strata.local.deployment import ScheduleSpec
from strata.local.function import FunctionFailed
from strata.local.schedule import Scheduler, parse
from tests.local.parts import function

TUESDAY = datetime(2026, 3, 10, 8, 0, tzinfo=UTC)


@pytest.fixture
def jobs() -> list[dict[str, Any]]:
    return []


@pytest.fixture
def scheduler(clock: FakeClock, jobs: list[dict[str, Any]]) -> Scheduler:
    def handler(event: dict[str, Any], _: object) -> dict[str, Any]:
        jobs.append(event)
        if event.get("fails"):
            raise RuntimeError
        return {"done": event["job"]}

    expressions = {"tidy": "rate(1 hour)", "check": "rate(5 minutes)", "report": "cron(0 3 ? * MON *)"}
    specs = {
        name: ScheduleSpec(name=name, expression=expression, function="door", input={"job": name})
        for name, expression in expressions.items()
    }
    specs["broken"] = ScheduleSpec(
        name="broken", expression="rate(2 days)", function="door", input={"job": "broken", "fails": True}
    )
    return Scheduler(specs, {"door": function(handler)}, clock)


@pytest.mark.parametrize(
    ("expression", "due"),
    [
        ("rate(1 minute)", datetime(2026, 3, 10, 8, 1, tzinfo=UTC)),
        ("rate(5 minutes)", datetime(2026, 3, 10, 8, 5, tzinfo=UTC)),
        ("rate(7 days)", datetime(2026, 3, 17, 8, 0, tzinfo=UTC)),
        ("cron(0 3 ? * MON *)", datetime(2026, 3, 16, 3, 0, tzinfo=UTC)),
        ("cron(0 8 * * ? *)", datetime(2026, 3, 11, 8, 0, tzinfo=UTC)),
        ("cron(0/15 * * * ? *)", datetime(2026, 3, 10, 8, 15, tzinfo=UTC)),
        ("cron(5,10 9-11 ? * 3 *)", datetime(2026, 3, 10, 9, 5, tzinfo=UTC)),
        ("cron(30 23 31 DEC ? *)", datetime(2026, 12, 31, 23, 30, tzinfo=UTC)),
        ("cron(0 0 ? * SUN *)", datetime(2026, 3, 15, 0, 0, tzinfo=UTC)),
    ],
)
def test_expressions_mean_what_they_mean_in_aws(expression: str, due: datetime) -> None:
    assert parse(expression).next_after(TUESDAY) == due


@pytest.mark.parametrize(
    "expression", ["", "rate(5)", "rate(1 week)", "cron(0 3 * *)", "at(2026-03-10T08:00:00)", "cron(0 3 L * ? *)"]
)
def test_what_is_no_schedule_is_refused(expression: str) -> None:
    with pytest.raises(ConfigurationError):
        parse(expression)


def test_a_schedule_that_never_comes_due_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="never"):
        parse("cron(0 0 30 FEB ? *)").next_after(TUESDAY)


def test_a_job_runs_now_with_the_input_of_the_template(scheduler: Scheduler, jobs: list[dict[str, Any]]) -> None:
    assert scheduler.run_now("tidy") == {"done": "tidy"}
    assert jobs == [{"job": "tidy"}]


def test_a_job_nobody_knows_is_refused_with_the_names_there_are(scheduler: Scheduler) -> None:
    with pytest.raises(NotFoundError, match="broken, check, report, tidy"):
        scheduler.run_now("sweep")


def test_a_job_that_fails_says_so_when_asked_to_run(scheduler: Scheduler) -> None:
    with pytest.raises(FunctionFailed):
        scheduler.run_now("broken")


def test_jobs_run_when_due_and_once_however_late(scheduler: Scheduler, clock: FakeClock) -> None:
    assert scheduler.run_due() == []
    clock.advance(300)
    assert scheduler.run_due() == ["check"]
    assert scheduler.run_due() == []
    clock.advance(3_300)
    assert scheduler.run_due() == ["tidy", "check"]


def test_a_job_that_fails_does_not_stop_the_others(
    scheduler: Scheduler, clock: FakeClock, jobs: list[dict[str, Any]]
) -> None:
    clock.advance(172_800)

    assert sorted(scheduler.run_due()) == ["broken", "check", "tidy"]
    assert sorted(job["job"] for job in jobs) == ["broken", "check", "tidy"]
