"""An external long-term memory in a folder: it outlives the process, loses adds if told to, fails on demand."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from strata.model.agents import ProviderName
from strata.model.memories import Memory
from strata.ports import Capabilities, MemoryDraft, ProviderHits, ProviderQuery, ProviderScope
from tests.fakes.rig import NOW

if TYPE_CHECKING:
    from strata.errors import StrataError


class Shelf:
    """One file for each memory, named by the key of the add."""

    def __init__(self, folder: Path, *, asynchronous: bool = False) -> None:
        self._folder = folder
        self._folder.mkdir(exist_ok=True)
        self._asynchronous = asynchronous
        self.loses_adds = False
        self.failing: dict[str, StrataError] = {}
        """By operation: raised instead of doing it."""
        self.failing_after: dict[str, StrataError] = {}
        """By operation: raised after it was done, as when the answer is lost."""

    name = ProviderName.MEMOS

    def capabilities(self) -> Capabilities:
        return Capabilities(
            keyword=False,
            semantic=True,
            tags=False,
            update=False,
            returns_ids=not self._asynchronous,
            asynchronous=self._asynchronous,
        )

    def search(self, query: ProviderQuery) -> ProviderHits:
        return ProviderHits(hits=())

    def add(self, scope: ProviderScope, draft: MemoryDraft, *, now: datetime) -> tuple[str, ...]:
        self._may_fail("add")
        document = {
            "user": scope.user_id,
            "tenant": scope.tenant,
            "collection": draft.collection,
            "memory_type": draft.memory_type,
            "content": draft.content,
            "said_at": draft.said_at.isoformat(),
            "key": draft.memory_id,
        }
        if not self.loses_adds:
            (self._folder / f"ext-{draft.memory_id}.json").write_text(json.dumps(document), encoding="utf-8")
        self._may_fail("add", done=True)
        return () if self._asynchronous else (f"ext-{draft.memory_id}",)

    def listed(self, scope: ProviderScope, collection: str, *, limit: int = 100) -> list[Memory]:
        self._may_fail("listed")
        found = [
            memory for memory in self._memories() if (memory.tenant, memory.collection) == (scope.tenant, collection)
        ]
        return found[:limit]

    def get(self, scope: ProviderScope, collection: str, external_id: str) -> Memory | None:
        listed = self.listed(scope, collection, limit=10_000)
        return next((memory for memory in listed if external_id in _names(memory)), None)

    def delete(self, scope: ProviderScope, collection: str, external_ids: Sequence[str]) -> None:
        self._may_fail("delete")
        for external_id in external_ids:
            (self._folder / f"ext-{external_id.removeprefix('ext-')}.json").unlink(missing_ok=True)
        self._may_fail("delete", done=True)

    def contents(self) -> list[str]:
        """What is kept, oldest statement first."""
        return [
            memory.content for memory in sorted(self._memories(), key=lambda memory: (memory.said_at, memory.content))
        ]

    def _memories(self) -> Iterator[Memory]:
        for file in sorted(self._folder.glob("*.json")):
            document = json.loads(file.read_text(encoding="utf-8"))
            yield Memory(
                tenant=document["tenant"],
                memory_id=document["key"],
                collection=document["collection"],
                memory_type=document["memory_type"],
                agent_id="",
                content=document["content"],
                metadata={"external_id": file.stem},
                said_at=datetime.fromisoformat(document["said_at"]),
                created_at=NOW,
                updated_at=NOW,
            )

    def _may_fail(self, operation: str, *, done: bool = False) -> None:
        error = (self.failing_after if done else self.failing).get(operation)
        if error is not None:
            raise error


def _names(memory: Memory) -> tuple[str, str]:
    return memory.memory_id, str(memory.metadata["external_id"])
