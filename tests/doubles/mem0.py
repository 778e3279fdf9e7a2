"""A double of the open-source Mem0 server, v2."""

import random
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from strata.clock import Clock
from tests.doubles.nearness import nearness
from tests.doubles.server import NULL, Asked, Reply

KEY = "m0sk_key-of-the-tests"
ENTITIES = ("user_id", "agent_id", "run_id")


@dataclass(kw_only=True)
class Mem0Behaviour:
    """What this server does. Change it while it runs."""

    stores_nothing: bool = False
    """Answers an add with an empty list."""
    upstream: str = ""
    """A code such as ``vector_store_unavailable``: everything that needs it answers 502."""
    score: str = "fused"
    """``fused`` may lie below the threshold, which gates the semantic part only; ``distance`` is above 1."""
    ids_lie: bool = False
    """Answers an add with an id under which nothing is found."""

    @classmethod
    def at_random(cls, seed: int) -> "Mem0Behaviour":
        """A server whose answers are all of its contract, none of them the plainest."""
        return cls(score=random.Random(seed).choice(["fused", "distance"]))


class Mem0:
    """The service without a prefix."""

    def __init__(self, clock: Clock, behaviour: Mem0Behaviour | None = None) -> None:
        self.behaviour = behaviour or Mem0Behaviour()
        self._clock = clock
        self._lock = threading.RLock()
        self._memories: dict[str, dict[str, Any]] = {}

    def texts(self, entity: str | None = None) -> list[str]:
        """What is stored, of one entity or of all."""
        with self._lock:
            return [
                one["memory"]
                for one in self._memories.values()
                if entity is None or entity in [one.get(name) for name in ENTITIES]
            ]

    def put(self, entity: str, memory: str, *, preference: str = "", **metadata: Any) -> str:
        """Store something that another client wrote; there are no preferences here."""
        name = "agent_id" if entity.startswith("strata.agent.") else "user_id"
        return str(self._store({name: entity, "metadata": metadata or None}, preference or memory)["id"])

    def answer(self, asked: Asked) -> Reply:
        """Do what is asked, one at a time."""
        if asked.headers.get("x-api-key") != KEY:
            return _error(401, "Authentication required. Provide a Bearer token or X-API-Key header.")
        with self._lock:
            match asked.method, asked.path.split("/")[1:]:
                case "POST", ["memories"]:
                    return self._add(asked.body)
                case "POST", ["search"]:
                    return self._search(asked.body)
                case "GET", ["memories"]:
                    return self._list(asked.query)
                case "GET", ["memories", memory_id]:
                    return self._get(memory_id)
                case "DELETE", ["memories", memory_id]:
                    return self._delete(memory_id)
        return _error(404, "Not Found")

    def _add(self, body: dict[str, Any]) -> Reply:
        if not any(body.get(name) for name in ENTITIES):
            return _error(400, "At least one identifier (user_id, agent_id, run_id) is required.")
        if any(" " in str(body.get(name, "")) for name in ENTITIES):
            return _error(400, "Identifiers must not contain whitespace.")
        if self.behaviour.upstream:
            return self._upstream()
        said = [message for message in body["messages"] if message["role"] in {"user", "assistant"}]
        results = []
        for message in said if not self.behaviour.stores_nothing else ():
            if body.get("infer", True) and message["content"] in self.texts():
                continue  # the exact text is known: a repeat answers an empty list
            shown = {"id": str(uuid.uuid4()), "memory": message["content"]}
            if not self.behaviour.ids_lie:
                shown = self._store(body, message["content"])
            results.append({"id": shown["id"], "memory": shown["memory"], "event": "ADD", "role": "user"})
        return Reply(body={"results": results}, headers={"X-Request-ID": uuid.uuid4().hex})

    def _store(self, body: Mapping[str, Any], memory: str) -> dict[str, Any]:
        now = self._clock.now().isoformat()
        one = {
            "id": str(uuid.uuid4()),
            "memory": memory,
            "hash": uuid.uuid4().hex,
            "metadata": body.get("metadata"),
            "created_at": now,
            "updated_at": now,
            **{name: body[name] for name in ENTITIES if body.get(name)},
            **({"expiration_date": body["expiration_date"]} if body.get("expiration_date") else {}),
        }
        self._memories[one["id"]] = one
        return one

    def _search(self, body: dict[str, Any]) -> Reply:
        where = dict(body.get("filters") or {})
        if not any(isinstance(where.get(name), str) for name in ENTITIES):
            return _error(400, "filters must contain at least one of: user_id, agent_id, run_id.")
        threshold = body.get("threshold", 0.1)
        if not str(body.get("query") or "").strip() or body.get("top_k", 20) < 0 or not 0 <= threshold <= 1:
            return _error(400, "invalid query, top_k or threshold")
        if self.behaviour.upstream:
            return self._upstream()
        found = [
            {**one, "score": self._score(semantic)}
            for one in self._memories.values()
            if _passes(one, where) and (body.get("show_expired") or not self._is_expired(one))
            for semantic in [nearness(body["query"], one["memory"])]
            if semantic >= threshold
        ]
        found.sort(key=lambda one: float(one["score"]), reverse=True)
        return Reply(body={"results": found[: body.get("top_k", 20)]})

    def _score(self, semantic: float) -> float:
        return semantic * 0.9 if self.behaviour.score == "fused" else 1.0 + semantic

    def _list(self, query: Mapping[str, str]) -> Reply:
        limit = int(query.get("top_k", 20))
        if not 0 <= limit <= 1_000:
            return _error(422, "top_k must be between 0 and 1000")
        where = {name: query[name] for name in ENTITIES if name in query}
        shown = [
            one
            for one in self._memories.values()
            if _passes(one, where) and (query.get("show_expired") == "true" or not self._is_expired(one))
        ]
        return Reply(body={"results": shown[:limit]})

    def _get(self, memory_id: str) -> Reply:
        if not _is_uuid(memory_id):
            return Reply(status=502, body={"detail": "invalid id", "code": "unknown", "request_id": "r"})
        one = self._memories.get(memory_id)
        return Reply(body={**one, "score": None}) if one else Reply(body=NULL)

    def _delete(self, memory_id: str) -> Reply:
        if not _is_uuid(memory_id):
            return Reply(status=502, body={"detail": "invalid id", "code": "unknown", "request_id": "r"})
        if self._memories.pop(memory_id, None) is None:
            return _error(404, "Memory not found")
        return Reply(body={"message": "Memory deleted successfully"})

    def _upstream(self) -> Reply:
        body = {"detail": "upstream failed", "code": self.behaviour.upstream, "request_id": uuid.uuid4().hex}
        return Reply(status=502, body=body)

    def _is_expired(self, one: Mapping[str, Any]) -> bool:
        last = one.get("expiration_date")
        return last is not None and date.fromisoformat(last) < self._clock.now().date()


def _passes(one: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    held = {**(one.get("metadata") or {}), **{name: one.get(name) for name in ENTITIES}}
    return all(held.get(name) == value for name, value in where.items())


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


def _error(status: int, detail: str) -> Reply:
    return Reply(status=status, body={"detail": detail})
