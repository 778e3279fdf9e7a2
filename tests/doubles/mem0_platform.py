"""A double of the Mem0 Platform, version 3 of its API."""

import random
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from strata.clock import Clock
from tests.doubles.nearness import nearness
from tests.doubles.server import Asked, Reply

KEY = "m0-key-of-the-tests"
ENTITIES = ("user_id", "agent_id", "app_id", "run_id")


@dataclass(kw_only=True)
class PlatformBehaviour:
    """What this service does. Change it while it runs."""

    pending_seconds: float = 0.0
    """How long an add stays an event."""
    event: str = "PENDING"
    """``FAILED`` stores nothing."""
    tells_results: bool = False
    """Answers an add with ids as well as the event."""
    deleted_seconds: float = 0.0
    """How long a deleted memory is still found."""
    extraction: str = "keeps"
    """``nothing``: the event succeeds and nothing is stored."""

    @classmethod
    def at_random(cls, seed: int) -> "PlatformBehaviour":
        """A service whose answers are all of its contract, none of them the plainest."""
        chosen = random.Random(seed)
        return cls(tells_results=chosen.random() < 0.5, deleted_seconds=chosen.choice([0.0, 60.0]))


class Mem0Platform:
    """The service behind ``/v3`` and ``/v1``."""

    def __init__(self, clock: Clock, behaviour: PlatformBehaviour | None = None) -> None:
        self.behaviour = behaviour or PlatformBehaviour()
        self._clock = clock
        self._lock = threading.RLock()
        self._memories: dict[str, dict[str, Any]] = {}
        self._visible_from: dict[str, datetime] = {}
        self._visible_to: dict[str, datetime] = {}

    def texts(self, entity: str | None = None) -> list[str]:
        """What is stored, of one entity or of all."""
        with self._lock:
            return [
                one["memory"]
                for one in self._memories.values()
                if (entity is None or entity in [one.get(name) for name in ENTITIES])
                and one["id"] not in self._visible_to
            ]

    def put(self, entity: str, memory: str, *, preference: str = "", **metadata: Any) -> str:
        """Store something that another client wrote; there are no preferences here."""
        name = "agent_id" if entity.startswith("strata.agent.") else "user_id"
        return self._store({name: entity, "metadata": metadata or None}, preference or memory)

    def answer(self, asked: Asked) -> Reply:
        """Do what is asked, one at a time."""
        if asked.headers.get("authorization") != f"Token {KEY}":
            return Reply(status=401, body={"detail": "Invalid API key. Please check your API key and try again."})
        with self._lock:
            return self._routed(asked)

    def _routed(self, asked: Asked) -> Reply:
        match asked.method, asked.path.strip("/").split("/"):
            case "POST", ["v3", "memories", "add"]:
                return self._add(asked.body)
            case "POST", ["v3", "memories", "search"]:
                return self._search(asked.body)
            case "POST", ["v3", "memories"]:
                return self._list(asked.body, asked.query)
            case "DELETE", ["v1", "memories", memory_id]:
                return self._delete(memory_id)
            case "DELETE", ["v1", "memories"]:
                message = "Delete in progress. This may take some time."
                return Reply(body={"message": message, "event_id": str(uuid.uuid4())})
            case "GET", ["v1", "event", event_id]:
                return Reply(body={"id": event_id, "status": "SUCCEEDED", "results": []})
        return Reply(status=404, body={"error": "Not found"})

    def _add(self, body: dict[str, Any]) -> Reply:
        if not any(body.get(name) for name in ENTITIES) or not body.get("messages"):
            return Reply(status=400, body={"error": "messages and one of the entities are required"})
        event = {"event_id": str(uuid.uuid4()), "status": self.behaviour.event}
        if self.behaviour.event == "FAILED" or self.behaviour.extraction == "nothing":
            return Reply(body=event)
        results = []
        for message in body["messages"]:
            memory_id = self._store(body, message["content"])
            later = timedelta(seconds=self.behaviour.pending_seconds)
            self._visible_from[memory_id] = self._clock.now() + later
            results.append({"id": memory_id, "data": {"memory": message["content"]}, "event": "ADD"})
        told = {"message": "Memories added", "results": results} if self.behaviour.tells_results else {}
        return Reply(body={**event, **told})

    def _store(self, body: Mapping[str, Any], memory: str) -> str:
        now = self._clock.now().isoformat()
        one: dict[str, Any] = {
            "id": str(uuid.uuid4()),
            "memory": memory,
            "metadata": body.get("metadata"),
            "categories": None,
            "created_at": now,
            "updated_at": now,
            "expiration_date": body.get("expiration_date"),
            **{name: body.get(name) for name in ENTITIES},
        }
        self._memories[one["id"]] = one
        return str(one["id"])

    def _search(self, body: dict[str, Any]) -> Reply:
        if any(name in body for name in ENTITIES) or not body.get("filters"):
            return Reply(status=400, body={"error": "Entity ids belong inside filters."})
        if not 0 < body.get("top_k", 10) <= 1_000 or not str(body.get("query") or "").strip():
            return Reply(status=400, body={"error": "top_k or query is invalid", "details": {"message": "…"}})
        scored = [
            {**one, "score": nearness(body["query"], one["memory"])}
            for one in self._visible(body["filters"], expired=bool(body.get("show_expired")))
        ]
        found = [one for one in scored if one["score"] >= body.get("threshold", 0.1)]
        found.sort(key=lambda one: float(one["score"]), reverse=True)
        return Reply(body={"results": found[: body.get("top_k", 10)]})

    def _list(self, body: dict[str, Any], query: Mapping[str, str]) -> Reply:
        page, size = int(query.get("page", 1)), int(query.get("page_size", 100))
        if size > 200 or not (body or {}).get("filters"):
            return Reply(status=400, body={"error": "page_size must be at most 200, and filters are required"})
        mine = list(self._visible(body["filters"], expired=bool(body.get("show_expired"))))
        mine.sort(key=lambda one: str(one["created_at"]), reverse=True)
        more = page * size < len(mine)
        shown = [
            {name: value for name, value in one.items() if name != "run_id"} | {"session_id": one["run_id"]}
            for one in mine[(page - 1) * size : page * size]
        ]
        link = f"https://api.mem0.ai/v3/memories/?page={page + 1}" if more else None
        return Reply(body={"count": len(mine), "next": link, "previous": None, "results": shown})

    def _visible(self, where: Mapping[str, Any], *, expired: bool) -> list[dict[str, Any]]:
        now = self._clock.now()
        return [
            one
            for one in self._memories.values()
            if _passes(one, where)
            and self._visible_from.get(one["id"], now) <= now
            and self._visible_to.get(one["id"], now + timedelta(days=1)) > now
            and (expired or not one["expiration_date"] or date.fromisoformat(one["expiration_date"]) >= now.date())
        ]

    def _delete(self, memory_id: str) -> Reply:
        try:
            uuid.UUID(memory_id)
        except ValueError:
            return Reply(status=400, body={"error": "memory_id should be a valid UUID"})
        if memory_id not in self._memories or memory_id in self._visible_to:
            return Reply(status=404, body={"error": "Memory not found!"})
        self._visible_to[memory_id] = self._clock.now() + timedelta(seconds=self.behaviour.deleted_seconds)
        return Reply(body={"message": "Memory deleted successfully!"})


def _passes(one: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """AND, OR and equality; one entity's memory carries no other entity, so joining two by AND finds nothing."""
    for name, value in where.items():
        if name in {"AND", "OR"}:
            together = all if name == "AND" else any
            if not together(_passes(one, condition) for condition in value):
                return False
        elif one.get(name) != value:
            return False
    return True
