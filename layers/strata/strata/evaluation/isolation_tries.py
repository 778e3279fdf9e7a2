"""What random agents ask for in the isolation task: with a right, without one, and after it was taken back."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from strata.client import MemoryClient
from strata.evaluation.isolation_world import SECRETS, World
from strata.evaluation.subject import Subject
from strata.evaluation.task import Record

TOP_K = 20
WORLD = "world"
"""The step that says which memories there are."""
DEADLINE_MS = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """One attempt: who asks, for what, whether that is allowed, whose words may be in the answer."""

    kind: str
    is_allowed: bool
    allowed: tuple[str, ...]
    call: Callable[[], Any]
    subject: int
    """Which of ``SECRETS`` was asked for."""


def _load(made: World, chance: random.Random, subject: Subject, _done: Mapping[str, Record]) -> Try:
    """A context for a user, with shared collections that the agent may read."""
    agent, user, place = chance.choice(made.agents), chance.choice(made.users), chance.randrange(len(SECRETS))
    readable = [name for name, readers in made.readers.items() if agent in readers]
    named = chance.sample(readable, min(len(readable), chance.randrange(3)))
    call = partial(_loaded, subject, agent, user, place, named, f"{chance.getrandbits(40):x}")
    return Try(
        kind="context", is_allowed=True, allowed=(f"user:{user}", f"agent:{agent}", *named), call=call, subject=place
    )


def _load_closed(made: World, chance: random.Random, subject: Subject, _done: Mapping[str, Record]) -> Try:
    """A context that names a collection which is closed to the agent: never open, or not any more."""
    name, agent = _closed(made, chance)
    user, place = chance.choice(made.users), chance.randrange(len(SECRETS))
    call = partial(_loaded, subject, agent, user, place, [name], f"{chance.getrandbits(40):x}")
    allowed = (f"user:{user}", f"agent:{agent}")
    return Try(kind="context, closed collection", is_allowed=False, allowed=allowed, call=call, subject=place)


def _search(made: World, chance: random.Random, subject: Subject, _done: Mapping[str, Record]) -> Try:
    agent, place = chance.choice(made.agents), chance.randrange(len(SECRETS))
    readable = [name for name, readers in made.readers.items() if agent in readers]
    owner = chance.choice([f"user:{chance.choice(made.users)}", f"agent:{agent}", *readable])
    call = partial(_searched, subject, agent, owner, place)
    return Try(kind="search", is_allowed=True, allowed=(owner,), call=call, subject=place)


def _search_closed(made: World, chance: random.Random, subject: Subject, _done: Mapping[str, Record]) -> Try:
    """A search in a closed collection, or in another agent's layer."""
    name, agent = _closed(made, chance)
    other = f"agent:{chance.choice([one for one in made.agents if one != agent])}"
    owner, place = chance.choice([name, other]), chance.randrange(len(SECRETS))
    call = partial(_searched, subject, agent, owner, place)
    return Try(kind="search, closed", is_allowed=False, allowed=(), call=call, subject=place)


def _read_closed(made: World, chance: random.Random, subject: Subject, done: Mapping[str, Record]) -> Try:
    """A memory by its id, its history, or all of a collection, without a right."""
    name, agent = _closed(made, chance)
    client, kept = subject.agent(agent), done[WORLD]["ids"][name]
    collection = subject.scoped(name)
    calls = (
        partial(client.get_memory, collection, kept),
        partial(client.history, collection, kept),
        partial(_listed, client, collection),
    )
    return Try(kind="read, closed", is_allowed=False, allowed=(), call=chance.choice(calls), subject=0)


def _open_session(made: World, chance: random.Random, subject: Subject, _done: Mapping[str, Record]) -> Try:
    """Another agent's session, or a context in it."""
    user = chance.choice(made.users)
    agent = chance.choice([one for one in made.agents if one != confidant(made, user)])
    client, session = subject.agent(agent), session_of(user, subject)
    other = subject.scoped(chance.choice([one for one in made.users if one != user]))
    calls = (
        partial(client.messages, session),
        partial(client.load_context, session, other, SECRETS[0][1]),
    )
    return Try(kind="session of another", is_allowed=False, allowed=(), call=chance.choice(calls), subject=0)


KINDS: Mapping[str, Callable[[World, random.Random, Subject, Mapping[str, Record]], Try]] = {
    "context": _load,
    "search": _search,
    "context, closed": _load_closed,
    "search, closed": _search_closed,
    "read, closed": _read_closed,
    "session": _open_session,
}


def _loaded(subject: Subject, agent: str, user: str, place: int, named: Sequence[str], session: str) -> Any:  # noqa: ANN401 an answer
    return subject.agent(agent).load_context(
        subject.scoped(f"look-{session}"),
        subject.scoped(user),
        SECRETS[place][1],
        collections=[subject.scoped(name) for name in named],
        top_k=TOP_K,
        deadline_ms=DEADLINE_MS,
    )


def _searched(subject: Subject, agent: str, owner: str, place: int) -> Any:  # noqa: ANN401 an answer
    return subject.agent(agent).search_similar(collection_of(owner, subject), SECRETS[place][1], top_k=TOP_K)


def _listed(client: MemoryClient, collection: str) -> list[Any]:
    return list(client.memories(collection))


def _closed(made: World, chance: random.Random) -> tuple[str, str]:
    """Return a shared collection and an agent that may not read it."""
    name = chance.choice(list(made.readers))
    return name, chance.choice([agent for agent in made.agents if agent not in made.readers[name]])


def confidant(made: World, user: str) -> str:
    return made.agents[made.users.index(user) % len(made.agents)]


def session_of(user: str, subject: Subject) -> str:
    return subject.scoped(f"told-{user}")


def collection_of(owner: str, subject: Subject) -> str:
    """Return the name of an owner's collection in this evaluation."""
    prefix, _, name = owner.rpartition(":")
    if prefix == "user":
        return f"user:{subject.scoped(name)}"
    return f"agent:{subject.agent(name).agent_id}" if prefix == "agent" else subject.scoped(name)
