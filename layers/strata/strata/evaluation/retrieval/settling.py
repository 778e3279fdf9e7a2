"""Sessions in: appended, ended, settled; and where each stored memory came from."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from strata.client import MemoryClient
from strata.clock import SystemClock
from strata.evaluation.retrieval.material import Conversation, Session, Turn
from strata.evaluation.subject import Subject
from strata.evaluation.task import Record

PER_APPEND = 100
SETTLED_WITHIN_SECONDS = 900.0
INDEXED_WITHIN_SECONDS = 60.0
"""Without one more turn indexed for so long, no more will be."""
PAUSE_SECONDS = 0.05
EPISODE = "episode"
SENTENCE = "user_preference"
"""The type of sentences that are put in as they are."""
PAGE = 500

Origins = Mapping[str, tuple[str, ...]]
"""Memory id → the turns it stands for."""


def user_of(subject: Subject, conversation: Conversation) -> str:
    """Return the user whose memories a conversation becomes."""
    return subject.scoped(conversation.id)


def settled(subject: Subject, conversation: Conversation, session: Session, *, indexed: bool) -> Record:
    """Put a session through append and end, and wait until it is settled; ``indexed`` waits for its turns as well.

    Doing it again changes nothing.
    """
    client, session_id = subject.agent(), subject.scoped(f"{conversation.id}:{session.id}")
    started = time.perf_counter()
    turn_of = _appended(client, session_id, user_of(subject, conversation), session)
    appended = time.perf_counter()
    run = client.wait_for_run(client.end_session(session_id), timeout_seconds=SETTLED_WITHIN_SECONDS)
    is_indexed = not indexed or _is_indexed(client, user_of(subject, conversation), session_id, len(turn_of))
    return {
        "session_id": session_id,
        "turns": turn_of,
        "append_ms": 1_000 * (appended - started),
        "settle_ms": 1_000 * (time.perf_counter() - appended),
        "state": run["state"],
        "indexed": is_indexed,
        "error": run["error_code"],
        "judge": " ".join(filter(None, (run["judge"], run["model"]))),
        "facts": _sources(run, turn_of),
    }


def origins(subject: Subject, conversation: Conversation, sessions: Sequence[Record]) -> Record:
    """Say for every memory of a conversation which turns it stands for."""
    found: dict[str, list[str]] = {}
    for session in sessions:
        for memory_id, turns in session["facts"].items():
            found.setdefault(memory_id, []).extend(turns)
    turn_at = {
        (session["session_id"], int(seq)): turn for session in sessions for seq, turn in session["turns"].items()
    }
    for memory_id, place in _episodes(subject.agent(), f"user:{user_of(subject, conversation)}"):
        if place in turn_at:
            found[memory_id] = [turn_at[place]]
    return {"origins": {memory_id: list(dict.fromkeys(turns)) for memory_id, turns in found.items()}}


def inserted(subject: Subject, conversation: Conversation, session: Session) -> Record:
    """Put sentences into the native library, each as a memory of the user. Doing it again changes nothing."""
    client, collection = subject.agent(), f"user:{user_of(subject, conversation)}"
    facts: dict[str, list[str]] = {}
    started = time.perf_counter()
    for place, turn in enumerate(session.turns):
        metadata = {"said_date": turn.said_at.date().isoformat()}
        memory_id = subject.scoped(f"{conversation.id}:{place}")
        stored = client.insert_memory(collection, SENTENCE, turn.text, metadata=metadata, memory_id=memory_id)
        facts.setdefault(stored.memory_id, []).append(turn.id)
    return {
        "session_id": "",
        "turns": {str(place): turn.id for place, turn in enumerate(session.turns)},
        "append_ms": 0.0,
        "settle_ms": 1_000 * (time.perf_counter() - started),
        "state": "succeeded",
        "indexed": True,
        "error": "",
        "judge": "",
        "facts": facts,
    }


def _appended(client: MemoryClient, session_id: str, user_id: str, session: Session) -> dict[str, str]:
    """Append and return the turn of each ``seq``; turns without a word are left out."""
    spoken = [turn for turn in session.turns if turn.text.strip()]
    turn_of: dict[str, str] = {}
    for start in range(0, len(spoken), PER_APPEND):
        batch = spoken[start : start + PER_APPEND]
        messages = [_message(session_id, place, turn) for place, turn in enumerate(batch, start=start)]
        answer = client.append(session_id, user_id, messages)
        turn_of |= {str(stored["seq"]): turn.id for stored, turn in zip(answer.messages, batch, strict=True)}
    return turn_of


def _is_indexed(client: MemoryClient, user_id: str, session_id: str, turns: int) -> bool:
    """Wait until the native library has the turns of a session: a run succeeds before that. False if none come."""
    clock = SystemClock()
    found, since = 0, clock.monotonic()
    while clock.monotonic() - since < INDEXED_WITHIN_SECONDS:
        there = sum(place[0] == session_id for _, place in _episodes(client, f"user:{user_id}"))
        if there >= turns:
            return True
        if there > found:
            found, since = there, clock.monotonic()
        clock.sleep(PAUSE_SECONDS)
    return False


def _message(session_id: str, place: int, turn: Turn) -> Mapping[str, Any]:
    return {
        "message_id": f"{session_id}#{place}"[-128:],
        "role": "user" if turn.by_user else "assistant",
        "name": turn.speaker,
        "content": turn.text,
        "said_at": turn.said_at.isoformat(),
    }


def _sources(run: Mapping[str, Any], turn_of: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the turns that each memory of a run rests on; what was only said again counts for the one that is kept."""
    kept = {receipt["key"]: receipt["memory_id"] for receipt in run.get("receipts") or ()}
    found: dict[str, list[str]] = {}
    for planned in run.get("plan") or ():
        turns = [turn_of[str(source["seq"])] for source in planned["sources"] if str(source["seq"]) in turn_of]
        found.setdefault(kept.get(planned["key"]) or planned["key"], []).extend(turns)
    return found


def _episodes(client: MemoryClient, collection: str) -> list[tuple[str, tuple[str, int]]]:
    """Return the turns that the native library keeps: their ids, and where they were said."""
    stored = client.memories(collection, memory_types=[EPISODE], page=PAGE)
    return [
        (record.memory_id, (str(record.metadata.get("session_id")), int(record.metadata.get("seq", 0))))
        for record in stored
    ]
