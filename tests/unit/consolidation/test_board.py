"""Proposals are settled in the order in which they were said, against what holds at that moment."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.consolidation.board import Board, Entry, Finding, Relation, entry_of
from strata.consolidation.proposals import Proposal
from strata.model.memories import Category, Source
from strata.model.runs import PlannedWrite, WriteAction

Related = Callable[[str, str], Relation | None]
START = datetime(2026, 3, 10, tzinfo=UTC)


def said(name: str, minute: int, **changes: Any) -> Proposal:
    """A proposal that says ``name`` at a minute."""
    plain = Proposal(
        key=f"{name}@{minute}",
        collection="user:chen",
        memory_type="user_preference",
        content=name,
        fingerprint=name,
        category=Category.PREFERENCE,
        importance=7,
        ttl_seconds=0,
        standing=False,
        safety=False,
        said_at=START + timedelta(minutes=minute),
        sources=(Source(session_id="s", seq=minute),),
        confidence=1.0,
        rule="",
        evidence="",
        metadata={},
    )
    return replace(plain, **changes)


def stored(name: str, minute: int, **changes: Any) -> Entry:
    return replace(entry_of(said(name, minute)), id=f"{name}-stored", planned=False, **changes)


def settled(
    entries: list[Entry], proposals: list[Proposal], relation: Related, *, leaves: bool = False
) -> list[PlannedWrite]:
    """Settle proposals; ``relation`` tells what one content is to another."""
    known = [*entries, *(entry_of(proposal) for proposal in proposals)]
    findings = {
        (proposal.key, entry.id): Finding(relation=found, reason="test")
        for proposal in proposals
        for entry in known
        if entry.id != proposal.key and (found := relation(proposal.content, entry.content)) is not None
    }
    board = Board(entries, findings, leaves=leaves)
    for proposal in proposals:
        board.settle(proposal)
    return list(board.writes.values())


def opposites(one: str, other: str) -> Relation:
    return Relation.SAME if one == other else Relation.AGAINST


def always(relation: Relation) -> Related:
    return lambda _one, _other: relation


def test_what_nothing_is_like_is_inserted() -> None:
    (write,) = settled([stored("tea", 1)], [said("hiking", 5)], always(Relation.NEAR))
    assert (write.action, write.replaces, write.repeats) == (WriteAction.INSERT, (), None)


def test_what_is_stored_is_renewed() -> None:
    (write,) = settled([stored("tea", 1)], [said("tea", 5)], opposites)
    assert (write.action, write.repeats) == (WriteAction.SKIP, "tea-stored")


def test_what_says_less_is_skipped_and_what_says_more_takes_over() -> None:
    (less,) = settled([stored("tea", 1)], [said("less", 5)], always(Relation.WITHIN))
    (more,) = settled([stored("tea", 1)], [said("more", 5)], always(Relation.BEYOND))
    assert (less.action, less.repeats) == (WriteAction.SKIP, "tea-stored")
    assert (more.action, more.replaces) == (WriteAction.SUPERSEDE, ("tea-stored",))


def test_a_detail_is_linked_and_both_stay() -> None:
    (write,) = settled([stored("tea", 1)], [said("green tea", 5)], always(Relation.DETAIL))
    assert (write.action, write.replaces) == (WriteAction.REFINE, ("tea-stored",))


def test_the_later_of_two_that_contradict_each_other_holds() -> None:
    (later,) = settled([stored("yes", 1)], [said("no", 5)], opposites)
    (earlier,) = settled([stored("yes", 9)], [said("no", 5)], opposites)
    assert (later.action, later.replaces, later.superseded_by) == (WriteAction.SUPERSEDE, ("yes-stored",), None)
    assert (earlier.action, earlier.replaces, earlier.superseded_by) == (WriteAction.INSERT, (), "yes-stored")


def test_a_safety_fact_stays_visible_until_the_change_is_said_again() -> None:
    (first,) = settled([stored("yes", 1, safety=True)], [said("no", 5)], opposites)
    assert (first.action, first.keep_old_visible) == (WriteAction.SUPERSEDE, True)
    both = [stored("yes", 1, safety=True), stored("no", 5)]
    (second,) = settled(both, [said("no", 9)], opposites)
    assert (second.action, second.repeats, second.replaces, second.keep_old_visible) == (
        WriteAction.SUPERSEDE,
        "no-stored",
        ("yes-stored",),
        False,
    )


def test_saying_the_old_safety_fact_again_gives_nothing_up() -> None:
    both = [stored("yes", 1, safety=True), stored("no", 5, safety=True)]
    (write,) = settled(both, [said("yes", 9)], opposites)
    assert (write.repeats, write.replaces) == ("yes-stored", ())


def test_the_same_twice_in_one_session_is_one_write() -> None:
    (write,) = settled([], [said("tea", 1), said("tea", 5, importance=9, standing=True)], opposites)
    assert [source.seq for source in write.sources] == [1, 5]
    assert (write.importance, write.standing, write.said_at) == (9, True, START + timedelta(minutes=5))


@pytest.mark.parametrize("standing", [False, True])
def test_a_constraint_known_abroad_only_is_written_at_home(standing: bool) -> None:
    abroad = stored("tea", 1, external=True)
    (write,) = settled([abroad], [said("tea", 5, standing=standing)], opposites, leaves=True)
    expected = (WriteAction.SUPERSEDE, ("tea-stored",), None) if standing else (WriteAction.SKIP, (), "tea-stored")
    assert (write.action, write.replaces_external, write.repeats) == expected


@given(st.lists(st.sampled_from(["yes", "no"]), min_size=1, max_size=8), st.sampled_from(["", "yes", "no"]))
def test_however_often_a_mind_changes_the_last_word_holds(words: list[str], before: str) -> None:
    entries = [stored(before, 0)] if before else []
    writes = settled(entries, [said(word, minute) for minute, word in enumerate(words, start=1)], opposites)
    live = {entry.id: entry.content for entry in entries}
    for write in writes:
        if write.repeats is None:
            live[write.key] = write.content
        for old in write.replaces:
            del live[old]  # what is replaced was there
    assert list(live.values()) == [words[-1]]


@given(st.permutations(range(1, 6)))
def test_the_order_of_processing_does_not_matter(minutes: list[int]) -> None:
    """One statement a run, in any order: what was said last holds."""
    words = {1: "yes", 2: "no", 3: "yes", 4: "no", 5: "yes"}
    live: dict[str, Entry] = {}
    for minute in minutes:
        proposal = said(words[minute], minute)
        (write,) = settled(list(live.values()), [proposal], opposites)
        for old in write.replaces:
            live.pop(old)
        if write.repeats is not None:
            kept = live[write.repeats]
            live[write.repeats] = replace(kept, order=max(kept.order, proposal.order))
        elif write.superseded_by is None:
            live[write.key] = replace(entry_of(proposal), planned=False)
    assert [entry.content for entry in live.values()] == ["yes"]
