"""Pruning and conflicts of many candidates among many memories, against the raw matrix of edit distances."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

import pytest
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from strata.consolidation.conflicts import Conflicts
from strata.consolidation.lookup import Lookup, Stored
from strata.consolidation.pairs import Pairs
from strata.consolidation.proposals import Proposal
from strata.consolidation.prune import Prune
from strata.dedup.fingerprint import fingerprint
from strata.model.memories import Category, Memory, Source
from strata.model.runs import Judgement, Run, RunState
from tests.benchmarks.timing import against_floor

if TYPE_CHECKING:
    from strata.ports import MemoryStore

NOW = datetime(2026, 3, 10, tzinfo=UTC)
WHO = "用户 孩子 妈妈 爸爸 Tom Anna".split()
DOES = "喜欢 不喜欢 讨厌 常吃 买了 likes dislikes prefers uses".split()
WHAT = "香菜 牛肉 红茶 羽毛球 西班牙语 靠窗的座位 少盐的汤 oolong spicy-noodles".split()
RUN = Run(
    tenant="t",
    run_id="r",
    session_id="s",
    user_id="u",
    agent_id="a",
    state=RunState.RUNNING,
    from_seq=1,
    upto_seq=200,
    created_at=NOW,
)


@dataclass
class Library:
    """What is stored, as the two steps ask for it."""

    texts: Sequence[str]
    memories: list[Stored] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.memories = [_memory(number, text) for number, text in enumerate(self.texts)]

    def __call__(self, *_place: object, now: datetime) -> list[Stored]:
        return self.memories

    def tombstoned(self, *_question: object) -> dict[str, datetime]:
        return {}


def _conflicts(library: Library) -> Conflicts:
    return Conflicts(cast("MemoryStore", library), lambda *_: None, None, timeout_seconds=1)


class Rounds:
    """Every round has candidates that nobody has seen; what is stored has been met before, as on a warm instance."""

    def __init__(self, stored: Sequence[str]) -> None:
        library = Library(stored)
        self._prune = Prune(cast("Lookup", library), Pairs())
        self._conflicts = _conflicts(library)
        self._seed = 2
        self._stored = stored
        self.turn()
        self.settle()

    def turn(self) -> None:
        """Take the next candidates."""
        self._seed += 1
        new = sentences(200, seed=self._seed)
        self._proposals = [_proposal(place, text) for place, text in enumerate(new)]

    def settle(self) -> object:
        """Both steps."""
        held = self._prune(RUN, self._proposals, now=NOW)
        return self._conflicts(RUN, held, Judgement(candidates=(), judge="rules"), remaining_seconds=lambda: 60)

    def floor(self) -> object:
        """One raw matrix of edit distances of that size."""
        new = [proposal.content for proposal in self._proposals]
        return process.cdist(new, self._stored, scorer=Levenshtein.normalized_similarity)


@pytest.mark.slow
def test_prune_and_conflicts() -> None:
    rounds = Rounds(sentences(10_000, seed=1))
    ratio = against_floor(
        "prune + conflicts, 200 of 10,000 / cdist", rounds.settle, rounds.floor, warm=1, before=rounds.turn
    )
    ratio.told()
    assert ratio.p50 < 3
    assert ratio.p95 < 4


def sentences(count: int, *, seed: int) -> list[str]:
    chosen = random.Random(seed)
    return [
        f"{chosen.choice(WHO)}{chosen.choice(DOES)}{chosen.choice(WHAT)}，第{chosen.randint(1, 10**6)}次"
        for _ in range(count)
    ]


def _memory(number: int, text: str) -> Stored:
    return Stored(
        memory=Memory(
            tenant="t",
            memory_id=f"m{number}",
            collection="user:u",
            memory_type="user_preference",
            agent_id="a",
            content=text,
            said_at=NOW - timedelta(days=1),
            created_at=NOW,
            updated_at=NOW,
        )
    )


def _proposal(place: int, text: str) -> Proposal:
    return Proposal(
        key=f"k{place}",
        collection="user:u",
        memory_type="user_preference",
        content=text,
        fingerprint=fingerprint(text),
        category=Category.PREFERENCE,
        importance=7,
        ttl_seconds=0,
        standing=False,
        safety=False,
        said_at=NOW,
        sources=(Source(session_id="s", seq=place + 1),),
        confidence=1.0,
        rule="",
        evidence="",
        metadata={},
    )
