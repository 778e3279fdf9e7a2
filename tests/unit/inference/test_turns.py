"""Questions go before passages; nobody is at the model together with another."""

import threading
from collections.abc import Callable

import pytest

from strata.inference.turns import Turns


def test_who_hurries_goes_before_those_who_waited_longer() -> None:
    turns, order = Turns(), []
    inside, leave = threading.Event(), threading.Event()

    def first() -> None:
        with turns.taken(hurried=False):
            inside.set()
            leave.wait(5)

    def taker(name: str, *, hurried: bool) -> None:
        with turns.taken(hurried=hurried):
            order.append(name)

    threads = [threading.Thread(target=first)]
    threads[0].start()
    inside.wait(5)
    for name, hurried in (("passage", False), ("passage", False), ("question", True)):
        threads.append(threading.Thread(target=taker, args=(name,), kwargs={"hurried": hurried}))
        threads[-1].start()
    _wait_until(lambda: turns._hurrying == 1)
    leave.set()
    for thread in threads:
        thread.join(5)
    assert order == ["question", "passage", "passage"]


def test_a_turn_ends_with_an_error() -> None:
    turns = Turns()
    with pytest.raises(ValueError, match="lost"), turns.taken(hurried=False):
        raise ValueError("lost")
    with turns.taken(hurried=True):
        assert turns._busy


def _wait_until(condition: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(500):
        if condition():
            return
        waiting.wait(0.01)
    raise AssertionError("it did not come to that")
