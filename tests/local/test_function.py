"""A function is run as Lambda runs it."""

from pathlib import Path
from threading import Event
from typing import Any

import pytest

from strata.clock import FakeClock
from strata.errors import ConfigurationError
from strata.local.context import context_for
from strata.local.deployment import FunctionSpec
from strata.local.function import FunctionFailed, FunctionTimedOut, PayloadTooLarge, load_handler
from tests.local.parts import function


def test_event_and_answer_make_a_trip_through_json() -> None:
    given: dict[str, Any] = {"text": "不吃香菜 👩‍👧", "list": [1, None]}
    seen: list[dict[str, Any]] = []

    def handler(event: dict[str, Any], _: object) -> object:
        seen.append(event)
        return {1: (event["text"],)}

    answer = function(handler).invoke(given)

    assert seen == [given]
    assert seen[0] is not given
    assert answer == {"1": ["不吃香菜 👩‍👧"]}


def test_half_a_surrogate_pair_reaches_the_handler_as_it_came() -> None:
    assert function(lambda event, _: len(event["text"])).invoke({"text": "\ud83d"}) == 1


def test_the_context_counts_down_and_says_who_is_called() -> None:
    clock = FakeClock()
    spec = FunctionSpec(name="door", logical_id="Door", timeout_seconds=29, memory_mb=512)
    context = context_for(spec, "request-1", clock)

    assert context.get_remaining_time_in_millis() == 29_000
    clock.advance(28.5)
    assert context.get_remaining_time_in_millis() == 500
    clock.advance(1)
    assert context.get_remaining_time_in_millis() == 0
    assert (context.function_name, context.aws_request_id, context.memory_limit_in_mb) == ("door", "request-1", 512)
    assert context.invoked_function_arn.endswith(":function:door")


def test_each_invocation_has_its_own_request_id_and_full_time() -> None:
    clock = FakeClock()
    probe = function(lambda _, context: [context.aws_request_id, context.get_remaining_time_in_millis()], clock=clock)

    first = probe.invoke({})
    clock.advance(60)
    second = probe.invoke({})

    assert first[0] != second[0]
    assert (first[1], second[1]) == (5_000, 5_000)


def test_what_the_handler_raises_is_a_failure() -> None:
    with pytest.raises(FunctionFailed) as failed:
        function(lambda *_: 1 / 0).invoke({})

    assert isinstance(failed.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("answer", [{1, 2}, b"bytes", object()], ids=["set", "bytes", "object"])
def test_an_answer_that_is_not_json_is_a_failure(answer: object) -> None:
    with pytest.raises(FunctionFailed):
        function(lambda *_: answer).invoke({})


def test_a_handler_that_takes_too_long_is_abandoned() -> None:
    release = Event()
    slow = function(lambda *_: release.wait(5), timeout_seconds=0.05)

    with pytest.raises(FunctionTimedOut):
        slow.invoke({})
    release.set()


def test_a_handler_s_own_timeout_error_is_a_failure_not_a_time_out() -> None:
    def handler(*_: object) -> None:
        raise TimeoutError

    with pytest.raises(FunctionFailed) as failed:
        function(handler).invoke({})
    assert not isinstance(failed.value, FunctionTimedOut)


def test_an_event_over_six_megabytes_is_refused_unseen() -> None:
    with pytest.raises(PayloadTooLarge):
        function(lambda *_: None).invoke({"text": "汤" * 2_100_000})


def test_an_answer_over_six_megabytes_is_a_failure() -> None:
    with pytest.raises(FunctionFailed):
        function(lambda *_: "x" * 6_300_000).invoke({})


def test_after_closing_nothing_is_invoked() -> None:
    door = function(lambda *_: None)
    door.close()

    with pytest.raises(FunctionFailed):
        door.invoke({})


def test_handlers_of_the_same_file_name_are_modules_of_their_own(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.py").write_text(
            f"calls = []\ndef handler(*_):\n    calls.append(1)\n    return '{name}', len(calls)\n"
        )
    one, two = (load_handler(tmp_path, FunctionSpec(name=name, logical_id=name.title())) for name in ("one", "two"))

    assert (one({}, None), two({}, None)) == (("one", 1), ("two", 1))  # type: ignore[arg-type]


def test_a_missing_file_or_handler_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "app.py").write_text("")

    for name, said in [("absent", "is not there"), ("empty", "has no handler")]:
        with pytest.raises(ConfigurationError, match=said):
            load_handler(tmp_path, FunctionSpec(name=name, logical_id=name.title()))
