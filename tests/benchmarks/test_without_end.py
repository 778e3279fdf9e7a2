"""What hostile texts and servers that are down cost, beside as much ordinary text and a server that answers."""

import io
import itertools
from contextlib import redirect_stdout

import pytest

from strata.clock import SystemClock
from strata.config import Providers
from strata.consolidation.pieces import readable
from strata.consolidation.rules import judge
from strata.consolidation.screen import instructs, redact
from strata.errors import CircuitOpenError, ProviderUnavailableError
from strata.model.messages import Role
from strata.providers.answers import Answer
from strata.providers.deadline import Deadline
from strata.providers.http import Call, Endpoint
from strata.tokens.counter import TokenCounter
from tests.benchmarks.timing import against_floor
from tests.doubles.faults import Fault
from tests.doubles.server import Asked, Double, Reply
from tests.fakes.ledger import message
from tests.unit.consolidation.test_rules import SAID, ZONE

_days = itertools.count()


def talk(characters: int) -> str:
    """Return ordinary talk that nobody has read before."""
    sentence = "第{}天去了公园散步，看见许多人在放风筝。Then we had tea by the river. "
    return "".join(sentence.format(next(_days)) for _ in range(characters // 55 + 1))[:characters]


def judged(text: str) -> object:
    return judge(readable([message(1, text, role=Role.USER, said_at=SAID)]), zone=ZONE)


def screened(text: str) -> None:
    redact(text)
    instructs(text)


JUNK = ["。", "，", ",", "...", "…", "👍", "一", "ไ", "\n", " ", "\t", "'", "-", "_", "A", "a\n", "我喜欢", "我,"]


@pytest.mark.parametrize("junk", JUNK)
def test_a_hundred_thousand_signs_of_junk_cost_the_rules_no_more_than_a_page(junk: str) -> None:
    text = junk * (100_000 // len(junk)) + "\n我对花生过敏。"
    ratio = against_floor(
        "rules: 100,000 of junk / a page", lambda: judged(text), lambda: judged(talk(2_000)), rounds=5
    )
    ratio.told()
    assert ratio.p50 < 1


def test_the_rules_take_time_in_proportion_to_a_message() -> None:
    ratio = against_floor(
        "rules: 10,000 characters / 1,000", lambda: judged(talk(10_000)), lambda: judged(talk(1_000)), rounds=5
    )
    ratio.told()
    assert ratio.p50 < 15


@pytest.mark.parametrize("unit", ["a", "A1", "a.", "1 ", "://", "a:b@", "。", "\n", "忽略", "-----begin "])
def test_neither_screen_is_held_up_by_a_text_without_end(unit: str) -> None:
    text, ordinary = unit * (100_000 // len(unit)), talk(100_000)
    ratio = against_floor("screens: without end / talk", lambda: screened(text), lambda: screened(ordinary), rounds=5)
    ratio.told()
    assert ratio.p50 < 4


RUNS = {"a": "a" * 1_000_000, "caret": "^" * 1_000_000, "blanks": " " * 999_999 + "a", "zh": "喝" * 1_000_000}


@pytest.mark.parametrize("text", RUNS.values(), ids=RUNS.keys())
def test_a_megabyte_of_one_character_is_counted_as_fast_as_talk(text: str) -> None:
    counter, ordinary = TokenCounter(), talk(1_000_000)
    ratio = against_floor(
        "count: one character / talk", lambda: counter.count(text), lambda: counter.count(ordinary), rounds=5
    )
    ratio.told()
    assert ratio.p50 < 4


def test_a_megabyte_is_cut_as_fast_as_it_is_counted() -> None:
    counter, ordinary = TokenCounter(), talk(1_000_000)
    ratio = against_floor(
        "cut to 6,000 / count",
        lambda: counter.truncate(ordinary, 6_000, "…"),
        lambda: counter.count(ordinary),
        rounds=5,
    )
    ratio.told()
    assert ratio.p50 < 3


class Echo:
    """Answers."""

    def answer(self, asked: Asked) -> Reply:
        return Reply(body={"method": asked.method})


def test_an_open_breaker_costs_little_beside_a_call() -> None:
    clock, read = SystemClock(), Call(operation="read", path="/things", method="GET")
    settings = Providers(retries=0, breaker_failures=2, breaker_seconds=600.0)
    with Double(Echo()) as well, Double(Echo()) as down, redirect_stdout(io.StringIO()):  # of metrics
        answering, broken = (Endpoint(name, at.url, settings, clock) for name, at in (("UP", well), ("DOWN", down)))
        down.faults.always(Fault.UNAVAILABLE)
        for _ in range(2):
            with pytest.raises(ProviderUnavailableError):
                broken.call(read, Deadline(clock, 1.0), Answer.document)

        def refused() -> None:
            with pytest.raises(CircuitOpenError):
                broken.call(read, Deadline(clock, 1.0), Answer.document)

        ratio = against_floor(
            "breaker open / a call", refused, lambda: answering.call(read, Deadline(clock, 1.0), Answer.document)
        )
        answering.close()
        broken.close()
    ratio.told()
    assert ratio.p50 < 0.5
