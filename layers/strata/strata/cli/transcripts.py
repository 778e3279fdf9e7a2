"""Transcripts as people have them: OpenAI-style JSON lines, LoCoMo's and MemoryBank's JSON.

Each becomes sessions of messages in the shape of the append call. A user's day in MemoryBank is one session; so is each
numbered session of a LoCoMo conversation, where the first speaker is the user and the second one the other side.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from strata.errors import InputError

SPACING = timedelta(seconds=20)
LOCOMO_TIME = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One session to be replayed."""

    session_id: str
    user_id: str
    messages: tuple[Mapping[str, Any], ...]


def read(path: Path, *, user: str | None = None, only: str | None = None) -> list[Transcript]:
    """Return the sessions of a file; ``user`` names their user, ``only`` picks one person or conversation of many.

    Raises:
        InputError: the file is none of the known shapes, or holds nothing of that name.
    """
    text = path.read_text(encoding="utf-8")
    try:
        document = json.loads(text)
    except ValueError:
        return list(_json_lines(text, path.stem, user or "user"))
    if isinstance(document, list) and document and "conversation" in document[0]:
        return list(_locomo(_picked(document, only), user))
    if isinstance(document, dict) and all(isinstance(value, dict) for value in document.values()):
        return list(_memory_bank(_picked(document, only), user))
    message = f"{path.name} is neither OpenAI-style JSON lines, nor LoCoMo, nor MemoryBank."
    raise InputError(message)


def _picked(document: Any, only: str | None) -> Any:  # noqa: ANN401 either of two shapes
    if only is None:
        return document
    if isinstance(document, dict):
        picked: Any = {name: value for name, value in document.items() if name == only}
    else:
        picked = [item for item in document if item.get("sample_id") == only]
    if not picked:
        message = f"There is no {only!r} in the file."
        raise InputError(message)
    return picked


def _json_lines(text: str, stem: str, user: str) -> Iterator[Transcript]:
    """Each line is a session (``{"messages": […], "session_id"?, "user_id"?}``) or a message of a single session."""
    single: list[Mapping[str, Any]] = []
    for number, line in enumerate(filter(str.strip, text.splitlines()), start=1):
        item = _parsed_line(line, number)
        if "messages" in item:
            session_id = str(item.get("session_id") or f"{stem}-{number}")
            owner = str(item.get("user_id") or user)
            yield Transcript(session_id=session_id, user_id=owner, messages=_identified(session_id, item["messages"]))
        else:
            single.append(item)
    if single:
        yield Transcript(session_id=stem, user_id=user, messages=_identified(stem, single))


def _parsed_line(line: str, number: int) -> dict[str, Any]:
    try:
        item = json.loads(line)
    except ValueError:
        item = None
    if not isinstance(item, dict) or not {"messages", "role"} & item.keys():
        message = f"Line {number} is neither a message nor a session of messages."
        raise InputError(message)
    return item


def _locomo(conversations: Sequence[Mapping[str, Any]], user: str | None) -> Iterator[Transcript]:
    for sample in conversations:
        talk = sample["conversation"]
        name = str(sample.get("sample_id", "locomo"))
        numbers = sorted(int(key.split("_")[1]) for key in talk if key.startswith("session_") and key.count("_") == 1)
        for number in numbers:
            start = datetime.strptime(talk[f"session_{number}_date_time"], LOCOMO_TIME).replace(tzinfo=UTC)
            turns = [
                _turn("user" if turn["speaker"] == talk["speaker_a"] else "assistant", _spoken(turn), start, index)
                | {"name": turn["speaker"], "metadata": {"dia_id": turn["dia_id"]}}
                for index, turn in enumerate(talk[f"session_{number}"])
            ]
            session_id = f"{name}:{number}"
            yield Transcript(
                session_id=session_id,
                user_id=user or f"{name}:{talk['speaker_a']}",
                messages=_identified(session_id, turns),
            )


def _spoken(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [photo: {caption}]" if caption else str(turn["text"])


def _memory_bank(people: Mapping[str, Mapping[str, Any]], user: str | None) -> Iterator[Transcript]:
    for person, entry in people.items():
        for day, exchanges in entry["history"].items():
            start = datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC)
            sides = [
                (role, text)
                for exchange in exchanges
                for role, text in (("user", exchange["query"]), ("assistant", exchange["response"]))
            ]
            turns = [_turn(role, text, start, index) for index, (role, text) in enumerate(sides)]
            session_id = f"{person}:{day}"
            yield Transcript(session_id=session_id, user_id=user or person, messages=_identified(session_id, turns))


def _turn(role: str, text: str, start: datetime, index: int) -> dict[str, Any]:
    return {"role": role, "content": text, "said_at": (start + index * SPACING).isoformat()}


def _identified(session_id: str, messages: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Give each message an id that a second replay repeats, so that nothing is stored twice."""
    return tuple(
        {"message_id": f"{session_id}#{index}"[-128:], **message} for index, message in enumerate(messages, start=1)
    )
