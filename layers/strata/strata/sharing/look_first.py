"""Looking before writing: is this fact stored already, or only something close to it?

Candidates are live memories of the same collection and type whose calibrated similarity reaches the threshold, and
that the agent may read. Which of them says the same is decided pair by pair; what cannot be proven equal stays apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from strata.model.memories import Memory
from strata.ports import Access, CollectionView, MemoryDraft
from strata.sharing.index import Indexes


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What is stored beside a text, and the agent may read; best first."""

    memories: Sequence[Memory]
    as_of: int | None = None
    """Where the change counter stood of the collection that was looked into; None if that is not known."""
    is_first: bool = False
    """Whether nothing stored has the type and the fingerprint, whoever may read it."""


Search = Callable[[Access, MemoryDraft, int, float, CollectionView | None], Beside]
"""(access, draft, top k, least calibrated score, state of the collection if that is known already) → beside it."""


class Verdict(Protocol):
    """How a new text stands to an old one: ``merge``, ``refine``, ``conflict`` or ``distinct``."""

    @property
    def kind(self) -> str: ...


Decide = Callable[[str, str], Verdict]
"""(old text, new text) → verdict."""

RELATIONS = {"refine": "refines", "conflict": "contradicts"}
CLOSE = "close_to"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The memory that says the same, if any, and those that are close, with their relation to the new one."""

    same: Memory | None
    links: tuple[tuple[str, str], ...]
    as_of: int | None = None
    """Where the collection's change counter stood."""
    is_first: bool = False
    """Whether nothing stored has its type and fingerprint."""


class LookFirst:
    """Finds what is stored already."""

    def __init__(
        self, search: Search, decide: Decide, *, similarity: float, top_k: int, indexes: Indexes | None = None
    ) -> None:
        """``indexes``: what is searched, to be told what is written."""
        self._search = search
        self._decide = decide
        self._similarity = similarity
        self._top_k = top_k
        self._indexes = indexes

    def __call__(self, access: Access, draft: MemoryDraft, view: CollectionView | None = None) -> Found:
        """Return what a draft repeats and what it is close to; ``view``: the collection's state, if it is known."""
        same: Memory | None = None
        links: list[tuple[str, str]] = []
        beside = self._search(access, draft, self._top_k, self._similarity, view)
        for old in beside.memories:
            kind = str(self._decide(old.content, draft.content).kind)
            if kind == "merge" and same is None and _interchangeable(old, draft, access):
                same = old
            else:
                links.append((old.memory_id, RELATIONS.get(kind, CLOSE)))
        return Found(same=same, links=tuple(links), as_of=beside.as_of, is_first=beside.is_first)

    def wrote(self, memory: Memory, found: Found) -> None:
        """Spare the search that comes next reading a memory that was written after a look."""
        if self._indexes is not None and found.as_of is not None:
            self._indexes.wrote(memory, found.as_of)


def _interchangeable(old: Memory, draft: MemoryDraft, access: Access) -> bool:
    """Only a memory about the same user, for the same readers, that the agent may write, can take up the new one."""
    writers = old.policy.write_agents
    writable = access.admin or access.system or writers is None or access.agent_id in writers
    return writable and old.user_id == draft.user_id and old.policy == draft.policy
