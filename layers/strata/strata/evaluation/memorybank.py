"""The task ``memorybank``: chats of MemoryBank-SiliconFriend's format, with a gold file, because the set has none.

The data is ``{user: {"history": {date: [{"query", "response"}]}}}``; a day is a session, an exchange one piece of
evidence. The gold file holds JSON lines, or a JSON list, of ``{"user", "question", "evidence", "answer"?}``; evidence
names exchanges as ``2023-04-27#2`` (the second of that day), or a whole day as ``2023-04-27``.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from strata.errors import InputError
from strata.evaluation.retrieval.material import Conversation, Material, Question, Session, Turn
from strata.evaluation.retrieval.task import RetrievalTask
from strata.evaluation.source import DataFile
from strata.evaluation.task import Options

MORNING = timedelta(hours=9)
SPACING = timedelta(seconds=20)
ASSISTANT = "assistant"
GOLD = 'Gold: {"user": …, "question": …, "evidence": ["2023-04-27#2", …]} a line, given with --extra.'
_EXCHANGE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:\D+(\d+))?")

Item = Mapping[str, Any]


class MemoryBank(RetrievalTask):
    """Reads MemoryBank."""

    def read(self, options: Options) -> Material:
        """Read chats and gold. Raises InputError."""
        people = options.data.json() if options.data else None
        if not isinstance(people, dict) or not all(_is_person(person) for person in people.values()):
            raise InputError("This is not MemoryBank's format: {user: {history: {date: [{query, response}]}}}.")
        if options.extra is None:
            raise InputError("The questions of MemoryBank come with their evidence in a second file.", hint=GOLD)
        asked = _gold(options.extra)
        strangers = {item["user"] for item in asked} - people.keys()
        if strangers:
            raise InputError(f"The gold file asks about {', '.join(sorted(strangers))}, whom the data does not know.")
        return Material(conversations=tuple(_conversation(name, person, asked) for name, person in people.items()))


def _is_person(person: object) -> bool:
    if not isinstance(person, dict) or not isinstance(person.get("history"), dict):
        return False
    days = person["history"].values()
    return all(isinstance(day, list) and all(isinstance(one, dict) for one in day) for day in days)


def _gold(file: DataFile) -> list[Item]:
    items = file.json() if file.text.lstrip().startswith("[") else file.json_lines()
    if not all(isinstance(item, dict) and {"user", "question", "evidence"} <= item.keys() for item in items):
        raise InputError(f"{file.name}: every question needs user, question and evidence.", hint=GOLD)
    return [{**item, "user": str(item["user"])} for item in items]


def _conversation(name: str, person: Item, asked: Sequence[Item]) -> Conversation:
    sessions = tuple(_sessions(name, person["history"]))
    known = list(dict.fromkeys(turn.id for session in sessions for turn in session.turns))
    own = [item for item in asked if item["user"] == name]
    questions = (_question(place, item, known) for place, item in enumerate(own, start=1))
    return Conversation(id=name, sessions=sessions, questions=tuple(filter(None, questions)))


def _sessions(name: str, history: Item) -> Iterator[Session]:
    for date, exchanges in history.items():
        try:
            start = datetime.fromisoformat(date).replace(tzinfo=UTC) + MORNING
        except ValueError:
            raise InputError(f"{name}: {date!r} is not a date.") from None
        turns = tuple(turn for turn in _turns(name, date, exchanges, start) if turn.text)
        if turns:
            yield Session(id=date, turns=turns)


def _turns(name: str, date: str, exchanges: Sequence[Item], start: datetime) -> Iterator[Turn]:
    for place, exchange in enumerate(exchanges):
        said_at = start + 2 * place * SPACING
        said, replied = (str(exchange.get(side) or "").strip() for side in ("query", "response"))
        yield Turn(id=f"{date}#{place + 1}", speaker=name, text=said, said_at=said_at)
        reply_at = said_at + SPACING
        yield Turn(id=f"{date}#{place + 1}", speaker=ASSISTANT, text=replied, said_at=reply_at, by_user=False)


def _question(place: int, item: Item, known: Sequence[str]) -> Question | None:
    given = item["evidence"] if isinstance(item["evidence"], list) else [item["evidence"]]
    evidence = tuple(dict.fromkeys(one for entry in given for one in _exchanges(str(entry), known)))
    if not evidence:
        return None
    return Question(
        id=str(place), text=str(item["question"]), category="", evidence=evidence, answer=str(item.get("answer", ""))
    )


def _exchanges(entry: str, known: Sequence[str]) -> list[str]:
    """Return the exchanges an entry names that there are."""
    found = _EXCHANGE.search(entry)
    if found is None:
        return []
    date, number = found.groups()
    wanted = f"{date}#{int(number)}" if number else f"{date}#"
    return [one for one in known if one == wanted or (not number and one.startswith(wanted))]
