"""What becomes of a new statement and the stored one it meets."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.dedup import Action, Existing, Statement, resolve, resolve_all

MARCH = datetime(2025, 3, 10, tzinfo=UTC)
JUNE = datetime(2025, 6, 2, tzinfo=UTC)


def stored(text: str, said_at: datetime = MARCH, *, safety: bool = False) -> Existing:
    return Existing(id="m1", text=text, said_at=said_at, safety=safety)


def said(text: str, said_at: datetime = JUNE, *, safety: bool = False) -> Statement:
    return Statement(text=text, said_at=said_at, safety=safety)


def test_a_later_contradiction_supersedes() -> None:
    found = resolve(stored("用户住在武汉"), said("用户已搬到厦门"))
    assert found.action is Action.SUPERSEDE
    assert (found.existing_is_superseded, found.new_is_superseded, found.hide_old) == (True, False, True)


def test_an_older_statement_that_arrives_late_never_replaces_the_newer() -> None:
    found = resolve(stored("用户已搬到厦门", JUNE), said("用户住在武汉", MARCH))
    assert found.action is Action.SUPERSEDE
    assert (found.existing_is_superseded, found.new_is_superseded) == (False, True)


@pytest.mark.parametrize("safe", [("old",), ("new",), ("old", "new")])
def test_a_safety_fact_stays_visible_until_the_change_is_confirmed(safe: tuple[str, ...]) -> None:
    found = resolve(stored("用户对青霉素过敏", safety="old" in safe), said("用户对青霉素不过敏", safety="new" in safe))
    assert found.action is Action.SUPERSEDE
    assert not found.hide_old
    assert found.needs_confirmation


def test_a_preference_that_flips_back_is_written_again() -> None:
    found = resolve(stored("User hates cilantro", MARCH), said("User likes cilantro", JUNE))
    assert found.action is Action.SUPERSEDE
    assert found.existing_is_superseded
    back = resolve(stored("User likes cilantro", JUNE), said("User hates cilantro", JUNE + timedelta(days=1)))
    assert back.action is Action.SUPERSEDE
    assert back.existing_is_superseded


def test_two_contradictions_of_one_moment_are_both_kept_and_flagged() -> None:
    found = resolve(stored("User likes cats", JUNE), said("User hates cats", JUNE))
    assert found.action is Action.KEEP_BOTH_FLAGGED
    assert not found.hide_old
    assert found.needs_confirmation


def test_the_same_fact_again_is_skipped() -> None:
    assert resolve(stored("用户不吃香菜"), said("和用户确认不要香菜")).action is Action.SKIP


SHORT, LONG = "用户对花生过敏", "用户对花生过敏，随身带肾上腺素笔"


@pytest.mark.parametrize("is_late", [False, True])
def test_the_richer_text_holds_alone_whichever_was_said_first(is_late: bool) -> None:
    before, after = (JUNE, MARCH) if is_late else (MARCH, JUNE)
    richer = resolve(stored(SHORT, before), said(LONG, after))
    assert (richer.action, richer.existing_is_superseded) == (Action.REFINE, True)
    poorer = resolve(stored(LONG, before), said(SHORT, after))
    assert poorer.action is Action.SKIP


def test_what_narrows_is_linked_and_both_hold() -> None:
    found = resolve(stored("周末去爬山"), said("周末和小李去爬山"))
    assert (found.action, found.existing_is_superseded, found.hide_old) == (Action.REFINE, False, False)


def test_strangers_are_written() -> None:
    assert resolve(stored("用户不吃香菜"), said("用户不吃芹菜")).action is Action.WRITE


def test_a_collection_is_resolved_in_one_call() -> None:
    memories = [
        Existing(id="home", text="用户住在武汉", said_at=MARCH),
        Existing(id="taboo", text="用户不吃香菜", said_at=MARCH),
        Existing(id="tea", text="User likes oolong tea", said_at=MARCH),
    ]
    found = resolve_all([said("用户已搬到厦门"), said("用户忌香菜"), said("User has a dog")], memories)
    assert [(each[0].action, each[0].existing_id) for each in found] == [
        (Action.SUPERSEDE, "home"),
        (Action.SKIP, "taboo"),
        (Action.WRITE, None),
    ]


def test_an_empty_collection_takes_everything() -> None:
    assert [[each.action for each in one] for one in resolve_all([said("用户不吃香菜")], [])] == [[Action.WRITE]]


FACTS = st.sampled_from(
    ["用户不吃香菜", "用户喜欢香菜", "忌香菜", "用户住在上海", "用户搬到杭州了", "用户有一只猫", "User likes tea"]
)
MOMENTS = st.sampled_from([MARCH, JUNE])


@given(FACTS, FACTS, MOMENTS, MOMENTS, st.booleans())
def test_what_was_said_later_is_never_superseded_by_what_was_said_before(
    old: str, new: str, before: datetime, after: datetime, safety: bool
) -> None:
    found = resolve(stored(old, before, safety=safety), said(new, after))
    if found.action is Action.SUPERSEDE:
        assert found.new_is_superseded == (after < before)
        assert found.existing_is_superseded == (after > before)
        assert found.hide_old == (not safety)
