"""Putting sessions in and asking, against a client that answers from a script."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from strata.client import AppendResult, ContextResult, InsertResult, MemoryRecord
from strata.errors import ProviderUnavailableError
from strata.evaluation.retrieval import asking, settling
from strata.evaluation.retrieval.baselines import Baselines
from strata.evaluation.retrieval.material import Conversation, Question, Session, Turn
from strata.evaluation.retrieval.scores import Unit
from strata.evaluation.subject import Subject
from tests.fakes.embedding import WordEmbedder

AT = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
TALK = Conversation(
    id="talk",
    sessions=(
        Session(
            id="1",
            turns=(
                Turn(id="D1:1", speaker="Ann", text="I keep bees.", said_at=AT),
                Turn(id="D1:2", speaker="Bo", text="How many hives?", said_at=AT, by_user=False),
            ),
        ),
        Session(id="2", turns=(Turn(id="D2:1", speaker="Ann", text="Five hives by now.", said_at=AT),)),
    ),
    questions=(),
)
QUESTION = Question(id="1", text="How many hives?", category="", evidence=("D2:1",))


@dataclass
class Client:
    """The calls of a client that an evaluation makes."""

    degraded: list[list[Mapping[str, str]]] = field(default_factory=list)
    appended: list[Mapping[str, Any]] = field(default_factory=list)
    loads: list[Mapping[str, Any]] = field(default_factory=list)
    author: str = "s-a"

    def append(self, session_id: str, user_id: str, messages: list[Mapping[str, Any]]) -> AppendResult:
        first = len(self.appended) + 1
        self.appended += messages
        stored = tuple({"seq": first + place} for place in range(len(messages)))
        return AppendResult(session_id=session_id, last_seq=first, replayed=0, messages=stored, skipped=())

    def end_session(self, session_id: str) -> str:
        return session_id

    def wait_for_run(self, run_id: str, *, timeout_seconds: float) -> Mapping[str, Any]:
        plan = [
            {"key": "fact", "sources": [{"session_id": run_id, "seq": 1}]},
            {"key": "again", "sources": [{"session_id": run_id, "seq": 2}]},
        ]
        receipts = [{"key": "fact", "memory_id": "m1"}, {"key": "again", "memory_id": "m0"}]
        return {
            "state": "succeeded",
            "error_code": "",
            "judge": "model",
            "model": "m",
            "plan": plan,
            "receipts": receipts,
        }

    def memories(self, collection: str, *, memory_types: list[str], page: int) -> Iterator[MemoryRecord]:
        for seq in range(1, len(self.appended) + 1):
            yield MemoryRecord(
                memory_id=f"e{seq}",
                collection=collection,
                memory_type=memory_types[0],
                agent_id="a",
                content="",
                version=1,
                metadata={"session_id": "s-talk:1", "seq": seq},
            )

    def insert_memory(self, _collection: str, _memory_type: str, content: str, **_more: Any) -> InsertResult:
        return InsertResult(status="inserted", memory_id=f"id of {content[:6]}", version=1)

    def load_context(self, _session: str, _user: str, _message: str, **options: Any) -> ContextResult:
        self.loads.append(options)
        memories = {
            "constraints": [{"memory_id": "c"}],
            "user": [{"memory_id": "e1"}, {"memory_id": "m1"}, {"memory_id": "?"}],
            "shared": [],
            "agent": [],
        }
        types = ("user_preference", "episode", "episode", "episode")
        lines = [f"- ({name}, today, by {self.author}) line {place}" for place, name in enumerate(types)]
        return ContextResult(
            messages=(),
            prompt="<block>\nAbout:\n" + "\n".join(lines) + "\n</block>",
            summary=None,
            memories=memories,
            usage={"memories": 99},
            dropped=(),
            degraded=tuple(self.degraded.pop(0) if self.degraded else ()),
            timings_ms={"total": 3.0},
            working={},
        )


@dataclass
class Measured(Subject):
    """A subject whose agents are one scripted client."""

    client: Client = field(default_factory=Client)

    def agent(self, name: str = "evaluator", *, provider: str | None = None) -> Any:
        return self.client


@pytest.fixture
def subject() -> Measured:
    return Measured(endpoint="", key="", scope="s")


def test_a_session_goes_in_with_names_times_and_ids_that_a_restart_repeats(subject: Measured) -> None:
    record = settling.settled(subject, TALK, TALK.sessions[0], indexed=True)
    assert record["turns"] == {"1": "D1:1", "2": "D1:2"}
    assert record["facts"] == {"m1": ["D1:1"], "m0": ["D1:2"]}, "what was only said again counts for what is kept"
    assert (record["judge"], record["indexed"]) == ("model m", True)
    first, second = subject.client.appended
    assert (first["message_id"], first["role"], second["role"]) == ("s-talk:1#0", "user", "assistant")
    assert (first["name"], first["said_at"]) == ("Ann", "2026-03-01T08:00:00+00:00")


def test_a_turn_and_a_sentence_stand_for_the_messages_they_came_from(subject: Measured) -> None:
    record = settling.settled(subject, TALK, TALK.sessions[0], indexed=False)
    assert settling.origins(subject, TALK, [record])["origins"] == {
        "m1": ["D1:1"],
        "m0": ["D1:2"],
        "e1": ["D1:1"],
        "e2": ["D1:2"],
    }


def test_sentences_that_are_one_memory_stand_for_both(subject: Measured) -> None:
    twice = Session(id="x", turns=(TALK.sessions[0].turns[0], Turn(id="2", speaker="A", text="I keep", said_at=AT)))
    assert settling.inserted(subject, TALK, twice)["facts"] == {"id of I keep": ["D1:1", "2"]}


def test_a_ranking_holds_what_was_delivered_but_no_constraints(subject: Measured) -> None:
    record = asking.asked(subject, "u", QUESTION, {"e1": ("D1:1",), "m1": ("D1:1", "D2:1")}, turns=True)
    assert [entry[1:] for entry in record["ranked"]] == [["D1:1"], ["D1:1", "D2:1"], []]
    assert [entry[1:] for entry in record["loaded"]] == [[], ["D1:1"], ["D1:1", "D2:1"], []]
    assert all(entry[0] > 5 for entry in record["ranked"])
    assert record["standing_tokens"] > 0
    plain, wide = subject.client.loads
    assert "memory_types" not in plain
    assert (wide["memory_types"], wide["top_k"]) == (["episode"], 100)


def test_tokens_do_not_depend_on_the_name_of_the_evaluation() -> None:
    short, long = (Measured(endpoint="", key="", scope=scope) for scope in ("s", "eval-0a1b2c3d4e5f"))
    for one in (short, long):
        one.client.author = one.scoped("a")
    found = [asking.asked(one, "u", QUESTION, {}, turns=False)["ranked"] for one in (short, long)]
    assert found[0] == found[1]


def test_a_failure_is_tried_again_and_then_told(subject: Measured) -> None:
    lost: list[Mapping[str, str]] = [{"part": "long_term", "code": "provider_timeout", "detail": "late"}]
    subject.client.degraded = [lost, lost]
    asking.asked(subject, "u", QUESTION, {}, turns=True)
    subject.client.degraded = [lost] * 3
    with pytest.raises(ProviderUnavailableError, match="provider_timeout"):
        asking.asked(subject, "u", QUESTION, {}, turns=True)


@pytest.mark.parametrize("code", ["long_memory_off", "semantic_unavailable", "limited"])
def test_what_could_not_be_done_as_asked_is_no_failure(code: str, subject: Measured) -> None:
    subject.client.degraded = [[{"part": "long_term", "code": code, "detail": ""}]] * 2
    assert asking.asked(subject, "u", QUESTION, {}, turns=True)["ms"] >= 0


def test_baselines_rank_by_words_by_meaning_and_by_age() -> None:
    baselines, embedder = Baselines(TALK), WordEmbedder()
    found = baselines.asked("How many hives?", embedder)
    assert found["bm25"][0][1:] == ["D1:2"]
    assert found["dense"][0][1:] == ["D1:2"]
    assert [unit.turns for unit in baselines.newest_first()] == [("D2:1",), ("D1:2",), ("D1:1",)]
    assert set(baselines.asked("How many hives?", None)) == {"bm25"}
    assert isinstance(baselines.newest_first()[0], Unit)


def test_nothing_is_embedded_twice_and_every_text_is_the_products_own() -> None:
    baselines, embedder = Baselines(TALK), WordEmbedder()
    for _ in range(3):
        baselines.asked("How many hives?", embedder)
    passages = [text for text, query in embedder.asked if not query]
    assert passages == ["Ann: I keep bees.", "Ann: I keep bees.\nBo: How many hives?", "Ann: Five hives by now."]
