"""The isolation task finds what leaks, and nothing where nothing does."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.evaluation.isolation import IsolationTask
from strata.evaluation.isolation_world import SECRETS, world
from strata.evaluation.report import Report
from strata.evaluation.task import Options
from tests.unit.evaluation.platforms import Careless, Client, Platform, Shut

OPTIONS = Options(seed=3, limit=120)


def tried(kind: type[Client]) -> Report:
    task, platform = IsolationTask(), Platform(kind)
    records: dict[str, Any] = {}
    for step in task.plan(OPTIONS):
        records[step.id] = step.work(platform, records)  # type: ignore[arg-type]
    return task.report(OPTIONS, records)


@given(st.integers(0, 10_000))
def test_a_word_stands_for_one_owner_alone(seed: int) -> None:
    made = world(seed, users=5, agents=4, collections=3)
    words = [word for each in made.words.values() for word in each]
    assert len(words) == len(SECRETS) * 12
    assert not [(one, other) for one in words for other in words if one is not other and one in other]


@given(st.integers(0, 10_000))
def test_every_collection_has_readers_revoked_and_strangers(seed: int) -> None:
    made = world(seed)
    for name, readers in made.readers.items():
        assert readers
        assert made.revoked[name]
        assert not readers & made.revoked[name]
        assert set(made.agents) - readers - made.revoked[name]


def test_foreign_words_are_found_wherever_they_stand() -> None:
    made = world(1)
    [mine, other, *_] = made.owners()
    text = f'{{"a": ["x{made.words[other][1]}y", "{made.words[mine][0]}"]}}'
    assert made.foreign(text, [mine]) == [other]
    assert made.foreign(text, [mine, other]) == []


def test_a_platform_that_keeps_to_itself_leaks_nothing() -> None:
    found = tried(Shut)
    assert found.metrics["leakage"] == 0
    assert found.metrics["refused"] == 1.0
    assert found.metrics["own_found"] > 0.1, "what may be seen is seen, so that silence proves something"


def test_a_platform_that_talks_is_found_out() -> None:
    found = tried(Careless)
    assert found.metrics["leakage"] > 0
    assert found.tables[1].rows


def test_kinds_are_tried_in_turn() -> None:
    rows = {line[0]: int(str(line[1])) for line in tried(Shut).tables[0].rows}
    assert len(rows) == 6
    assert set(rows.values()) == {20}


@pytest.mark.parametrize("limit", [1, 7, 45])
def test_the_limit_is_the_number_of_attempts(limit: int) -> None:
    steps = [step for step in IsolationTask().plan(Options(limit=limit)) if step.kind == "attempts"]
    assert len(steps) == -(-limit // 20)
