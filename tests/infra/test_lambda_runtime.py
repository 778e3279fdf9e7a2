"""The stand-in for Lambda runs a function as Lambda does."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.infra.lambda_runtime import InitError, LambdaRuntime

pytestmark = pytest.mark.slow
APP = """
import os, sys
WARM = []

def handler(event, context):
    WARM.append(1)
    if event.get("fail"):
        raise KeyError("flour")
    if event.get("big"):
        return "x" * 6_300_000
    return {
        "event": event,
        "warm": len(WARM),
        "seconds": context.get_remaining_time_in_millis() // 1000,
        "arn": context.invoked_function_arn,
        "environment": sorted(name for name in os.environ if name.startswith("STRATA_")),
        "sites": [path for path in sys.path if "site-packages" in path],
    }
"""
Start = Callable[..., LambdaRuntime]


@pytest.fixture
def start(python: Path, runtime: Path, tmp_path: Path) -> Start:
    def start(source: str, **options: object) -> LambdaRuntime:
        (tmp_path / "app.py").write_text(source)
        return LambdaRuntime(python=python, runtime=runtime, task_root=tmp_path, **options)  # type: ignore[arg-type]

    return start


def test_events_answers_and_failures_go_through(start: Start) -> None:
    with start(APP, environment={"STRATA_LOG_LEVEL": "INFO"}, timeout_seconds=20) as function:
        first = function.invoke({"text": "花生"})
        failed = function.invoke({"fail": True})
        too_large = function.invoke({"big": True})
        again = function.invoke({})

    assert first.ok
    assert first.answer["event"] == {"text": "花生"}
    assert first.answer["seconds"] in {19, 20}
    assert first.answer["arn"].endswith(":function:built")
    assert first.answer["environment"] == ["STRATA_LOG_LEVEL"]
    assert first.answer["sites"] == []
    assert (failed.ok, failed.answer["errorType"], failed.answer["errorMessage"]) == (False, "KeyError", "'flour'")
    assert (too_large.ok, too_large.answer["errorType"]) == (False, "Function.ResponseSizeTooLarge")
    assert again.answer["warm"] == 4


def test_a_function_that_cannot_be_loaded_says_why(start: Start) -> None:
    with pytest.raises(InitError, match="No module named 'not_in_the_layer'"), start("import not_in_the_layer"):
        pass


def test_a_function_that_hangs_times_out(start: Start) -> None:
    slow = "import time\ndef handler(*_):\n    time.sleep(60)\n"
    with start(slow, timeout_seconds=0.2) as function, pytest.raises(TimeoutError, match="timed out"):
        function.invoke({})


def test_snapshot_hooks_run_in_their_order(start: Start) -> None:
    source = """
from snapshot_restore_py import register_after_restore, register_before_snapshot
SEEN = ["init"]
register_before_snapshot(lambda: SEEN.append("before"))
register_after_restore(lambda: SEEN.append("after"))
def handler(*_):
    return SEEN
"""
    with start(source, snap_start=True) as function:
        assert function.invoke({}).answer == ["init", "before", "after"]
        assert function.restored
