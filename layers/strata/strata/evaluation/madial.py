"""The task ``madial``: MADial-Bench, in Chinese or English; what is said in a dialogue recalls what happened before.

Two files of JSON lines beside each other: ``…-memory.json`` with
``{"<id>": {"time", "scene", "emotion", "event", "user-id"?}}`` and ``…-dialogue.json`` with
``{"dialogue", "test-turn", "relevant-id", "user-id"}``. The question is the dialogue so far, up to the first turn in
which a memory is to be mentioned. A memory without ``user-id`` belongs to the child it names.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from strata.errors import InputError
from strata.evaluation.retrieval.material import Conversation, Material, Question, Session, Turn
from strata.evaluation.retrieval.task import RetrievalTask
from strata.evaluation.source import DataFile
from strata.evaluation.task import Options
from strata.ranking.tokens import is_dense

ASSISTANT = "assistant"
MARKS = frozenset({"<BOD>", "<EOD>"})
"""Begin and end of a dialogue."""
_SPEAKER = re.compile(r"\s*<([^<>]+)>\s*[:：]")
_UNDATED = datetime(2023, 1, 1, tzinfo=UTC)

Item = Mapping[str, Any]


class Madial(RetrievalTask):
    """Reads MADial-Bench."""

    def companion(self, data: DataFile) -> Path | None:
        """Return the dialogues beside memories, or the memories beside dialogues."""
        for ours, other in (("memory", "dialogue"), ("dialogue", "memory")):
            if ours in data.name:
                return data.path.with_name(data.name.replace(ours, other))
        return None

    def read(self, options: Options) -> Material:
        """Read both files, in either order. Raises InputError."""
        if options.data is None or options.extra is None:
            raise InputError("MADial-Bench has two files.", hint="Give --data …-memory.json --extra …-dialogue.json.")
        files = [options.data.json_lines(), options.extra.json_lines()]
        dialogues = next((lines for lines in files if lines and all("dialogue" in line for line in lines)), None)
        memories = next((lines for lines in files if lines is not dialogues), None)
        if dialogues is None or memories is None:
            raise InputError("Neither file holds dialogues of MADial-Bench.")
        for place, dialogue in enumerate(dialogues, start=1):
            if not _is_dialogue(dialogue):
                raise InputError(f"Dialogue {place}: 'dialogue', 'test-turn' and 'relevant-id' are expected.")
        return Material(conversations=tuple(_conversations(_memories(memories), dialogues)))


def _memories(lines: Sequence[Item]) -> dict[str, Item]:
    found = {key: value for line in lines for key, value in line.items()}
    if not all(isinstance(value, dict) and isinstance(value.get("event"), str) for value in found.values()):
        raise InputError("A memory without 'event': this is not MADial-Bench.")
    return found


def _conversations(memories: Mapping[str, Item], dialogues: Sequence[Item]) -> Iterator[Conversation]:
    people = {str(dialogue.get("user-id")): _person(dialogue) for dialogue in dialogues}
    for user, person in sorted(people.items()):
        own = {key: memory for key, memory in memories.items() if _belongs(memory, user, person, people)}
        turns = tuple(_turn(key, memory, person) for key, memory in own.items())
        asked = [(place, one) for place, one in enumerate(dialogues, start=1) if str(one.get("user-id")) == user]
        questions = [question for place, one in asked if (question := _question(place, one, own))]
        if turns:
            sessions = (Session(id="memories", turns=turns),)
            yield Conversation(id=f"user-{user}", sessions=sessions, questions=tuple(questions), is_sentences=True)


def _belongs(memory: Item, user: str, person: str, people: Mapping[str, str]) -> bool:
    if "user-id" in memory:
        return str(memory["user-id"]) == user
    named = [name for name in people.values() if name in memory["event"]]
    return not named or person in named


def _turn(key: str, memory: Item, person: str) -> Turn:
    try:
        said_at = datetime.fromisoformat(str(memory.get("time"))).replace(tzinfo=UTC)
    except ValueError:
        said_at = _UNDATED
    return Turn(id=key, speaker=person, text=_told(memory), said_at=said_at)


def _told(memory: Item) -> str:
    """Return a memory as one sentence: of what kind it was, how it felt, what happened. Its day is metadata."""
    comma, colon = ("，", "：") if is_dense(memory["event"]) else (", ", ": ")
    about = comma.join(str(memory[name]) for name in ("scene", "emotion") if memory.get(name))
    return f"{about}{colon}{memory['event']}" if about else str(memory["event"])


def _question(place: int, dialogue: Item, memories: Mapping[str, Item]) -> Question | None:
    before = [str(line).strip() for line in dialogue["dialogue"][: dialogue["test-turn"][0]]]
    text = "\n".join(line for line in before if line and line not in MARKS)
    evidence = tuple(dict.fromkeys(str(one) for one in dialogue["relevant-id"] if str(one) in memories))
    return Question(id=str(place), text=text, category="", evidence=evidence) if text and evidence else None


def _is_dialogue(item: Item) -> bool:
    lists = [item.get(name) for name in ("dialogue", "test-turn", "relevant-id")]
    return all(isinstance(one, list) and one for one in lists) and isinstance(item["test-turn"][0], int)


def _person(dialogue: Item) -> str:
    for line in dialogue["dialogue"]:
        found = _SPEAKER.match(str(line))
        if found and found[1].casefold() != ASSISTANT:
            return found[1]
    return ""
