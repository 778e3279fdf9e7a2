"""Calls about memories and the collections that hold them."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from strata.client.records import (
    ImpactResult,
    InsertResult,
    MemoryRecord,
    ReadRecord,
    RegistrationRecord,
    RollbackResult,
    UpdateResult,
    VersionRecord,
    made,
    read_record,
    record,
)
from strata.client.transport import Transport, collection_path, memory_path, quoted


class CollectionCalls(Transport):
    """Search, write, history and rollback in collections."""

    def register_agent(
        self,
        collection: str,
        *,
        read: bool = True,
        write: bool = False,
        memory_types: Sequence[str] | None = None,
        expires_at: str | None = None,
    ) -> RegistrationRecord:
        """Declare what this agent needs in a collection; refused beyond the collection's policy (NotFoundError)."""
        body = {"read": read, "write": write, "memory_types": memory_types, "expires_at": expires_at}
        path = f"{collection_path(collection)}/registrations/{quoted(self.agent_id)}"
        return made(RegistrationRecord, self.call("PUT", path, body))

    def search_similar(
        self,
        collection: str,
        query: str,
        threshold: float | None = None,
        *,
        memory_types: Sequence[str] | None = None,
        tags: Mapping[str, str] | None = None,
        mode: str = "hybrid",
        top_k: int | None = None,
    ) -> list[MemoryRecord]:
        """Return memories like ``query``, best first, with a score of at least ``threshold`` (0–1)."""
        body = {
            "query": query,
            "threshold": threshold,
            "memory_types": memory_types,
            "tags": dict(tags or {}),
            "mode": mode,
            "top_k": top_k,
        }
        answer = self.call("POST", f"{collection_path(collection)}/memories/search", body)
        return [record(item) for item in answer["results"]]

    def insert_memory(
        self,
        collection: str,
        memory_type: str,
        content: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        ttl_seconds: int | None = None,
        access_policy: Mapping[str, Sequence[str] | None] | None = None,
        memory_id: str | None = None,
        **flags: Any,  # noqa: ANN401 standing, safety, importance, expires_at
    ) -> InsertResult:
        """Keep a memory; the same fact becomes a new version of what is there."""
        body = {
            "memory_type": memory_type,
            "content": content,
            "metadata": dict(metadata or {}),
            "ttl_seconds": ttl_seconds,
            "access_policy": access_policy,
            "memory_id": memory_id or f"mem_{uuid.uuid4().hex}",
            **flags,
        }
        answer = self.call("POST", f"{collection_path(collection)}/memories", body)
        return made(InsertResult, answer)

    def get_memory(self, collection: str, memory_id: str) -> MemoryRecord:
        """Return one memory. Raises NotFoundError."""
        return record(self.call("GET", memory_path(collection, memory_id)))

    def memories(
        self, collection: str, *, memory_types: Sequence[str] | None = None, page: int = 100
    ) -> Iterator[MemoryRecord]:
        """Yield every memory of a collection that this agent may read."""
        after: str | None = None
        types = ",".join(memory_types) if memory_types else None
        while True:
            query = {"limit": page, "after": after, "memory_types": types}
            answer = self.call("GET", f"{collection_path(collection)}/memories", query=query)
            yield from map(record, answer["memories"])
            after = answer["after"]
            if after is None:
                return

    def update_memory(
        self,
        collection: str,
        memory_id: str,
        *,
        expected_version: int | None = None,
        reason: str = "",
        **changes: Any,  # noqa: ANN401 content, metadata, ttl_seconds, access_policy, memory_type
    ) -> UpdateResult:
        """Change a memory; ``expected_version`` is the version that was read.

        Raises:
            VersionConflictError: it has changed since, and the collection rejects outdated updates.
        """
        body = {"expected_version": expected_version, "reason": reason, **changes}
        answer = self.call("PATCH", memory_path(collection, memory_id), body, safe=False)
        return UpdateResult(memory=record(answer["memory"]), conflict=answer["conflict"])

    def delete_memory(self, collection: str, memory_id: str, *, reason: str = "") -> None:
        """Delete; history stays for admins, and consolidation does not bring it back. Raises NotFoundError."""
        query = {"reason": reason or None}
        self.call("DELETE", memory_path(collection, memory_id), query=query, gone_is_done=True)

    def history(self, collection: str, memory_id: str) -> list[VersionRecord]:
        """Return every version, oldest first."""
        answer = self.call("GET", f"{memory_path(collection, memory_id)}/history")
        return [made(VersionRecord, item) for item in answer["versions"]]

    def rollback(
        self, collection: str, memory_id: str, version: int, *, dry_run: bool = False, reason: str = ""
    ) -> RollbackResult:
        """Bring back the content of a version as a new version; ``dry_run`` only shows the readers."""
        body = {"version": version, "dry_run": dry_run, "reason": reason}
        answer = self.call("POST", f"{memory_path(collection, memory_id)}/rollback", body, safe=dry_run)
        readers = tuple(map(read_record, answer["readers"]))
        return RollbackResult(memory=record(answer["memory"]), readers=readers, applied=answer["applied"])

    def reads(self, collection: str, memory_id: str, *, version: int | None = None) -> list[ReadRecord]:
        """Return who has read a memory, newest first."""
        answer = self.call("GET", f"{memory_path(collection, memory_id)}/reads", query={"version": version})
        return [read_record(item) for item in answer["reads"]]

    def impact(self, collection: str, memory_id: str, *, version: int | None = None) -> ImpactResult:
        """Return who has read a memory and what those sessions wrote afterwards."""
        answer = self.call("GET", f"{memory_path(collection, memory_id)}/impact", query={"version": version})
        return ImpactResult(reads=tuple(map(read_record, answer["reads"])), written=tuple(answer["written"]))
