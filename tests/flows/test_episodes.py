"""Turns of a finished session, kept so that they can be found by what stood around them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from strata import config
from strata.clock import FakeClock
from strata.model.memories import Memory
from strata.model.messages import JsonObject, Kind, Message, Role
from strata.model.runs import Run, RunState
from strata.sharing.episodes import CUT, MAX_PREVIOUS_CHARS, MAX_TURN_CHARS, Episodes, embedding_text, turns_of
from strata.sharing.search import SearchLibrary
from strata.storage.engine import Database, open_database
from strata.storage.schema import migrate
from tests.fakes.embedding import WordEmbedder
from tests.fakes.library import Shelf

NOW = datetime(2026, 3, 10, 8, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = Path(tmp_path_factory.mktemp("episodes")) / "strata.db"
    opened = open_database(config.Database(url=f"sqlite:///{path}"), FakeClock())
    migrate(opened)
    yield opened
    opened.close()


@pytest.fixture
def shelf(database: Database, request: pytest.FixtureRequest) -> Shelf:
    return Shelf(database, FakeClock(NOW), request.node.nodeid)


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def episodes(shelf: Shelf, embedder: WordEmbedder) -> Episodes:
    return Episodes(shelf.memories, embedder, shelf.clock, shelf.types.all)


def said(seq: int, text: str | tuple[JsonObject, ...] | None, role: Role = Role.USER, **more: Any) -> Message:
    values: dict[str, Any] = {"kind": Kind.CHAT, "message_id": f"m{seq}", "agent_id": "cook", "tokens": 1, "digest": ""}
    values |= {"created_at": NOW, "said_at": NOW - timedelta(hours=1), **more}
    return Message(seq=seq, role=role, content=text, **values)


TALK = (
    said(1, "What shall we do with the beef?", name="Ann"),
    said(2, None, Role.ASSISTANT, tool_calls=({"id": "c", "type": "function"},)),
    said(3, '{"recipes": []}', Role.TOOL, kind=Kind.TOOL, tool_call_id="c"),
    said(4, "Stew it for three hours.", Role.ASSISTANT),
    said(5, "Last time it was too chewy for the child.", name="Ann"),
)


def run_of(shelf: Shelf, run_id: str = "r1") -> Run:
    return Run(
        tenant=shelf.tenant,
        run_id=run_id,
        session_id="s",
        user_id="u",
        agent_id="cook",
        state=RunState.RUNNING,
        from_seq=1,
        upto_seq=5,
        created_at=NOW,
    )


def stored(shelf: Shelf) -> list[Memory]:
    found = shelf.memories.listed(shelf.admin, "user:u", now=shelf.clock.now(), memory_types=["episode"])
    return sorted(found, key=lambda memory: memory.metadata["seq"])


def remembered(shelf: Shelf, episodes: Episodes, new: Sequence[int] = (1, 2, 3, 4, 5)) -> list[Memory]:
    episodes(run_of(shelf), TALK, new, UTC)
    return stored(shelf)


def test_what_was_said_is_kept_with_its_speaker_and_its_place(shelf: Shelf, episodes: Episodes) -> None:
    turns = remembered(shelf, episodes)
    assert [turn.content for turn in turns] == [
        "Ann: What shall we do with the beef?",
        "assistant: Stew it for three hours.",
        "Ann: Last time it was too chewy for the child.",
    ]
    assert [(turn.metadata["seq"], turn.metadata["previous_seq"]) for turn in turns] == [(1, 0), (4, 1), (5, 4)]
    assert turns[1].metadata["said_date"] == "2026-03-10"
    assert {(turn.memory_type, turn.user_id, turn.run_id, turn.ttl_seconds) for turn in turns} == {
        ("episode", "u", "r1", 180 * 86_400)
    }
    assert turns[0].expires_at == NOW + timedelta(days=180)


def test_a_turn_is_embedded_with_its_predecessor(shelf: Shelf, episodes: Episodes, embedder: WordEmbedder) -> None:
    remembered(shelf, episodes)
    assert embedder.asked == [
        ("Ann: What shall we do with the beef?", False),
        ("Ann: What shall we do with the beef?\nassistant: Stew it for three hours.", False),
        ("assistant: Stew it for three hours.\nAnn: Last time it was too chewy for the child.", False),
    ]


def test_a_run_keeps_its_own_turns_and_knows_those_before(
    shelf: Shelf, episodes: Episodes, embedder: WordEmbedder
) -> None:
    turns = remembered(shelf, episodes, new=(5,))
    assert [turn.metadata["previous_seq"] for turn in turns] == [4]
    assert len(embedder.asked) == 1


def test_doing_it_twice_changes_nothing(shelf: Shelf, episodes: Episodes) -> None:
    first = remembered(shelf, episodes)
    assert episodes(run_of(shelf, "r2"), TALK, (1, 4, 5), UTC) == 0
    assert stored(shelf) == first


def test_the_day_is_the_users_own(shelf: Shelf, episodes: Episodes) -> None:
    late = replace(TALK[0], said_at=datetime(2026, 3, 10, 17, 0, tzinfo=UTC))
    episodes(run_of(shelf), [late], [1], ZoneInfo("Asia/Shanghai"))
    assert stored(shelf)[0].metadata["said_date"] == "2026-03-11"


def test_without_a_model_or_with_one_that_is_away_turns_are_kept_all_the_same(
    shelf: Shelf, episodes: Episodes, embedder: WordEmbedder
) -> None:
    embedder.away = True
    assert len(remembered(shelf, episodes)) == 3
    search = SearchLibrary(shelf.memories, embedder, shelf.clock, config.Library())
    assert search.search(shelf.access("cook"), ["user:u"], "chewy").hits[0].memory.metadata["seq"] == 5


def test_an_answer_is_found_by_what_it_answers(shelf: Shelf, episodes: Episodes, embedder: WordEmbedder) -> None:
    remembered(shelf, episodes)
    search = SearchLibrary(shelf.memories, embedder, shelf.clock, config.Library())
    hits = search.search(shelf.access("cook"), ["user:u"], "how long for the beef", top_k=2).hits
    assert 4 in [hit.memory.metadata["seq"] for hit in hits]


def test_what_is_no_talk_is_no_turn() -> None:
    messages = [
        said(1, "be brief", Role.SYSTEM),
        said(2, "user clicked", kind=Kind.EVENT),
        said(3, "   "),
        said(
            4,
            (
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {}},
                {"type": "text", "text": "here"},
            ),
        ),
    ]
    assert [turn.line for turn in turns_of(messages)] == ["user: look\nhere"]


@pytest.mark.parametrize("talk", [(), (said(1, ""),), (said(1, "be brief", Role.SYSTEM), said(2, "42", Role.TOOL))])
def test_a_session_in_which_nobody_spoke_has_no_turns(
    shelf: Shelf, episodes: Episodes, talk: tuple[Message, ...]
) -> None:
    assert episodes(run_of(shelf), talk, (1, 2), ZoneInfo("Asia/Shanghai")) == 0


def test_endless_turns_are_cut() -> None:
    long, short = turns_of([said(1, "字" * 5_000), said(2, "好")])
    assert long.text == "字" * MAX_TURN_CHARS + CUT
    assert embedding_text(short, long).count("字") < MAX_PREVIOUS_CHARS
    assert embedding_text(short, None) == "user: 好"
