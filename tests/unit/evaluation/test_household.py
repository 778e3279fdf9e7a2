"""The household task on platforms that remember everything, or nothing."""

from typing import Any

import pytest

from strata.errors import InputError
from strata.evaluation.household import HouseholdTask
from strata.evaluation.household_score import TURNS
from strata.evaluation.task import Options
from tests.unit.evaluation.platforms import Platform

OPTIONS = Options(seed=5, limit=6)


def played(options: Options) -> tuple[Any, dict[str, Any]]:
    task, platform = HouseholdTask(), Platform()
    records: dict[str, Any] = {}
    for step in task.plan(options):
        records[step.id] = step.work(platform, records)  # type: ignore[arg-type]
    return task.report(options, records), records


@pytest.fixture(scope="module")
def report() -> Any:
    return played(OPTIONS)[0]


def test_a_platform_that_forgets_nothing_is_right_throughout(report: Any) -> None:
    numbers = report.metrics
    assert numbers["memory_recall"] == 1.0
    assert numbers["preference_hit"] == 1.0
    assert numbers["taboo_contact"] == 0.0
    assert numbers["follow_ups_per_turn"] == 0.0
    assert numbers["right_dish"] == 1.0


def test_without_sharing_agents_have_to_ask(report: Any) -> None:
    numbers = report.metrics
    assert numbers["without_memory_recall"] < 0.2
    assert numbers["without_preference_hit"] < 0.5
    assert numbers["without_follow_ups_per_turn"] == pytest.approx(1.4)
    assert numbers["without_right_dish"] == 0.25, "its own window still tells the coach"


def test_without_sharing_taboos_are_touched() -> None:
    assert played(Options(seed=5, limit=20, provider="none"))[0].metrics["taboo_contact"] > 0.1


def test_with_no_provider_nothing_is_played_twice() -> None:
    steps = HouseholdTask().plan(Options(provider="none", limit=3))
    assert [step.id for step in steps] == ["household_00/none", "household_01/none", "household_02/none"]


def test_the_same_seed_plays_the_same_evening() -> None:
    assert played(OPTIONS)[1] == played(OPTIONS)[1]


def test_the_key_of_one_agent_is_not_enough() -> None:
    platform = Platform()
    one = platform.agent()
    platform.agent = lambda *_, **__: one  # type: ignore[method-assign]
    [step, *_] = HouseholdTask().plan(OPTIONS)
    with pytest.raises(InputError, match="several agents"):
        step.work(platform, {})  # type: ignore[arg-type]


def test_all_turns_and_facts_are_counted(report: Any) -> None:
    assert report.counts["turns"] == 6 * len(TURNS)
    assert report.counts["facts_needed"] >= 6 * (5 + 4 + 2 * 4)
    assert report.counts["picks"] == 12
    assert [row[0] for row in report.tables[1].rows] == list(TURNS)


def test_a_repeated_evening_says_the_same_under_the_same_ids() -> None:
    """A step that was killed is worked again; the product must be able to tell that it has heard all of it."""
    task = HouseholdTask()
    [step, *_] = task.plan(OPTIONS)
    ids = []
    for _ in range(2):
        platform = Platform()
        sent: list[str] = []
        for agent in ("recipe_adviser", "shopper", "cooking_coach"):
            client = platform.agent(agent, provider="native")
            client.append = _noted(client.append, sent)  # type: ignore[method-assign]
        step.work(platform, {})  # type: ignore[arg-type]
        ids.append(sent)
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == len(ids[0])


def _noted(append: Any, sent: list[str]) -> Any:
    def noted(session: str, user: str, messages: Any, **options: object) -> None:
        sent.extend(one["message_id"] for one in messages)
        append(session, user, messages, **options)

    return noted
