"""The task ``locomo``: conversations of LoCoMo's format, whichever and however many a file holds.

A list of ``{"sample_id", "conversation", "qa"}``. The conversation has ``speaker_a``, ``speaker_b``, ``session_N`` (a
list of ``{"speaker", "dia_id", "text", "blip_caption"?}``) and ``session_N_date_time``; a question has ``question``,
``answer``, ``evidence`` (ids of turns) and ``category``. Categories 1–4 count, 5 is adversarial and stands apart.

Some evidence is malformed: several ids in one string (``D8:6; D9:17``), a colon too many (``D:11:26``), a leading zero
(``D30:05``), no id at all, or one that no turn has. What can be read is read, the rest is counted and left out.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from strata.errors import InputError
from strata.evaluation.retrieval.material import Conversation, Material, Question, Session, Turn
from strata.evaluation.retrieval.task import RetrievalTask
from strata.evaluation.task import Options

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
SPACING = timedelta(seconds=20)
"""Between the turns of a session, of which only the start is known."""
UNTIMED = datetime.min.replace(tzinfo=UTC)
TIME = "%I:%M %p on %d %B, %Y"
_TURN_ID = re.compile(r"D\s*:?\s*(\d+)\s*:\s*(\d+)")
_SESSION = re.compile(r"session_(\d+)")


class Locomo(RetrievalTask):
    """Reads LoCoMo."""

    def read(self, options: Options) -> Material:
        """Read the file. Raises InputError with what is wrong and where."""
        data = options.data
        document = data.json() if data else None
        if not isinstance(document, list) or not document or not all(isinstance(item, dict) for item in document):
            raise InputError("This is not LoCoMo's format: a list of conversations is expected.")
        seen: Counter[str] = Counter()
        found = [_conversation(sample, place, seen) for place, sample in enumerate(document, start=1)]
        if not any(conversation.questions for conversation in found):
            raise InputError("There is no question with evidence in the file.")
        if len({conversation.id for conversation in found}) < len(found):
            raise InputError("Two conversations have the same sample_id.")
        return Material(conversations=tuple(found), notes=tuple(_notes(seen)))


def _conversation(sample: Mapping[str, Any], place: int, seen: Counter[str]) -> Conversation:
    name = str(sample.get("sample_id") or f"conversation {place}")
    talk, questions = sample.get("conversation"), sample.get("qa")
    if not isinstance(talk, dict) or not isinstance(questions, list):
        raise InputError(f"{name}: 'conversation' and 'qa' are expected.")
    sessions = tuple(_sessions(name, talk))
    known = {turn.id for session in sessions for turn in session.turns}
    return Conversation(
        id=name,
        sessions=sessions,
        questions=tuple(_questions(name, questions, known, seen)),
    )


def _sessions(name: str, talk: Mapping[str, Any]) -> Iterator[Session]:
    numbers = sorted(int(match[1]) for key in talk if (match := _SESSION.fullmatch(key)))
    for number in numbers:
        turns, start = talk[f"session_{number}"], _start(name, number, talk)
        if not isinstance(turns, list):
            raise InputError(f"{name}: session_{number} is not a list of turns.")
        if not all(isinstance(turn, dict) and isinstance(turn.get("speaker"), str) for turn in turns):
            raise InputError(f"{name}: a turn of session_{number} has no speaker.")
        read = [_turn(turn, f"D{number}:{place}", talk) for place, turn in enumerate(turns, start=1)]
        timed = [replace(turn, said_at=start + place * SPACING) for place, turn in enumerate(read) if turn.text]
        if timed:
            yield Session(id=str(number), turns=tuple(timed))


def _start(name: str, number: int, talk: Mapping[str, Any]) -> datetime:
    told = talk.get(f"session_{number}_date_time")
    try:
        return datetime.strptime(str(told).strip(), TIME).replace(tzinfo=UTC)
    except ValueError:
        raise InputError(f"{name}: session_{number} has no date like '1:56 pm on 8 May, 2023'.") from None


def _turn(turn: Mapping[str, Any], place: str, talk: Mapping[str, Any]) -> Turn:
    ids = _ids(str(turn.get("dia_id", "")))
    return Turn(
        id=ids[0] if ids else place,
        speaker=turn["speaker"],
        text=_spoken(turn),
        said_at=UNTIMED,
        by_user=turn["speaker"] == talk.get("speaker_a"),
    )


def _spoken(turn: Mapping[str, Any]) -> str:
    text, caption = str(turn.get("text") or "").strip(), turn.get("blip_caption")
    return f"{text} [photo: {caption}]".strip() if caption else text


def _questions(name: str, asked: Sequence[Any], known: set[str], seen: Counter[str]) -> Iterator[Question]:
    for place, item in enumerate(asked, start=1):
        if not isinstance(item, dict) or not isinstance(item.get("question"), str) or not item["question"].strip():
            raise InputError(f"{name}: question {place} has no text.")
        evidence = _evidence(item.get("evidence"), known, seen)
        category = item.get("category")
        if not evidence:
            seen["without"] += 1
            continue
        yield Question(
            id=str(place),
            text=item["question"],
            category=CATEGORIES.get(category, str(category)) if isinstance(category, int) else str(category),
            evidence=evidence,
            answer=str(item.get("answer", "")),
            counts=category != ADVERSARIAL,
        )


def _evidence(given: Any, known: set[str], seen: Counter[str]) -> tuple[str, ...]:  # noqa: ANN401 from JSON
    texts = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    found: dict[str, None] = {}
    for text in map(str, texts):
        ids = _ids(text)
        seen["repaired"] += ids != [text]
        seen["dangling"] += sum(one not in known for one in ids) or not ids
        found |= dict.fromkeys(one for one in ids if one in known)
    return tuple(found)


def _ids(text: str) -> list[str]:
    """Return every turn id of a text, in its plain form."""
    return [f"D{int(session)}:{int(turn)}" for session, turn in _TURN_ID.findall(text)]


def _notes(seen: Counter[str]) -> Iterator[str]:
    if seen["repaired"] or seen["dangling"]:
        yield f"{seen['repaired']} malformed evidence strings were read; {seen['dangling']} name no turn there is."
    if seen["without"]:
        yield f"{seen['without']} questions have no evidence left and are not asked."
