"""A world in which everybody keeps the same kinds of secrets, each with a word of its own. Made from a seed; pure."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SYLLABLES = (
    "ba be bo da di du fe fo ga gi ko ku la lo ma mi mu na ne no pa pe ra ri ro sa so ta ti to va vi za zo".split()
)
SECRETS = (
    ("The name of the cat here is {}.", "What is the cat called?"),
    ("The word for the back gate is {}.", "What is the word for the back gate?"),
    ("这里的猫叫{}。", "猫叫什么名字？"),
    ("后门的暗号是{}。", "后门的暗号是什么？"),
)
"""Sentences that all owners have in common but for one word, and what one asks to hear them."""
MEMORY_TYPE = "user_preference"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Who is there, who may read what, and which word stands for whom."""

    users: tuple[str, ...]
    agents: tuple[str, ...]
    readers: Mapping[str, frozenset[str]]
    """Shared collection → the agents that may read it at the end."""
    revoked: Mapping[str, frozenset[str]]
    """Shared collection → the agents whose right was taken back."""
    words: Mapping[str, tuple[str, ...]]
    """Owner (``user:…``, ``agent:…``, a shared collection) → its words, one for each of ``SECRETS``."""

    def owners(self) -> list[str]:
        """Return everybody who has secrets."""
        return list(self.words)

    def foreign(self, text: str, allowed: Iterable[str]) -> list[str]:
        """Return the owners, other than those allowed, of whom a word is in a text."""
        own = frozenset(allowed)
        return [
            owner for owner, words in self.words.items() if owner not in own and any(word in text for word in words)
        ]


def world(seed: int, *, users: int = 20, agents: int = 6, collections: int = 6) -> World:
    """Return a world. Names are bare: the evaluation gives them its scope."""
    chance = random.Random(f"{seed}/isolation")  # noqa: S311 a reproducible world, no secret
    people = tuple(f"user{number}" for number in range(users))
    crew = tuple(f"agent{number}" for number in range(agents))
    shared = [f"shared{number}" for number in range(collections)]
    admitted = {name: chance.sample(crew, 3) for name in shared}
    owners = [*(f"user:{name}" for name in people), *(f"agent:{name}" for name in crew), *shared]
    words = iter(_words(chance, len(owners) * len(SECRETS)))
    return World(
        users=people,
        agents=crew,
        readers={name: frozenset(some[:2]) for name, some in admitted.items()},
        revoked={name: frozenset(some[2:]) for name, some in admitted.items()},
        words={owner: tuple(next(words) for _ in SECRETS) for owner in owners},
    )


def _words(chance: random.Random, number: int) -> list[str]:
    """Words that occur nowhere else, none of them part of another."""
    found: dict[str, None] = {}
    while len(found) < number:
        found["".join(chance.choices(SYLLABLES, k=5)).capitalize()] = None
    return list(found)
