"""What a client sent again is told apart from what a person says again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.dedup.resent import PAGE, resent

DIGESTS = st.lists(st.sampled_from("abcdef"), max_size=12)


def new(history: str, fresh: str) -> str:
    found = resent(history, fresh)
    return "".join(digest for digest, place in zip(fresh, found, strict=True) if place is None)


@pytest.mark.parametrize(
    ("history", "fresh", "expected"),
    [
        pytest.param("", "ab", "ab", id="first time"),
        pytest.param("ab", "ab", "", id="whole transcript again"),
        pytest.param("ab", "abc", "c", id="whole transcript again and one more"),
        pytest.param("abcd", "cde", "e", id="last part again and one more"),
        pytest.param("a", "a", "", id="the only message again"),
        pytest.param("ab", "a", "a", id="changed back: the first sentence after the second"),
        pytest.param("axbx", "ax", "ax", id="changed back, with the same polite answer"),
        pytest.param("abcdefgh", "bcde", "", id="a page from the middle"),
        pytest.param("abcdefgh", "bcd", "bcd", id="a few sentences from the middle are said anew"),
        pytest.param("sab", "sc", "sc", id="the same greeting before something new"),
        pytest.param("ab", "sab", "s", id="the transcript behind something new"),
        pytest.param("qy", "ny", "ny", id="a yes to another question"),
    ],
)
def test_new_is_what_was_not_sent_again(history: str, fresh: str, expected: str) -> None:
    assert new(history, fresh) == expected


@given(DIGESTS, DIGESTS)
def test_repeats_point_at_the_same_digest(history: list[str], fresh: list[str]) -> None:
    found = resent(history, fresh)
    assert len(found) == len(fresh)
    assert all(history[place] == digest for digest, place in zip(fresh, found, strict=True) if place is not None)


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12), DIGESTS)
def test_the_transcript_sent_again_is_never_new(history: list[str], more: list[str]) -> None:
    assert resent(history, history + more)[: len(history)] == list(range(len(history)))


@given(DIGESTS, st.text("uvwxyz", max_size=8))
def test_what_was_never_said_is_always_new(history: list[str], fresh: str) -> None:
    assert resent(history, fresh) == [None] * len(fresh)


def test_a_thousand_times_ok_costs_nothing() -> None:
    found = resent(["ok"] * 10_000 + ["end"], (["ok"] * (PAGE - 1) + ["new"]) * 500)
    assert found == [None] * len(found)
