"""Isolation: does anything of one owner ever reach somebody else?

Users, agents and shared collections all keep sentences that differ in one word. Random agents then load contexts for
random users, search, read by id and open sessions: with a right, without one, and after it was taken back. Any word of
an owner that the caller may not read, anywhere in an answer, is a leak.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from strata.client.transport import quoted
from strata.errors import AuthenticationError, ForbiddenError, InputError, NotFoundError
from strata.evaluation.isolation_tries import KINDS, WORLD, Try, collection_of, confidant, session_of
from strata.evaluation.isolation_world import MEMORY_TYPE, SECRETS, World, world
from strata.evaluation.report import Report, Table
from strata.evaluation.statistics import mean, wilson
from strata.evaluation.subject import Subject
from strata.evaluation.task import Options, Record, Step

ATTEMPTS = 400
BLOCK = 20
REFUSALS = (ForbiddenError, NotFoundError, AuthenticationError)
NOTES = (
    "Every owner keeps the same sentences with a word of its own; such a word in an answer to anybody else is a leak.",
    "A user's memories are open to every agent of the tenant, as long as it asks for that user.",
    "A closed request is right if it is refused, or answered with nothing: a stranger cannot tell the two apart.",
)


class IsolationTask:
    """``strata eval isolation``. ``--limit`` = attempts."""

    needs_data = False
    needs_subject = True

    def plan(self, options: Options) -> Sequence[Step]:
        """Return one step that fills the world, one for each user's session, and blocks of attempts."""
        made = world(options.seed)
        attempts = options.limit or ATTEMPTS
        told = [Step(id=f"told:{user}", kind="users", work=partial(_told, made, user)) for user in made.users]
        blocks = [
            Step(id=f"tries:{start}", kind="attempts", work=partial(_tried, made, options.seed, start, attempts))
            for start in range(0, attempts, BLOCK)
        ]
        return [Step(id=WORLD, kind=WORLD, work=partial(_filled, made)), *told, *blocks]

    def report(self, _options: Options, records: Mapping[str, Record]) -> Report:
        """Return how many answers held something of somebody else's."""
        rows = [row for step, record in records.items() if step.startswith("tries:") for row in record["rows"]]
        return _report(rows, len(world(0).owners()))


def _filled(made: World, subject: Subject, _done: Mapping[str, Record]) -> Record:
    """Create collections, register and revoke, and give agents and collections their secrets."""
    if subject.agent(made.agents[0]) is subject.agent(made.agents[1]):
        raise InputError("Isolation needs several agents.", hint="Give the key of an admin.")
    admin = subject.admin()
    ids: dict[str, str] = {}
    for name, readers in made.readers.items():
        path = f"/v1/collections/{quoted(subject.scoped(name))}"
        let_in = [subject.agent(agent) for agent in (*readers, *made.revoked[name])]
        admin.call("PUT", path, {"read_agents": [client.agent_id for client in let_in], "write_agents": []})
        for client in let_in:
            client.register_agent(subject.scoped(name), read=True)
        for agent in made.revoked[name]:
            admin.call("DELETE", f"{path}/registrations/{quoted(subject.agent(agent).agent_id)}")
    for owner in made.owners():
        if not owner.startswith("user:"):
            ids[owner] = _kept(made, owner, subject)
    return {"ids": ids}


def _kept(made: World, owner: str, subject: Subject) -> str:
    """Write an owner's secrets and return the id of the first."""
    kept = ""
    for place, (sentence, _) in enumerate(SECRETS):
        name = subject.scoped(f"{owner.replace(':', '-')}-{place}")
        text = sentence.format(made.words[owner][place])
        done = subject.admin().insert_memory(collection_of(owner, subject), MEMORY_TYPE, text, memory_id=name)
        kept = kept or done.memory_id
    return kept


def _told(made: World, user: str, subject: Subject, _done: Mapping[str, Record]) -> Record:
    """A user's secrets go the way of every conversation: told to an agent, settled at the session's end."""
    client = subject.agent(confidant(made, user))
    session = session_of(user, subject)
    words = made.words[f"user:{user}"]
    messages = [
        {"role": "user", "content": sentence.format(word), "message_id": f"{session}#{place}"[-128:]}
        for place, ((sentence, _), word) in enumerate(zip(SECRETS, words, strict=True))
    ]
    client.append(session, subject.scoped(user), messages)
    run = client.wait_for_run(client.end_session(session), timeout_seconds=300.0)
    return {"state": run["state"]}


def _tried(made: World, seed: int, start: int, attempts: int, subject: Subject, done: Mapping[str, Record]) -> Record:
    rows = []
    for number in range(start, min(start + BLOCK, attempts)):
        chance = random.Random(f"{seed}/{number}")  # noqa: S311 reproducible attempts, no secret
        kind = list(KINDS)[number % len(KINDS)]
        rows.append(_row(KINDS[kind](made, chance, subject, done), made))
    return {"rows": rows}


def _row(attempt: Try, made: World) -> dict[str, Any]:
    try:
        text = json.dumps(_plain(attempt.call()), ensure_ascii=False, default=str)
    except REFUSALS as refusal:
        return _outcome(attempt, made, "", refusal.code)
    return _outcome(attempt, made, text, "")


def _outcome(attempt: Try, made: World, text: str, code: str) -> dict[str, Any]:
    own = [made.words[owner][attempt.subject] for owner in attempt.allowed]
    return {
        "kind": attempt.kind,
        "allowed": attempt.is_allowed,
        "refused": code,
        "foreign": made.foreign(text, attempt.allowed),
        "found": any(word in text for word in own),
        "text": text[:2_000] if made.foreign(text, attempt.allowed) else "",
    }


def _plain(answer: Any) -> Any:  # noqa: ANN401 an answer
    if isinstance(answer, list | tuple):
        return [_plain(item) for item in answer]
    return asdict(answer) if hasattr(answer, "__dataclass_fields__") else answer


def _report(rows: Sequence[Record], owners: int) -> Report:
    leaks = [row for row in rows if row["foreign"]]
    allowed = [row for row in rows if row["allowed"]]
    closed = [row for row in rows if not row["allowed"]]
    return Report(
        metrics={
            "leakage": float(len(leaks)),
            "leak_rate": len(leaks) / max(1, len(rows)),
            "own_found": mean([float(row["found"]) for row in allowed]),
            "refused": mean([float(bool(row["refused"])) for row in closed]),
            "refused_wrongly": mean([float(bool(row["refused"])) for row in allowed]),
        },
        intervals={"leak_rate": wilson(len(leaks), len(rows))},
        counts={"attempts": len(rows), "allowed": len(allowed), "closed": len(closed), "owners": owners},
        tables=[_by_kind(rows), *([_leaks(leaks)] if leaks else [])],
        notes=NOTES,
    )


def _by_kind(rows: Sequence[Record]) -> Table:
    lines = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        some = [row for row in rows if row["kind"] == kind]
        leaks = sum(bool(row["foreign"]) for row in some)
        refused = mean([float(bool(row["refused"])) for row in some])
        found = mean([float(row["found"]) for row in some]) if some[0]["allowed"] else None
        lines.append([kind, str(len(some)), str(leaks), refused, found])
    return Table(title="Isolation", columns=("attempt", "number", "leaks", "refused", "own words found"), rows=lines)


def _leaks(leaks: Sequence[Record]) -> Table:
    rows = [[row["kind"], ", ".join(row["foreign"]), row["text"]] for row in leaks]
    return Table(title="Leaks", columns=("attempt", "whose", "answer"), rows=rows)
